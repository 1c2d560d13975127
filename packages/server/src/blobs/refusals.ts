import type { Access } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Metrics } from '../kernel/metrics.ts'

/** A client may retry after this time: by then an upload of the workspace may have ended and freed its place. */
const TRY_AGAIN_MS = 1_000

/** Log message about a held blob whose bytes are missing or wrong. */
export const LOST = 'The bytes of a blob are missing, cut or damaged; uploading it again heals it.'

/**
 * The error for a blob that is unknown, of another workspace, or not for this caller: the same bytes in all cases.
 * [REST-6, BLOB-6]
 */
export function unknownBlob(): RelayError {
  return new RelayError('NOT_FOUND', 'There is no such blob.', { resource: 'blob' })
}

export function tooLarge(sizeBytes: number, maxBytes: number, metrics: Pick<Metrics, 'add'>): RelayError {
  metrics.add('relay_quota_rejections_total', 1, { kind: 'blob_size' })
  return new RelayError('BLOB_TOO_LARGE', `The blob has at least ${sizeBytes} bytes and max_blob_bytes is ${maxBytes}.`, {
    sizeBytes,
    maxBytes,
  })
}

export function tooManyUploads(max: number, metrics: Pick<Metrics, 'add'>): RelayError {
  metrics.add('relay_rate_limit_rejections_total', 1, { surface: 'upload' })
  return new RelayError(
    'TOO_MANY_UPLOADS',
    `The workspace has ${max} blob uploads under way, which is max_concurrent_blob_uploads.`,
    { retryAfterMs: TRY_AGAIN_MS },
  )
}

export function overQuota(
  { usedBytes, addedBytes }: { readonly usedBytes: number; readonly addedBytes: number },
  { limits }: Access,
  metrics: Pick<Metrics, 'add'>,
): RelayError {
  metrics.add('relay_quota_rejections_total', 1, { kind: 'storage' })
  const { quotaBytes, quotaSource: source } = limits
  return new RelayError(
    'STORAGE_QUOTA',
    `The upload adds ${addedBytes} bytes to ${usedBytes} stored or reserved ones; the quota is ${quotaBytes} bytes.`,
    { usedBytes, addedBytes, quotaBytes, source },
  )
}

export function hashMismatch(expected: string, actual: string): RelayError {
  return new RelayError('HASH_MISMATCH', 'The bytes do not have the hash of the path.', { expected, actual })
}
