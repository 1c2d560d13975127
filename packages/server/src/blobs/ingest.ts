import type { Access } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { guardedFetch, type GuardedNetwork, urlNotAllowed } from '../outbound/guarded-fetch.ts'
import { judgeUrl } from '../outbound/url-rules.ts'
import type { BlobGrant } from './blob-ledger.port.ts'
import type { IngestRequest } from './ingest-request.ts'
import { requireWriter, tooLarge } from './refusals.ts'
import type { TakeUpload } from './uploads.ts'

export interface IngestDeps {
  /** Bounds how many run at once, counts against the size limit and the quota, and makes bytes and record durable. */
  readonly upload: TakeUpload
  /** Empty switches ingest off. */
  readonly allowedHosts: readonly string[]
  readonly maxBlobBytes: number
  readonly userAgent: string
  readonly network: GuardedNetwork
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
}

/** Fetches a URL into the caller's workspace; durable when it resolves. [interface, REST rule 8] */
export type Ingest = (access: Access, request: () => IngestRequest) => Promise<BlobGrant>

/** [BLOB-17, U4] */
const LIMITS = { totalMs: 30_000, idleMs: 5_000, maxRedirects: 5, maxHeaderBytes: 16 * 1024, maxBytes: null } as const

/** Refused in this order: role, ingest switched off, the request, the URL, what an upload is refused for, then what fetching comes to. */
export function createIngest(deps: IngestDeps): Ingest {
  const { allowedHosts, log } = deps
  return async (access, readRequest) => {
    requireWriter(access)
    if (allowedHosts.length === 0) {
      throw new RelayError('INGEST_DISABLED', 'ingest_not_configured: blob_ingest_allowed_hosts is empty on this relay.')
    }
    const request = readRequest()
    const verdict = judgeUrl(request.url, allowedHosts)
    if (verdict.kind === 'refused') throw urlNotAllowed(verdict.host, 0)
    const grant = await deps.upload(access, {
      expectedHash: null,
      bytes: fetchedBytes(request, deps),
      declaredBytes: null,
      mimeType: request.mimeType,
      provenance: request.provenance,
    })
    // The host alone: paths and queries may carry secrets, and provenance is not ours to read.
    log.info('blob.ingested', 'A blob was fetched from a URL.', {
      audit: true,
      workspace: access.workspaceId,
      sub: access.sub,
      host: verdict.host,
      hash: grant.hash,
      sizeBytes: grant.sizeBytes,
    })
    return grant
  }
}

/** Nothing is sent before the upload asks for its first bytes: by then it has its place, and room in the quota. */
async function* fetchedBytes(request: IngestRequest, deps: IngestDeps): AsyncGenerator<Uint8Array> {
  const { url, authorization } = request
  const { allowedHosts, maxBlobBytes, userAgent, network, metrics } = deps
  const answer = await guardedFetch(
    {
      url,
      authorization,
      headers: { 'user-agent': userAgent },
      judge: (hop) => judgeUrl(hop, allowedHosts),
      limits: LIMITS,
    },
    network,
  )
  if (answer.sizeBytes !== null && answer.sizeBytes > maxBlobBytes) {
    answer.discard()
    throw tooLarge(answer.sizeBytes, maxBlobBytes, metrics)
  }
  yield* answer.body
}
