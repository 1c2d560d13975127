import type { Clock } from '../../kernel/clock.ts'
import type { RelayError } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { CallOutcome } from './s3-calls.ts'

/** During an outage one log line is written in each interval of this length. */
const REPEAT_MS = 60_000

export interface StoreWatchDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly log: Pick<Logger, 'error' | 'info'>
  readonly metrics: Pick<Metrics, 'add'>
}

/**
 * Counts the calls of the object store and logs outages: a line of level error with the reason when calls begin to fail, another one each minute
 * during the outage, and a line of level info when a call succeeds again. [BLOB-20]
 */
export function createStoreWatch({ clock, log, metrics }: StoreWatchDeps): (outcome: CallOutcome) => void {
  let failing: { readonly sinceMs: number; failures: number } | null = null
  let loggedAtMs = Number.NEGATIVE_INFINITY
  let isLogged = false
  return (outcome) => {
    metrics.add('relay_blob_store_calls_total', 1, { outcome: outcomeName(outcome) })
    const nowMs = clock.monotonicMs()
    if (outcome.kind === 'failed') {
      failing ??= { sinceMs: nowMs, failures: 0 }
      failing.failures++
      if (nowMs - loggedAtMs < REPEAT_MS) return
      loggedAtMs = nowMs
      isLogged = true
      log.error('blobs.store_failing', 'Calls of the object store fail: uploads and downloads of blobs are answered 502.', {
        ...outcome.error.details,
        failures: failing.failures,
      })
      return
    }
    // Without this limit a store that alternates between failure and success would log each time; it is logged once a minute.
    if (failing !== null && isLogged) {
      const durationMs = Math.round(nowMs - failing.sinceMs)
      log.info('blobs.store_back', 'The object store answers again.', { failures: failing.failures, durationMs })
    }
    failing = null
    isLogged = false
  }
}

/** Returns the value of the label `outcome` of the metric. */
function outcomeName(outcome: CallOutcome): string {
  return outcome.kind === 'ok' ? 'ok' : failureKind(outcome.error)
}

const OF_THE_BUCKET = [
  'NoSuchBucket',
  'PermanentRedirect',
  'TemporaryRedirect',
  'AuthorizationHeaderMalformed',
  'InvalidBucketName',
]

/**
 * Returns the kind of a failure. `connection`: no answer. `bucket`: wrong name or region. `denied`: wrong keys or missing rights. `answer`: any other
 * answer of the store.
 */
export function failureKind({ details }: Pick<RelayError, 'details'>): 'connection' | 'bucket' | 'denied' | 'answer' {
  const { status, reason } = details
  if (status === undefined) return 'connection'
  if (OF_THE_BUCKET.includes(String(reason))) return 'bucket'
  return status === 401 || status === 403 ? 'denied' : 'answer'
}
