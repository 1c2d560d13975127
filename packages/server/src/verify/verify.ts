import { isBlobHash } from '@docrelay/model/blob-references'
import { createHash } from 'node:crypto'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Random } from '../kernel/ids.ts'
import type { StoredContents, StoredDocument, StoredGrant } from './stored-contents.port.ts'
import { documentFindings, pointFindings } from './verify-document.ts'

/** `note`: nothing is lost or wrong, but the operator may want to know. */
export interface Finding {
  readonly level: 'damage' | 'note'
  readonly what: 'store' | 'document' | 'blob'
  readonly workspace?: string
  readonly docId?: string
  readonly hash?: string
  readonly detail: string
}

export interface VerifySummary {
  readonly documents: number
  readonly points: number
  readonly blobs: number
  readonly damages: number
  readonly notes: number
  /** Number of damaged logs whose bytes were kept for later inspection. */
  readonly setAside: number
}

export interface VerifyOptions {
  readonly store: StoredContents
  readonly blobs: Pick<BlobStore, 'read' | 'list'>
  readonly random: Random
  /** Called with each finding as soon as verify has made it. */
  readonly report: (finding: Finding) => void
}

/** The database server or the object store was lost during the check. Data that was not read before may be intact or damaged. */
export class ServerLostError extends Error {
  constructor(server: 'database server' | 'object store', cause: unknown) {
    super(`the ${server} was lost, so the check is not complete and says nothing of what it has not read: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

/**
 * Reads everything that is stored and changes nothing; a relay may run meanwhile. Only one document is in memory at a time. [OPS-11] Unreadable data
 * is reported as a finding, and the check continues.
 *
 * @throws ServerLostError when the database server or the object store is lost meanwhile, since that is no damage
 */
export async function verify({ store, blobs, random, report }: VerifyOptions): Promise<VerifySummary> {
  const counts = { documents: 0, points: 0, blobs: 0, damages: 0, notes: 0 }
  const tell = (finding: Finding): void => {
    if (finding.level === 'damage') counts.damages++
    else counts.notes++
    report(finding)
  }
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (error instanceof ServerLostError) throw error
      if (store.isServerLost(error)) throw new ServerLostError('database server', error)
      if (isOfObjectStore(error)) throw new ServerLostError('object store', error)
      tell({ level: 'damage', what: 'store', detail: `it cannot be read: ${reasonOf(error)}` })
    }
  }
  await attempt(async () => {
    for await (const detail of store.problems()) tell({ level: 'damage', what: 'store', detail })
  })
  await attempt(() =>
    store.eachDocument(async (document) => {
      counts.documents++
      counts.points += await verifyDocument(document, random, tell)
    }),
  )
  await attempt(async () => {
    for await (const grant of store.grants()) {
      counts.blobs++
      const detail = await grantProblem(grant, store, blobs)
      if (detail !== null) tell({ level: 'damage', what: 'blob', hash: grant.hash, detail })
    }
  })
  await attempt(async () => {
    for await (const { object, hash, sizeBytes } of blobs.list()) {
      if (await store.knowsObject(object, hash)) continue
      const named = object === hash ? '' : ` of the object ${object}`
      const detail = `no workspace holds these ${sizeBytes} bytes${named}, and no row of the database names them: they take up space only`
      tell({ level: 'note', what: 'blob', hash, detail })
    }
  })
  let setAside = 0
  await attempt(async () => {
    setAside = await store.setAsideCount()
  })
  return { ...counts, setAside }
}

async function verifyDocument(document: StoredDocument, random: Random, tell: (finding: Finding) => void): Promise<number> {
  const of = { what: 'document', workspace: document.workspaceId, docId: document.id } as const
  for (const finding of documentFindings(document, random)) tell({ ...of, ...finding })
  let points = 0
  const counted: StoredDocument = {
    ...document,
    async *points() {
      for await (const point of document.points()) {
        points++
        yield point
      }
    },
  }
  for await (const finding of pointFindings(counted)) tell({ ...of, ...finding })
  return points
}

async function grantProblem(grant: StoredGrant, store: StoredContents, blobs: VerifyOptions['blobs']): Promise<string | null> {
  if (!isBlobHash(grant.hash)) return 'it is held under what is no hash'
  const problem = await blobProblem(grant, blobs)
  // A blob that was released meanwhile, or whose object an upload replaced, is no loss.
  return problem !== null && (await store.isStillGranted(grant)) ? problem : null
}

/**
 * Returns the problem of a blob's bytes, `null` when they are good. When an object store fails to return the bytes, it must first answer another
 * request, and then the bytes are read once more: only a store that answers tells something about its bytes.
 */
async function blobProblem(grant: StoredGrant, blobs: VerifyOptions['blobs']): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    try {
      return await bytesProblem(grant, blobs)
    } catch (error) {
      if (isOfObjectStore(error)) await reach(blobs)
      if (!isOfObjectStore(error) || tries === 2) return `its bytes cannot be read: ${reasonOf(error)}`
    }
  }
}

async function bytesProblem({ hash, object, sizes }: StoredGrant, blobs: Pick<BlobStore, 'read'>): Promise<string | null> {
  const sha256 = createHash('sha256')
  let bytes = 0
  const content = await blobs.read(object, null)
  if (content === null) return 'its bytes are missing'
  for await (const piece of content) {
    sha256.update(piece)
    bytes += piece.byteLength
  }
  if (sha256.digest('hex') !== hash) return 'its bytes are not those of its hash'
  const other = sizes.find((size) => size !== bytes)
  return other === undefined ? null : `it has ${bytes} bytes where a workspace has recorded ${other}`
}

/** Reads the beginning of an object store's list, to see whether the store answers. `BlobStore.check` would write. */
async function reach(blobs: Pick<BlobStore, 'list'>): Promise<void> {
  const listed = blobs.list()[Symbol.asyncIterator]()
  try {
    await listed.next()
  } catch (error) {
    throw new ServerLostError('object store', error)
  }
  await listed.return?.()
}

function isOfObjectStore(error: unknown): boolean {
  return error instanceof RelayError && error.code === 'BLOB_STORE_ERROR'
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
