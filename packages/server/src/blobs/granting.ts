import { RelayError } from '../kernel/errors.ts'
import type { BlobDeps } from './blob-deps.ts'
import type { GrantOutcome, GrantRequest } from './blob-ledger.port.ts'
import { newObject } from './blob-store.port.ts'

/** How long an upload may take to store bytes that have all arrived; later its object counts as abandoned. */
const STORING_MS = 10 * 60_000
/** How long bytes that an upload replaced are kept at least, for reads that began before. */
const READING_MS = 60_000
const TRY_AGAIN_MS = 1_000

/**
 * Returns the name under which an upload is to store its bytes. It is recorded first, so that a crash leaves no bytes
 * that nobody knows. [BLOB-24]
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
 * Grants bytes that were stored under an announced name. Throws UNAVAILABLE when the collector, of any node, has struck
 * the name meanwhile: it is about to remove the bytes. [BLOB-24]
 */
export async function grantObject(
  request: Omit<GrantRequest, 'nowMs' | 'replacedUntilMs'>,
  { ledger, clock, settings, store }: Pick<BlobDeps, 'ledger' | 'clock' | 'settings' | 'store'>,
): Promise<Exclude<GrantOutcome, { readonly kind: 'struck' }>> {
  const nowMs = clock.nowMs()
  // A link into the object store leads to the object that was valid when it was made.
  const replacedUntilMs = nowMs + READING_MS + (store.direct === null ? 0 : settings.presignTtlSecs * 1000)
  const outcome = await ledger.grant({ ...request, nowMs, replacedUntilMs })
  if (outcome.kind !== 'struck') return outcome
  // The collector may have removed it before it was stored, and then does not come again.
  await store.remove(request.object).catch(() => undefined)
  throw new RelayError('UNAVAILABLE', 'Storing the blob took too long, and what was stored of it is removed; upload it again.', {
    retryAfterMs: TRY_AGAIN_MS,
  })
}
