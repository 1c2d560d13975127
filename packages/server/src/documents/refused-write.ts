import { RelayError } from '../kernel/errors.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { PutRefusal } from './put-plan.ts'

/** Returns the error of a refused write, and counts refusals for size and quota. [OPS-4] */
export function refusedWrite({ code, message, details }: PutRefusal, metrics: Pick<Metrics, 'add'>): RelayError {
  if (code === 'STORAGE_QUOTA') metrics.add('relay_quota_rejections_total', 1, { kind: 'storage' })
  if (code === 'DOC_TOO_LARGE') metrics.add('relay_quota_rejections_total', 1, { kind: 'doc_size' })
  return new RelayError(code, message, details)
}
