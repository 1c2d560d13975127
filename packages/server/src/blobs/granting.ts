import { RelayError } from '../kernel/errors.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { GrantOutcome, GrantRequest } from './blob-ledger.port.ts'
import { newObject } from './blob-store.port.ts'

/** Longest time in which an upload may store its bytes and be granted. After it the object counts as abandoned. */
const STORING_MS = 10 * 60_000
/** Replaced bytes are kept for at least this long, for reads that began before the replacement. */
const READING_MS = 60_000
const TRY_AGAIN_MS = 1_000

/**
 * Returns the name under which an upload must store its bytes. The ledger records the name first, so that a crash leaves no unknown bytes in the blob
 * store. [BLOB-24]
 */
export async function announceObject(
  hash: string,
  { ledger, clock, random }: Pick<BlobDeps, 'ledger' | 'clock' | 'random'>,
): Promise<string> {
  const object = newObject(hash, random)
  await ledger.announce(object, clock.nowMs() + STORING_MS)
  return object
}

/**
 * Grants bytes that were stored under an announced name. Throws UNAVAILABLE when the collector of a node has struck the
 * name meanwhile, because that collector is about to remove the bytes. [BLOB-24]
 */
export async function grantObject(
  request: Omit<GrantRequest, 'nowMs' | 'replacedUntilMs'>,
  { ledger, clock, settings, store }: Pick<BlobDeps, 'ledger' | 'clock' | 'settings' | 'store'>,
): Promise<Exclude<GrantOutcome, { readonly kind: 'struck' }>> {
  const nowMs = clock.nowMs()
  // A presigned link leads to the object that was valid when the link was made, so that object is kept for the life of the link.
  const replacedUntilMs = nowMs + READING_MS + (store.direct === null ? 0 : settings.presignTtlSecs * 1000)
  const outcome = await ledger.grant({ ...request, nowMs, replacedUntilMs })
  if (outcome.kind !== 'struck') return outcome
  // The collector may have removed the object before these bytes were stored. It does not remove the object again, so the bytes are removed here.
  await store.remove(request.object).catch(() => undefined)
  throw new RelayError('UNAVAILABLE', 'Storing the blob took too long, and what was stored of it is removed; upload it again.', {
    retryAfterMs: TRY_AGAIN_MS,
  })
}
