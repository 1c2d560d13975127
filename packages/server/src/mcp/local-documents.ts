import { constants, type BigIntStats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import type { Bodies } from '../documents/bodies.ts'
import { isDocumentId } from '../documents/document-id.ts'
import type { DocumentHead, DocumentRecord } from '../documents/document-store.port.ts'
import { MAX_LOCAL_BYTES } from '../documents/local-body.ts'
import type { Logger } from '../kernel/log.ts'

/** Head of a document that is a file on this host. */
export interface LocalHead extends DocumentHead {
  readonly source: 'local'
}

export interface LocalRecord extends DocumentRecord {
  readonly head: LocalHead
}

/** The documents that are now in a directory. The relay never writes to the directory. [LOCAL-1..LOCAL-3] */
export interface LocalDocuments {
  /** Lists the documents in no order. A file that cannot be read is left out. */
  list(): Promise<readonly LocalHead[]>
  head(id: string): Promise<LocalHead | null>
  read(id: string): Promise<LocalRecord | null>
}

export interface LocalDocumentsDeps {
  readonly directory: string
  /** The workspace to which the documents belong. */
  readonly workspaceId: string
  readonly bodies: Pick<Bodies, 'local'>
  readonly log: Pick<Logger, 'warn'>
}

const SUFFIX = '.json'
/** Total bytes of bodies kept in memory for the next read. */
const KEPT_BYTES = 64 * 1024 * 1024
const LAST_DATE_MS = 8.64e15

/** A file, and a stamp that changes whenever the file changes. */
interface Place {
  readonly path: string
  readonly stamp: string
}

/** The state of the file when it was last read; `head` is `null` when the file was skipped. */
interface Entry {
  readonly stamp: string
  readonly head: LocalHead | null
}

/**
 * Opens a directory of local documents. Every use lists the directory and reads only files that changed; file watchers
 * would miss changes on network file systems. [LOCAL-2]
 */
export function openLocalDocuments({ directory, workspaceId, bodies, log }: LocalDocumentsDeps): LocalDocuments {
  const entries = new Map<string, Entry>()
  const kept = createKeptBodies()
  const loading = new Map<string, Promise<LocalRecord | null>>()
  let toldDirectory: string | null = null

  /** Skips a file. Logs one line for each state of the file. */
  function skip(id: string, stamp: string, reason: string): null {
    if (entries.get(id)?.stamp !== stamp) {
      log.warn('mcp.local_document_skipped', 'a local document is skipped', { workspace: workspaceId, docId: id, reason })
    }
    entries.set(id, { stamp, head: null })
    kept.drop(id)
    return null
  }

  function forget(id: string): null {
    entries.delete(id)
    kept.drop(id)
    return null
  }

  async function locate(id: string): Promise<Place | null> {
    if (!isDocumentId(id)) return null
    // A directory that cannot be read is reported by `names`, so it is not reported here.
    const root = await realpath(directory).catch(() => null)
    if (root === null) return forget(id)
    try {
      const path = await realpath(join(root, id + SUFFIX))
      if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) return skip(id, path, 'its link leaves the directory')
      const seen = await stat(path, { bigint: true })
      const place = { path, stamp: stampOf(seen) }
      const flaw = flawOf(seen)
      return flaw === null ? place : skip(id, place.stamp, flaw)
    } catch (error) {
      const code = codeOf(error)
      return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(code) ? forget(id) : skip(id, code, `it cannot be read (${code})`)
    }
  }

  async function load(id: string, place: Place): Promise<LocalRecord | null> {
    const file = await readFile(place.path).catch((error: unknown) => codeOf(error))
    if (file === 'ENOENT') return forget(id)
    if (typeof file === 'string') return skip(id, place.stamp, `it cannot be read (${file})`)
    if (file.flaw !== null) return skip(id, file.stamp, file.flaw)
    const sizeBytes = file.bytes.byteLength
    const reading = await bodies.local(file.bytes, id)
    if (reading.kind === 'unreadable') return skip(id, file.stamp, reading.reason)
    const { facts, version, bytes } = reading
    const times = { createdAtMs: file.modifiedMs, updatedAtMs: file.modifiedMs, titleChangedAtMs: file.modifiedMs }
    const nobodys = { ownerId: '', ownerName: '', collectionId: null, sharedWith: [] }
    const coldLog = { lastSeq: 0, coveredSeq: 0, bodyAhead: false, owner: null }
    const head = {
      workspaceId,
      id,
      key: 0,
      lineage: '',
      version,
      ...nobodys,
      ...times,
      sizeBytes,
      facts,
      ...coldLog,
      source: 'local',
    } as const
    entries.set(id, { stamp: file.stamp, head })
    kept.keep(id, file.stamp, bytes)
    return { head, body: bytes }
  }

  /** Callers that need the same file at the same time share one read. */
  function loadOnce(id: string, place: Place): Promise<LocalRecord | null> {
    const key = `${place.stamp} ${id}`
    const begun = loading.get(key) ?? load(id, place).finally(() => loading.delete(key))
    loading.set(key, begun)
    return begun
  }

  async function head(id: string): Promise<LocalHead | null> {
    const place = await locate(id)
    if (place === null) return null
    const entry = entries.get(id)
    if (entry?.stamp === place.stamp) return entry.head
    return (await loadOnce(id, place))?.head ?? null
  }

  async function read(id: string): Promise<LocalRecord | null> {
    const place = await locate(id)
    if (place === null) return null
    const entry = entries.get(id)
    if (entry?.stamp !== place.stamp) return loadOnce(id, place)
    if (entry.head === null) return null
    const body = kept.take(id, place.stamp)
    return body === null ? loadOnce(id, place) : { head: entry.head, body }
  }

  async function names(): Promise<readonly string[]> {
    try {
      const found = await readdir(directory)
      toldDirectory = null
      return found.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length))
    } catch (error) {
      const code = codeOf(error)
      if (toldDirectory !== code) log.warn('mcp.local_directory', 'the directory of local documents cannot be read', { code })
      toldDirectory = code
      return []
    }
  }

  return {
    async list() {
      const ids = new Set(await names())
      for (const id of entries.keys()) if (!ids.has(id)) forget(id)
      const heads: LocalHead[] = []
      for (const id of ids) {
        if (!isDocumentId(id)) {
          skip(id, 'name', 'its name is no id of a document')
          continue
        }
        // A file that cannot be read now must not fail the others; the next use tries again.
        const found = await head(id).catch((error: unknown) => {
          log.warn('mcp.local_document_skipped', 'a local document is skipped', { docId: id, reason: String(error) })
          return null
        })
        if (found !== null) heads.push(found)
      }
      return heads
    },
    head,
    read,
  }
}

