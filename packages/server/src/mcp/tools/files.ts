import type { HeldFile } from '@docrelay/model/canvas/files'
import { fileNotFound } from '@docrelay/model/canvas/find-file'
import type { Access } from '../../access/access.ts'
import type { BlobGrant } from '../../blobs/blob-ledger.port.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { RelayError } from '../../kernel/errors.ts'
import { failure, refusal, success } from '../results.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { flawOf, openDocument, type OpenDocument, type ReadingDeps, type ReadResult } from './reading.ts'
import { annotations, DOCUMENT, input, PAGED, TEXT } from './schema.ts'
import { output } from './output-schema.ts'
import type { ToolRow } from './tool-row.ts'

export interface FileDeps extends ReadingDeps {
  readonly blobs: Pick<Blobs, 'find' | 'confirm' | 'deliver'>
  /** Lifetime of links into an object store, in seconds. [FILE-4] */
  readonly blobUrlTtlSecs: number
}

const MAX_INLINE_BYTES = 1_048_576
const UNKNOWN_TYPE = 'application/octet-stream'
/** Limit on concurrent look-ups, since each may be a request to an object store. */
const ASKED_AT_ONCE = 32

export function fileTools(deps: FileDeps): readonly ToolRow[] {
  const common = { toolset: 'read', access: 'view', bucket: 'read', annotations: annotations('RO', 'ID') } as const
  return [
    {
      ...common,
      name: 'list_files',
      place: 12,
      title: 'List files',
      description: 'Find files of a document. Returns names, hashes.',
      errors: {},
      examples: [{}],
      inputSchema: input(DOCUMENT, PAGED),
      outputSchema: output(['files', 'count', 'serverVersion', 'source'], ['nextCursor']),
      flaw: flawOf('list_files'),
      run: (call) => listFiles(call, deps),
    },
    {
      ...common,
      name: 'get_file',
      place: 13,
      title: 'Get file',
      description: 'Get a file by id, hash or blobRef. Returns url or base64.',
      errors: {
        ERR_BAD_BLOB_REF: { blobRef: 'blob://x' },
        ERR_FILE_NOT_FOUND: { id: 's1' },
        ERR_FILE_TOO_LARGE_FOR_INLINE: null,
      },
      examples: [],
      needless: {
        hash: { refused: { id: 's1', hash: 'ab'.repeat(32) } },
        blobRef: { refused: { id: 's1', blobRef: 'ab'.repeat(32) } },
      },
      inputSchema: input(DOCUMENT, { id: TEXT, hash: TEXT, blobRef: TEXT }),
      outputSchema: output(
        ['id', 'name', 'hash', 'mimeType', 'size', 'transport', 'serverVersion', 'source'],
        ['url', 'expiresAt', 'base64'],
      ),
      flaw: flawOf('get_file'),
      run: (call) => getFile(call, deps),
    },
  ]
}

/** Lists the files of a document. [TOOL-list_files, FILE-1] */
async function listFiles(call: ToolCall, deps: FileDeps): Promise<ToolSuccess | ToolFailure> {
  const document = await openDocument(call, deps)
  if ('kind' in document) return document
  const { docId: _, ...args } = call.args
  const reading = await readWithFiles(document, args, (hash) => findHeld(call.access, hash, deps))
  return reading.kind === 'read' ? success(reading.result) : reading
}

/**
 * Reads one page of the list and looks up only the files on it. Whether a file is held changes its size in the answer, so the next reading
 * may list other files; those are looked up next.
 */
async function readWithFiles(
  document: OpenDocument,
  args: JsonObject,
  find: (hash: string) => Promise<HeldFile | null>,
): Promise<ReadResult> {
  const held = new Map<string, HeldFile>()
  const asked = new Set<string>()
  for (;;) {
    const reading = await document.read('list_files', args, held)
    if (reading.kind === 'failure') return reading
    const shown = reading.result['files'] as readonly { readonly hash: string }[]
    const unasked = [...new Set(shown.map(({ hash }) => hash))].filter((hash) => !asked.has(hash))
    if (unasked.length === 0) return reading
    for (let at = 0; at < unasked.length; at += ASKED_AT_ONCE) {
      const look = async (hash: string): Promise<void> => {
        const file = await find(hash)
        asked.add(hash)
        if (file !== null) held.set(hash, file)
      }
      await Promise.all(unasked.slice(at, at + ASKED_AT_ONCE).map(look))
    }
  }
}

/** Returns one file, inline or as a link. [TOOL-get_file, FILE-3, FILE-4] */
async function getFile(call: ToolCall, deps: FileDeps): Promise<ToolSuccess | ToolFailure> {
  const { docId: _, ...args } = call.args
  const document = await openDocument(call, deps)
  if ('kind' in document) return document
  const reading = await document.read('get_file', args)
  if (reading.kind === 'failure') return reading
  const { id, name, hash, mimeType, ...version } = reading.result as JsonObject & { readonly hash: string }
  const grant = await findWhole(call.access, hash, deps.blobs)
  if (grant === null) return refusal(fileNotFound({ hash }))
  const type = grant.mimeType === UNKNOWN_TYPE ? (mimeType ?? UNKNOWN_TYPE) : grant.mimeType
  const sent = await transported(grant, deps)
  if (sent.kind === 'failure') return sent
  return success({ id, name, hash, mimeType: type, size: grant.sizeBytes, ...sent.members, ...version })
}

async function transported(
  grant: BlobGrant,
  { blobs, blobUrlTtlSecs }: FileDeps,
): Promise<{ readonly kind: 'sent'; readonly members: JsonObject } | ToolFailure> {
  const delivery = await blobs.deliver(grant, blobUrlTtlSecs)
  if (delivery.kind === 'redirect') {
    return { kind: 'sent', members: { transport: 'url', url: delivery.url, expiresAt: delivery.expiresAtMs } }
  }
  const { sizeBytes, hash } = grant
  if (sizeBytes > MAX_INLINE_BYTES) {
    const path = `/api/blobs/${hash}`
    const sentence = `The file has ${sizeBytes} bytes and at most ${MAX_INLINE_BYTES} are sent here; fetch it with GET ${path}.`
    return failure('ERR_FILE_TOO_LARGE_FOR_INLINE', sentence, { sizeBytes, maxBytes: MAX_INLINE_BYTES, path })
  }
  const chunks: Uint8Array[] = []
  for await (const chunk of await delivery.open(null)) chunks.push(chunk)
  return { kind: 'sent', members: { transport: 'inline', base64: Buffer.concat(chunks).toString('base64') } }
}

async function findHeld(access: Access, hash: string, deps: FileDeps): Promise<HeldFile | null> {
  const grant = await findWhole(access, hash, deps.blobs)
  return grant && { size: grant.sizeBytes, mimeType: grant.mimeType }
}

/** Returns `null` when the workspace does not hold the blob for this caller, or when its bytes are lost or damaged. */
export async function findWhole(access: Access, hash: string, blobs: Pick<Blobs, 'find' | 'confirm'>): Promise<BlobGrant | null> {
  try {
    const grant = await blobs.find(access, hash)
    await blobs.confirm(grant)
    return grant
  } catch (error) {
    if (isLost(error)) return null
    throw error
  }
}

/** Whether the stored bytes are missing or differ from their hash. An unreachable store is neither. [FILE-3, BLOB-23] */
function isLost(error: unknown): boolean {
  if (!(error instanceof RelayError)) return false
  return error.code === 'NOT_FOUND' || (error.code === 'BLOB_STORE_ERROR' && error.details['reason'] === 'damaged')
}
