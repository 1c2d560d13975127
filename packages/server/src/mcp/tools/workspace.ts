import { cleanName, nameFlaw } from '@docrelay/model/names'
import { isRefusal } from '@docrelay/model/edit'
import { jsonBytes, MAX_RESULT_BYTES } from '@docrelay/model/paging'
import { quote } from '@docrelay/model/quote'
import type { Access, AccessPolicy } from '../../access/access.ts'
import type { Documents } from '../../documents/documents.ts'
import { decodeCursor, encodeCursor, type ListedPage } from '../../documents/listing.ts'
import { notes } from '../../documents/notes.ts'
import { newId, type Random } from '../../kernel/ids.ts'
import { badArgument } from '../arguments.ts'
import { sourceOf } from '../local-access.ts'
import { refusal, success } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { documentFailure, type WasDeleted } from './document-failures.ts'
import { editTool } from './edit-tool.ts'
import { annotations, DOCUMENT, FLAG, input, PAGED, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import { STRING } from './output-members.ts'
import { output } from './output-schema.ts'
import { NEW_PAGES } from '../../documents/create.ts'
import type { ToolRow } from './tool-row.ts'

export interface WorkspaceDeps {
  readonly documents: Pick<Documents, 'list' | 'create' | 'edit' | 'remove' | 'require'>
  readonly wasDeleted: WasDeleted
  /** Returns the bytes that the workspace uses now. */
  usage(access: Access): Promise<{ readonly docBytes: number; readonly blobBytes: number }>
  readonly maxBlobBytes: number
  readonly backend: 'filesystem' | 'object-storage'
  /** Whether new documents have the form that existing editor clients write. [CFG-2] */
  readonly editorClient: boolean
  readonly random: Random
  /** What members may do with documents that the static token creates. [AG-89] */
  readonly staticTokenShare: AccessPolicy['staticTokenShare']
  /** Whether local documents are configured. [LOCAL-1] */
  readonly localAccessEnabled?: boolean
}

const LISTED = ['id', 'name', 'modifiedAt', 'source', 'pageCount', 'canvasPageCount', 'prosePageCount'] as const

/** The tools that list, create and delete documents and show the storage of the workspace. */
export function workspaceTools(deps: WorkspaceDeps): readonly ToolRow[] {
  const read = { toolset: 'read', bucket: 'read', annotations: annotations('RO', 'ID') } as const
  return [
    {
      ...read,
      name: 'list_documents',
      place: 1,
      title: 'List documents',
      description: 'Find documents. Returns ids and names.',
      errors: {},
      examples: [{ query: 'sample' }, {}],
      inputSchema: input({}, { query: TEXT, ...PAGED }),
      outputSchema: output(['documents', 'returned', 'localAccessEnabled'], ['nextCursor']),
      access: 'none',
      flaw: listFlaw,
      run: (call) => listDocuments(call, deps),
    },
    {
      ...read,
      name: 'get_storage',
      place: 15,
      title: 'Get storage',
      description: 'See storage used. Returns bytes, limits.',
      errors: {},
      examples: [{}],
      inputSchema: input({}),
      outputSchema: output(['usedBytes', 'docBytes', 'blobBytes', 'quotaBytes', 'maxBlobBytes', 'maxDocBytes', 'backend']),
      access: 'none',
      run: (call) => getStorage(call, deps),
    },
    {
      name: 'create_document',
      place: 16,
      title: 'Create document',
      description: 'Begin a document. Returns its id and pages.',
      errors: {},
      examples: [{ name: 'Meeting minutes' }, {}],
      inputSchema: input({}, { name: TEXT, dryRun: FLAG, ...REPEATABLE }),
      outputSchema: output(['id', 'name', 'canvasPageId', 'prosePageId', 'changed', 'serverVersion'], ['callId']),
      annotations: annotations(),
      toolset: 'author',
      access: 'create',
      bucket: 'write',
      flaw(args) {
        const flaw = nameFlaw(args)
        return flaw && refusal(flaw)
      },
      run: (call) => create(call, deps),
    },
    editTool(deps.documents, {
      name: 'rename_document',
      place: 17,
      title: 'Rename document',
      description: 'Retitle a document. Returns the name.',
      errors: {},
      examples: [{ name: 'Minutes of May' }],
      toolset: 'author',
      input: input({ ...DOCUMENT, name: TEXT }, VERSIONED),
      result: ['id', 'name'],
      hints: ['ID'],
    }),
    {
      name: 'delete_document',
      place: 38,
      title: 'Delete document',
      description: 'Delete a document for good. Returns its id.',
      errors: { ERR_DELETE_FORBIDDEN: null },
      examples: [{}],
      inputSchema: input(DOCUMENT, VERSIONED),
      outputSchema: output(['deleted'], [], { deleted: STRING }),
      annotations: annotations('DE', 'ID'),
      toolset: 'manage',
      access: 'owner',
      bucket: 'write',
      run: (call) => remove(call, deps),
    },
  ]
}

const MAX_LISTED = 500
const MAX_QUERY_CHARACTERS = 200
/** Bytes of an answer reserved for members other than the list. */
const RESERVED_BYTES = 500

function listFlaw({ query, cursor }: JsonObject): ToolFailure | null {
  const length = typeof query === 'string' ? Array.from(query.slice(0, 2 * MAX_QUERY_CHARACTERS + 1)).length : 0
  if (length > MAX_QUERY_CHARACTERS) {
    const expected = `at most ${MAX_QUERY_CHARACTERS} characters`
    const got = `${(query as string).length} characters`
    return badArgument('query', `query has ${got}; expected ${expected}.`, { expected, got })
  }
  if (typeof cursor !== 'string' || decodeCursor(cursor) !== null) return null
  const expected = 'the nextCursor of an earlier answer'
  const got = quote(cursor)
  return badArgument('cursor', `cursor "${got}" is none of this list; expected ${expected}.`, { expected, got })
}

/** Lists documents that the caller may read. [TOOL-list_documents, TOOL-25] */
async function listDocuments(
  { access, args }: ToolCall,
  { documents, localAccessEnabled = false }: WorkspaceDeps,
): Promise<ToolSuccess> {
  const { query = '', limit, cursor } = args as { readonly query?: string; readonly limit?: number; readonly cursor?: string }
  const after = cursor === undefined ? null : decodeCursor(cursor)
  const page = await documents.list(access, { limit: null, after, titlePart: null, collectionId: undefined })
  return success({ ...listed(page, query.toLowerCase(), limit), localAccessEnabled })
}

/** Returns as many matching documents as fit into one answer, but at least one. [TOOL-23, TOOL-24] */
function listed({ items }: ListedPage, query: string, limit: number | undefined): JsonObject {
  const most = limit === undefined ? Number.POSITIVE_INFINITY : Math.min(limit, MAX_LISTED)
  const documents: JsonObject[] = []
  let room = MAX_RESULT_BYTES - RESERVED_BYTES
  let last: ListedPage['items'][number]['head'] | null = null
  for (const { head } of items) {
    const { facts, id } = head
    if (!facts.title.toLowerCase().includes(query) && !id.toLowerCase().includes(query)) continue
    const { canvasPageCount, prosePageCount } = facts
    const values = [
      id,
      facts.title,
      head.updatedAtMs,
      sourceOf(head),
      canvasPageCount + prosePageCount,
      canvasPageCount,
      prosePageCount,
    ]
    const entry = Object.fromEntries(LISTED.map((name, i) => [name, values[i]]))
    const bytes = jsonBytes(entry) + 1
    if (last !== null && (documents.length >= most || bytes > room)) {
      const nextCursor = encodeCursor({ updatedAtMs: last.updatedAtMs, id: last.id })
      return { documents, returned: documents.length, nextCursor }
    }
    documents.push(entry)
    room -= bytes
    last = head
  }
  return { documents, returned: documents.length }
}

/** Returns the storage use and limits of the workspace. [TOOL-get_storage] */
async function getStorage({ access }: ToolCall, { usage, maxBlobBytes, backend }: WorkspaceDeps): Promise<ToolSuccess> {
  const { docBytes, blobBytes } = await usage(access)
  const { quotaBytes, maxDocBytes } = access.limits
  return success({ usedBytes: docBytes + blobBytes, docBytes, blobBytes, quotaBytes, maxBlobBytes, maxDocBytes, backend })
}

const UNTITLED = 'Untitled Document'
/** Owner name of documents that are created with the static token. [MCP-20] */
const STATIC_OWNER_NAME = 'MCP integration'
const ID_CHARACTERS = 12
const SEEN_BY_OWNERS = {
  reason: 'only owners of the workspace see a document of the static token; its operator can share them by static_token_share',
}

/** Creates a document. [TOOL-create_document, MCP-20] */
async function create(call: ToolCall, deps: WorkspaceDeps): Promise<ToolSuccess | ToolFailure> {
  const { access, isStatic, args, signal, once } = call
  const named = cleanName((args['name'] as string | undefined) ?? UNTITLED)
  if (isRefusal(named)) return refusal(named)
  signal.throwIfAborted()
  const { name, fixes } = named
  try {
    const outcome = await deps.documents.create(access, {
      title: name,
      ownerName: isStatic ? STATIC_OWNER_NAME : access.sub,
      form: deps.editorClient ? 'keyed' : 'list',
      mint: (kind) => newId(`${kind}-`, ID_CHARACTERS, deps.random),
      ...(args['dryRun'] === true && { dryRun: true }),
      ...(once && { once }),
      signal,
    })
    if (isRefusal(outcome)) return refusal(outcome)
    const isRepeat = outcome.kind === 'repeated'
    const isTried = args['dryRun'] === true
    const { id, canvasPageId, prosePageId, callId } = isRepeat ? outcome.answer : outcome
    const made = {
      id,
      name,
      canvasPageId,
      prosePageId,
      changed: NEW_PAGES,
      ...(callId && !isTried && { callId }),
      serverVersion: outcome.version,
    }
    return success({
      ...made,
      ...notes({ fixes, warnings: isStatic && deps.staticTokenShare === 'none' ? [SEEN_BY_OWNERS] : [] }),
      ...(isTried && { dryRun: true }),
      ...(isRepeat && { replayed: true }),
    })
  } catch (error) {
    return documentFailure(error, { access, docId: null, does: 'create' }, deps.wasDeleted)
  }
}

/** Deletes a document. [TOOL-delete_document] */
async function remove({ access, args, signal }: ToolCall, deps: WorkspaceDeps): Promise<ToolSuccess | ToolFailure> {
  const docId = args['docId'] as string
  const { expectedVersion, dryRun } = args as { readonly expectedVersion?: number; readonly dryRun?: boolean }
  try {
    await deps.documents.remove(access, docId, { expectedVersion, dryRun, signal })
    return success({ deleted: docId, ...(dryRun === true && { dryRun: true }) })
  } catch (error) {
    return documentFailure(error, { access, docId, does: 'delete', expectedVersion }, deps.wasDeleted)
  }
}
