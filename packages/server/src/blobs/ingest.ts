import { type Access, requireWriter } from '../access/access.ts'
import { RelayError } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { guardedFetch, type GuardedNetwork, urlNotAllowed } from '../outbound/guarded-fetch.ts'
import { judgeUrl } from '../outbound/url-rules.ts'
import type { BlobGrant } from './blob-ledger.port.ts'
import type { IngestRequest } from './ingest-request.ts'
import { tooLarge } from './refusals.ts'
import type { TakeUpload } from './uploads.ts'

export interface IngestDeps {
  /** Stores the bytes: limits how many uploads run at once, applies size limit and quota, and makes bytes and record durable. */
  readonly upload: TakeUpload
  /** An empty list switches ingest off. */
  readonly allowedHosts: readonly string[]
  readonly maxBlobBytes: number
  readonly userAgent: string
  readonly network: GuardedNetwork
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'add'>
}

/** Fetches URLs into the workspace of the caller. [interface, REST rule 8] */
export interface Ingest {
  /** Throws the errors that `fetch` finds before it sends anything: EDIT_FORBIDDEN, INGEST_DISABLED, the errors of `readRequest`, URL_NOT_ALLOWED. */
  check(access: Access, readRequest: () => Pick<IngestRequest, 'url'>): void
  /**
   * Fetches the URL and stores its bytes as a blob; durable when it resolves. When `givenUp` is aborted before the grant, rejects with its reason and
   * stores nothing.
   */
  fetch(access: Access, readRequest: () => IngestRequest, givenUp?: AbortSignal): Promise<BlobGrant>
}

/** Limits of one fetch. [BLOB-17, U4] */
const LIMITS = { totalMs: 30_000, idleMs: 5_000, maxRedirects: 5, maxHeaderBytes: 16 * 1024, maxBytes: null } as const

/** Makes the service. It checks in this order: role, ingest switched on, request, URL, the checks of every upload; then it fetches. */
export function createIngest(deps: IngestDeps): Ingest {
  const { allowedHosts, log } = deps

  function allowed<R extends Pick<IngestRequest, 'url'>>(access: Access, readRequest: () => R): { request: R; host: string } {
    requireWriter(access)
    if (allowedHosts.length === 0) {
      throw new RelayError('INGEST_DISABLED', 'ingest_not_configured: blob_ingest_allowed_hosts is empty on this relay.')
    }
    const request = readRequest()
    const verdict = judgeUrl(request.url, allowedHosts)
    if (verdict.kind === 'refused') throw urlNotAllowed(verdict.host, 0)
    return { request, host: verdict.host }
  }

  return {
    check: (access, readRequest) => void allowed(access, readRequest),
    async fetch(access, readRequest, givenUp) {
      const { request, host } = allowed(access, readRequest)
      const announced: Announced = { mimeType: null }
      const grant = await deps.upload(access, {
        expectedHash: null,
        bytes: fetchedBytes(request, announced, deps, givenUp),
        declaredBytes: null,
        get mimeType() {
          return request.typeOf(announced.mimeType)
        },
        provenance: request.provenance,
        givenUp,
      })
      // Logs only the host of the URL, because paths and queries may carry secrets. The relay does not interpret provenance.
      log.info('blob.ingested', 'A blob was fetched from a URL.', {
        audit: true,
        workspace: access.workspaceId,
        sub: access.sub,
        host,
        hash: grant.hash,
        sizeBytes: grant.sizeBytes,
      })
      return grant
    },
  }
}

/** The facts that the source announces before its bytes. */
interface Announced {
  mimeType: string | null
}

/** Yields the bytes of the URL. Sends nothing before the upload reads: by then the upload has its place and its room in the quota. */
async function* fetchedBytes(
  request: IngestRequest,
  announced: Announced,
  deps: IngestDeps,
  givenUp: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { url, authorization } = request
  const { allowedHosts, maxBlobBytes, userAgent, network, metrics } = deps
  const answer = await guardedFetch(
    {
      url,
      authorization,
      headers: { 'user-agent': userAgent },
      judge: (hop) => judgeUrl(hop, allowedHosts),
      limits: LIMITS,
      givenUp,
    },
    network,
  )
  if (answer.sizeBytes !== null && answer.sizeBytes > maxBlobBytes) {
    answer.discard()
    throw tooLarge(answer.sizeBytes, maxBlobBytes, metrics)
  }
  announced.mimeType = answer.mimeType
  yield* answer.body
}