interface FileRead {
  readonly stamp: string
  readonly flaw: string | null
  readonly modifiedMs: number
  readonly bytes: Uint8Array
}

/**
 * Reads a file up to the length it had when it was opened. A file that grows meanwhile gets another stamp, so its next use reads it again.
 */
async function readFile(path: string): Promise<FileRead> {
  // O_NONBLOCK: a pipe must not block the call. O_NOFOLLOW: a link put in the file's place must not lead out of the directory.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const seen = await file.stat({ bigint: true })
    const flaw = flawOf(seen)
    const bytes = new Uint8Array(flaw === null ? Number(seen.size) : 0)
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    const modifiedMs = Math.min(Math.max(0, Number(seen.mtimeMs)), LAST_DATE_MS)
    return { stamp: stampOf(seen), flaw, modifiedMs, bytes: length === bytes.length ? bytes : bytes.slice(0, length) }
  } finally {
    await file.close()
  }
}

function flawOf(seen: BigIntStats): string | null {
  if (!seen.isFile()) return 'it is no file'
  return seen.size > BigInt(MAX_LOCAL_BYTES) ? `it has ${seen.size} bytes and at most ${MAX_LOCAL_BYTES} are read` : null
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown }).code ?? error)
}

interface KeptBodies {
  keep(id: string, stamp: string, bytes: Uint8Array): void
  take(id: string, stamp: string): Uint8Array | null
  drop(id: string): void
}

/** Keeps the most recently used bodies. */
function createKeptBodies(): KeptBodies {
  const bodies = new Map<string, { readonly stamp: string; readonly bytes: Uint8Array }>()
  let total = 0
  const drop = (id: string): void => {
    total -= bodies.get(id)?.bytes.byteLength ?? 0
    bodies.delete(id)
  }
  const keep = (id: string, stamp: string, bytes: Uint8Array): void => {
    drop(id)
    bodies.set(id, { stamp, bytes })
    total += bytes.byteLength
    for (const oldest of bodies.keys()) {
      if (total <= KEPT_BYTES) break
      drop(oldest)
    }
  }
  return {
    keep,
    take(id, stamp) {
      const found = bodies.get(id)
      if (found?.stamp !== stamp) return null
      keep(id, stamp, found.bytes)
      return found.bytes
    },
    drop,
  }
}
