import { OverdueBody } from '../documents/bodies.ts'
import { damagedPartOf } from '../kernel/damage.ts'
import { RelayError } from '../kernel/errors.ts'
import { OverdueLayout } from './overdue-layout.ts'
import { failure } from './results.ts'
import type { ToolCall, ToolFailure } from './tool.ts'

/** Converts a failed or overdue storage, read or layout into a failure; `null` for any other error. [TOOL-28 ERR_STORE_UNAVAILABLE] */
export function storeFailure(error: unknown, { once }: Pick<ToolCall, 'once'>): ToolFailure | null {
  if (!(error instanceof RelayError)) return null
  if (error instanceof OverdueBody) {
    const cure =
      'when that fails too, service_get_prose with pageId and without id reads no further into a page than its answer goes'
    const sentence = `The document took longer than a call may take: the machine is busy, or a page is very long. Nothing was written. Repeat the call; ${cure}.`
    return failure('ERR_STORE_UNAVAILABLE', sentence, { retryable: true })
  }
  if (error instanceof OverdueLayout) {
    const sentence =
      'The nodes, edges and connectors of the call take longer to lay out than a call may take, and would again. Nothing was written. Send fewer in a call.'
    return failure('ERR_STORE_UNAVAILABLE', sentence, { retryable: false })
  }
  if (damagedPartOf(error) !== null) return failure('ERR_STORE_UNAVAILABLE', error.message, { retryable: false })
  const { retryAfterMs } = error.details
  if (error.code === 'UNAVAILABLE' && typeof retryAfterMs === 'number') {
    const sentence = `${error.message} Repeat the call in ${Math.ceil(retryAfterMs / 1000)} s.`
    return failure('ERR_STORE_UNAVAILABLE', sentence, { retryable: true })
  }
  switch (error.code) {
    case 'UNAVAILABLE':
    case 'BLOB_STORE_ERROR':
      return failure('ERR_STORE_UNAVAILABLE', 'Storage cannot answer now; repeat the call in a moment.', { retryable: true })
    case 'NOT_PERSISTED': {
      const cure =
        once === undefined
          ? 'read the document before you repeat the call'
          : 'repeat the call with the same requestId in a moment'
      const sentence = `Storage did not confirm the write; ${cure}.`
      return failure('ERR_STORE_UNAVAILABLE', sentence, { retryable: true })
    }
    default:
      return null
  }
}
