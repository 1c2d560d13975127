import type { Storage } from '../drivers/sql/storage.ts'
import type { LeaseAnswer } from '../feed/job-leases.port.ts'
import type { Base } from './base.ts'

/** Returns a function that claims the lease of a job for this node. The lease is released when the relay stops. [LIFE-30] */
export function leaseOf(
  { runId }: Pick<Base, 'runId'>,
  { jobLeases }: Pick<Storage, 'jobLeases'>,
  job: string,
  forMs: number,
  opened: AsyncDisposableStack,
): () => Promise<LeaseAnswer> {
  let isMine = false
  opened.defer(async () => {
    // If the release fails, the next node waits until the lease expires.
    if (isMine) await jobLeases.release(job, runId).catch(() => undefined)
  })
  return async () => {
    const answer = await jobLeases.claim(job, runId, forMs)
    isMine = answer.isMine
    return answer
  }
}
