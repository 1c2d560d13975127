import type { Usage } from '@docrelay/protocol/rest'
import type { Access } from '../access/access.ts'
import { type Bucket, type RateLimiter, writeBucketKey } from '../access/rate-limiter.port.ts'
import type { Seats } from '../access/seats.port.ts'
import type { BlobLedger } from '../blobs/blob-ledger.port.ts'
import type { RegistryStore } from '../collections/registry-store.port.ts'
import type { DocumentStore } from '../documents/document-store.port.ts'

export interface UsageDeps {
  readonly documents: Pick<DocumentStore, 'usedBytes'>
  readonly blobs: Pick<BlobLedger, 'meteredBytes'>
  readonly registries: Pick<RegistryStore, 'configBytes'>
  readonly seats: Pick<Seats, 'connections' | 'editors'>
  readonly rateLimiter: Pick<RateLimiter, 'left'>
  readonly writes: Bucket
  /** `null` is unlimited. */
  readonly maxConnections: number | null
}

/**
 * Returns the present usage of a workspace and the limits that apply to this caller. Nothing is cached. [REST-28, interface Limits rules 1
 * and 3]
 */
export async function readUsage({ workspaceId, limits }: Access, deps: UsageDeps): Promise<Usage> {
  const [docBytes, blobBytes, configBytes, activeEditors, connections, writes] = await Promise.all([
    deps.documents.usedBytes(workspaceId),
    deps.blobs.meteredBytes(workspaceId),
    deps.registries.configBytes(workspaceId),
    deps.seats.editors(workspaceId),
    deps.seats.connections(workspaceId),
    writesLeft(workspaceId, deps),
  ])
  return {
    storageBytes: docBytes + blobBytes,
    docBytes,
    blobBytes,
    configBytes,
    storageQuota: limits.quotaBytes,
    maxDocBytes: limits.maxDocBytes,
    activeEditors,
    editorLimit: limits.editorLimit,
    connections,
    connectionLimit: deps.maxConnections,
    writes,
    sources: {
      storageQuota: limits.quotaSource,
      maxDocBytes: limits.maxDocBytesSource,
      editorLimit: limits.editorLimitSource,
    },
  }
}

async function writesLeft(workspaceId: string, { rateLimiter, writes }: UsageDeps): Promise<Usage['writes']> {
  const { ratePerSec, burst } = writes
  if (ratePerSec === null) return null
  return { perSecond: ratePerSec, burst, left: Math.floor(await rateLimiter.left(writeBucketKey(workspaceId), writes)) }
}
