import { createHash } from 'node:crypto'
import type { StoredFile } from '@docrelay/model/canvas/add-file'
import { bareHash } from '@docrelay/model/canvas/stored-shape'
import type { Fix } from '@docrelay/model/edit'
import type { Access } from '../../access/access.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { typeByExtension } from '../../blobs/file-types.ts'
import type { Ingest } from '../../blobs/ingest.ts'
import { type IngestRequest, readTarget } from '../../blobs/ingest-request.ts'
import { isUnknownType, storedMimeType, UNKNOWN_TYPE } from '../../blobs/mime.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import { badArgument } from '../arguments.ts'
import { failure, withFixes } from '../results.ts'
import { storeFailure } from '../store-failure.ts'
import type { JsonObject, ToolCall, ToolFailure, ToolSuccess } from '../tool.ts'
import { type Editable, editTool, runEdit } from './edit-tool.ts'
import { findWhole } from './files.ts'
import { orNull } from './output-members.ts'
import { withProgress } from './progress.ts'
import { input, PAGE, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'

export interface AddFileDeps {
  readonly documents: Editable
  readonly blobs: Pick<Blobs, 'find' | 'confirm' | 'upload'>
  readonly ingest: Ingest
  readonly maxBlobBytes: number
  readonly timers: Timers
  /** Returns the bytes that the workspace uses now. */
  usage(access: Access): Promise<{ readonly docBytes: number; readonly blobBytes: number }>
}

const NUMBER = { type: 'number' } as const
const PROVENANCE = { source: 'mcp:add_file', tags: [] } as const
const HELLO = { base64: 'SGVsbG8=' }

/** The tool `add_file`: stores a file and adds a shape that shows it. [TOOL-add_file, FILE-5 to FILE-9] */
export function addFileTool(deps: AddFileDeps): ToolRow {
  const row = editTool(deps.documents, {
    name: 'add_file',
    place: 34,
    title: 'Add file',
    description: 'Put a file on a canvas page from one of url, base64, blobRef. Returns its shapeId.',
    toolset: 'diagram',
    input: input(
      { ...PAGE, fileName: TEXT },
      {
        ...{ url: TEXT, base64: TEXT, blobRef: TEXT, authorization: TEXT, mimeType: TEXT },
        ...{ x: NUMBER, y: NUMBER, width: NUMBER, height: NUMBER, label: TEXT, ...VERSIONED, ...REPEATABLE },
      },
    ),
    result: ['shapeId', 'pageId', 'hash', 'blobRef', 'fileName', 'mimeType', 'size', 'fileCategory'],
    // A dry run fetches nothing, so these members may be null.
    members: { hash: orNull('string'), blobRef: orNull('string'), size: orNull('integer') },
    hints: ['OW'],
    errors: {
      ERR_BAD_SOURCE: { pageId: 'c', fileName: 'a.txt' },
      ERR_BAD_FILE_NAME: { pageId: 'c', fileName: '../a.txt', ...HELLO },
      ERR_BAD_BASE64: { pageId: 'c', fileName: 'a.txt', base64: 'SGVsbG8' },
      ERR_BAD_BLOB_REF: { pageId: 'c', fileName: 'a.txt', blobRef: 'blob://x' },
      ERR_FILE_NOT_FOUND: { pageId: 'c', fileName: 'a.txt', blobRef: 'ab'.repeat(32) },
      ERR_FILE_TOO_LARGE: null,
      ERR_INGEST_NOT_CONFIGURED: { pageId: 'c', fileName: 'a.txt', url: 'https://files.example/a.txt' },
      ERR_BAD_URL: { pageId: 'c', fileName: 'a.txt', url: 'http://files.example/a.txt' },
      ERR_URL_NOT_ALLOWED: null,
      ERR_FETCH_FAILED: null,
    },
    examples: [
      { pageId: 'c', fileName: 'notes.txt', ...HELLO },
      { pageId: 'c2', fileName: 'plan.pdf', ...HELLO, x: 600, y: 300, width: 240, height: 120, label: 'Plan' },
    ],
    needless: { authorization: { refused: { pageId: 'c', fileName: 'a.txt', ...HELLO, authorization: 'Bearer x' } } },
  })
  return {
    ...row,
    flaw: (args) => row.flaw?.(args) ?? sourceFlaw(args),
    async run(call) {
      const outcome =
        typeof call.args['url'] === 'string'
          ? withProgress(call, deps.timers, 'fetching the url', () => addFile(call, deps))
          : addFile(call, deps)
      return withFixes(await outcome, typeFixes(call.args))
    },
  }
}

/** Returns a fix when the call names a type under which no file can be stored. [FILE-6, TOOL-17] */
function typeFixes({ mimeType }: JsonObject): readonly Fix[] {
  if (typeof mimeType !== 'string' || storedMimeType(mimeType) !== UNKNOWN_TYPE || isUnknownType(mimeType)) return []
  const reason = `a type that is malformed or may run scripts is stored as ${UNKNOWN_TYPE}`
  return [{ action: 'dropped_invalid', field: 'mimeType', reason }]
}

/** Returns the problem of the source that shows without reading the document; `null` when there is none. [MCP-3, FILE-5] */
function sourceFlaw({ url, authorization, base64 }: JsonObject): ToolFailure | null {
  if (typeof base64 === 'string' && Buffer.from(base64, 'base64').toString('base64') !== base64) {
    return failure('ERR_BAD_BASE64', 'base64 must be standard Base64 of the bytes: A-Z a-z 0-9 + /, padded with =, nothing else.')
  }
  if (url === undefined) return null
  try {
    readTarget({ url, authorization })
    return null
  } catch (error) {
    if (!(error instanceof RelayError)) throw error
    if (error.code === 'BAD_URL') return failure('ERR_BAD_URL', 'url must be an https URL of at most 8192 characters.')
    // The value is a secret, so the error does not quote it.
    const expected = 'text of at most 8192 bytes that can stand in a header'
    return badArgument('authorization', `authorization cannot be sent; expected ${expected}.`, { expected })
  }
}

/**
 * Runs the tool. First tries the edit as a dry run, so that a call that would be refused fetches and stores nothing. The dry run also finds
 * an earlier call with the same request id. [FILE-8, TOOL-22]
 */
async function addFile(call: ToolCall, deps: AddFileDeps): Promise<ToolSuccess | ToolFailure> {
  const { url, base64, blobRef, authorization: _, mimeType: __, ...args } = call.args
  const write = (stored: StoredFile, dryRun: boolean) =>
    runEdit(deps.documents, 'add_file', { ...call, args: { ...args, dryRun } }, { stored })
  const expected = { hash: '0'.repeat(64), mimeType: plannedType(call.args), sizeBytes: 0 }
  const tried = await write(expected, true)
  if (tried.kind === 'failure' || tried.structured['replayed'] === true) return tried
  const isDry = args['dryRun'] === true
  call.signal.throwIfAborted()
  try {
    if (typeof blobRef === 'string') {
      const hash = bareHash(blobRef) ?? ''
      const file = await held(call, hash, deps)
      return file === null ? notHeld(hash) : await write(file, isDry)
    }
    if (!isDry) return await writeStored(call, await stored(call, deps), write)
    if (typeof base64 === 'string') return await write(await foreseen(call, Buffer.from(base64, 'base64'), deps), true)
    deps.ingest.check(call.access, () => readTarget({ url, authorization: null }))
    // A dry run does not fetch, so it does not know these values.
    return { kind: 'success', structured: { ...tried.structured, hash: null, blobRef: null, size: null } }
  } catch (error) {
    const refused = sourceFailure(error)
    if (refused === null) throw error
    return refused
  }
}

/** Adds the shape for bytes that were just stored. A failure names the hash of the bytes, for a retry. [FILE-8] */
async function writeStored(
  call: ToolCall,
  file: StoredFile,
  write: (stored: StoredFile, dryRun: boolean) => Promise<ToolSuccess | ToolFailure>,
): Promise<ToolSuccess | ToolFailure> {
  const outcome = await write(file, false).catch((error: unknown) => {
    const failed = storeFailure(error, call)
    if (failed === null) throw error
    return failed
  })
  if (outcome.kind === 'success') return outcome
  const { hash } = file
  const message = `${outcome.message} The bytes are stored: as blobRef ${hash} they need not be sent again.`
  return { ...outcome, message, facts: { ...outcome.facts, hash } }
}

/** The MIME type from the argument, else from the file name. [FILE-6] */
function plannedType({ mimeType, fileName }: JsonObject): string {
  return storedMimeType(typeof mimeType === 'string' ? mimeType : typeByExtension(String(fileName)))
}

/** Stores the bytes of `url` or `base64` for the workspace. [FILE-5, FILE-6, FILE-9] */
async function stored({ access, args, signal }: ToolCall, { blobs, ingest }: AddFileDeps): Promise<StoredFile> {
  const { url, base64, authorization, mimeType } = args
  if (typeof base64 === 'string') {
    const bytes = Buffer.from(base64, 'base64')
    const type = plannedType(args)
    const grant = await blobs.upload(access, {
      expectedHash: sha256(bytes),
      bytes: oneChunk(bytes),
      declaredBytes: bytes.byteLength,
      mimeType: type,
      provenance: PROVENANCE,
      givenUp: signal,
    })
    return { hash: grant.hash, sizeBytes: grant.sizeBytes, mimeType: type }
  }
  const request = (): IngestRequest => ({
    ...readTarget({ url, authorization }),
    typeOf: (announced) => (typeof mimeType === 'string' || !announced?.trim() ? plannedType(args) : announced),
    provenance: PROVENANCE,
  })
  const grant = await ingest.fetch(access, request, signal)
  return {
    hash: grant.hash,
    sizeBytes: grant.sizeBytes,
    mimeType: typeof mimeType === 'string' ? plannedType(args) : grant.mimeType,
  }
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Returns bytes that the workspace already holds; `null` when it does not hold them for this caller, or when they are lost. [FILE-5] */
async function held({ access, args }: ToolCall, hash: string, { blobs }: AddFileDeps): Promise<StoredFile | null> {
  const grant = await findWhole(access, hash, blobs)
  if (grant === null) return null
  const isTold = typeof args['mimeType'] !== 'string' && grant.mimeType !== UNKNOWN_TYPE
  return { hash, sizeBytes: grant.sizeBytes, mimeType: isTold ? grant.mimeType : plannedType(args) }
}

function notHeld(hash: string): ToolFailure {
  const sentence = `The workspace holds no bytes with the hash ${hash} that you may use; send them as base64 or name a url.`
  return failure('ERR_FILE_NOT_FOUND', sentence, { hash })
}

/**
 * For a dry run: returns the result of storing these bytes, or throws the refusal. Does not count bytes reserved by running uploads. [TOOL-21,
 * FILE-9]
 */
async function foreseen({ access, args }: ToolCall, bytes: Uint8Array, deps: AddFileDeps): Promise<StoredFile> {
  const { byteLength: sizeBytes } = bytes
  const { maxBlobBytes: maxBytes } = deps
  const hash = sha256(bytes)
  if (sizeBytes > maxBytes) throw new RelayError('BLOB_TOO_LARGE', '', { sizeBytes, maxBytes })
  const { quotaBytes, quotaSource: source } = access.limits
  if (quotaBytes !== null && (await findWhole(access, hash, deps.blobs)) === null) {
    const { docBytes, blobBytes } = await deps.usage(access)
    const usedBytes = docBytes + blobBytes
    if (sizeBytes > 0 && usedBytes + sizeBytes > quotaBytes) {
      throw new RelayError('STORAGE_QUOTA', '', { usedBytes, addedBytes: sizeBytes, quotaBytes, source })
    }
  }
  return { hash, sizeBytes, mimeType: plannedType(args) }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Converts a refusal of the source into a failure with a code of the tools; returns `null` for any other error. [TOOL-28] */
function sourceFailure(error: unknown): ToolFailure | null {
  if (!(error instanceof RelayError)) return null
  const { code, details } = error
  switch (code) {
    case 'INGEST_DISABLED':
      return failure(
        'ERR_INGEST_NOT_CONFIGURED',
        'This relay fetches nothing, as its operator lists no host in blob_ingest_allowed_hosts. Send the bytes as base64, or store them over REST and give blobRef.',
      )
    case 'URL_NOT_ALLOWED': {
      const { host, hop } = details
      const where = hop === 0 ? 'The url' : `Redirect ${String(hop)} of the url`
      const sentence = `${where} leads to the host ${String(host)}, from which this relay may not fetch. Send the bytes as base64, or ask the operator.`
      return failure('ERR_URL_NOT_ALLOWED', sentence, { host })
    }
    case 'FETCH_FAILED':
      return failure('ERR_FETCH_FAILED', `${error.message} Nothing was stored.`, details)
    case 'BLOB_TOO_LARGE': {
      const { sizeBytes, maxBytes } = details
      const sentence = `The file has at least ${String(sizeBytes)} bytes and max_blob_bytes is ${String(maxBytes)}; nothing was stored.`
      return failure('ERR_FILE_TOO_LARGE', sentence, { sizeBytes, maxBytes })
    }
    case 'STORAGE_QUOTA': {
      const { usedBytes, addedBytes, quotaBytes } = details
      const sentence = `The file adds ${String(addedBytes)} bytes to ${String(usedBytes)} stored or reserved ones; the quota is ${String(quotaBytes)} bytes.`
      return failure('ERR_STORAGE_QUOTA', sentence, details)
    }
    case 'TOO_MANY_UPLOADS':
      return failure('ERR_STORE_UNAVAILABLE', `${error.message} Repeat the call in a moment.`, { retryable: true })
    default:
      return null
  }
}
