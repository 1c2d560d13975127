import { doiKey, invalidDoi, readDoi } from '@docrelay/model/references/doi'
import { type Refusal, refused } from '@docrelay/model/edit'
import { isJsonObject } from '@docrelay/model/json'
import { parseJsonBytes } from '@docrelay/model/json-scan'
import { quote } from '@docrelay/model/quote'
import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { type GuardedNetwork, guardedFetch } from '../outbound/guarded-fetch.ts'
import { judgeUrl } from '../outbound/url-rules.ts'
import { type CslItem, cslItemOf, doiUrl } from './doi.ts'
import { createSlots } from './slots.ts'

export interface ResolvedDoi {
  readonly kind: 'resolved'
  readonly doi: string
  readonly reference: CslItem
  readonly cached: boolean
}

/** Looks DOIs up. A failure is a returned refusal: ERR_DOI_INVALID, ERR_DOI_NOT_FOUND or ERR_DOI_UNAVAILABLE. [REF-9..REF-12] */
export interface DoiResolver {
  /** Rejects with the reason of `signal` when it is aborted before the look-up begins. */
  resolve(workspaceId: string, text: string, signal?: AbortSignal): Promise<ResolvedDoi | Refusal>
}

export interface DoiResolverDeps {
  /** `[citations] doi_resolver`. The operator chose it, so it may be in a private network. [REF-10] */
  readonly base: URL
  readonly userAgent: string
  readonly network: GuardedNetwork
  readonly clock: Pick<Clock, 'monotonicMs'>
}

const TOTAL_MS = 15_000
const LIMITS = { idleMs: TOTAL_MS, maxRedirects: 3, maxHeaderBytes: 16_384, maxBytes: 1_048_576 } as const
const JSON_LIMITS = { maxBytes: LIMITS.maxBytes, maxDepth: 64, maxContainers: 100_000, maxTokens: 1_000_000 } as const
const TRIES = 2
const KEPT_MS = 24 * 3_600_000
const MISS_KEPT_MS = 5 * 60_000
const MAX_KEPT = 1_000
const AT_ONCE = 4

/** A cached answer. `reference` is `null` when the resolver knows no such DOI. */
interface Kept {
  readonly reference: CslItem | null
  readonly untilMs: number
}

export function createDoiResolver(deps: DoiResolverDeps): DoiResolver {
  const { clock } = deps
  const kept = new Map<string, Kept>()
  const slots = createSlots(AT_ONCE)

  const known = (doi: string): ResolvedDoi | Refusal | null => {
    const found = kept.get(doiKey(doi))
    if (found === undefined || found.untilMs <= clock.monotonicMs()) return null
    return found.reference === null ? notFound(doi) : { kind: 'resolved', doi, reference: found.reference, cached: true }
  }

  const keep = (doi: string, reference: CslItem | null): void => {
    const key = doiKey(doi)
    // The key moves to the end, so that the first entry is always the oldest fetch.
    kept.delete(key)
    kept.set(key, { reference, untilMs: clock.monotonicMs() + (reference === null ? MISS_KEPT_MS : KEPT_MS) })
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  }

  async function lookUp(doi: string): Promise<ResolvedDoi | Refusal> {
    const answer = await fetched(doi, deps)
    if (answer.kind === 'unavailable') return unavailable(doi, answer)
    keep(doi, answer.reference)
    return answer.reference === null ? notFound(doi) : { kind: 'resolved', doi, reference: answer.reference, cached: false }
  }

  return {
    async resolve(workspaceId, text, signal) {
      const doi = readDoi(text)
      if (doi === null) return invalidDoi(text)
      const inPlace = async (): Promise<ResolvedDoi | Refusal> => {
        signal?.throwIfAborted()
        // The call before this one in the queue may have looked up the same DOI.
        return known(doi) ?? lookUp(doi)
      }
      return known(doi) ?? slots.run(workspaceId, inPlace)
    },
  }
}

type Answer =
  | { readonly kind: 'answered'; readonly reference: CslItem | null }
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryable: boolean }

/** Asks the resolver, and once more when the failure may pass. Both tries share the time limit. [REF-11] */
async function fetched(doi: string, deps: DoiResolverDeps): Promise<Answer> {
  const untilMs = deps.clock.monotonicMs() + TOTAL_MS
  for (let tried = 1; ; tried++) {
    try {
      const reference = jsonObject(await requested(doi, deps, Math.max(1, untilMs - deps.clock.monotonicMs())))
      if (reference === null) return { kind: 'unavailable', reason: 'the answer is no JSON object', retryable: false }
      return { kind: 'answered', reference: cslItemOf(reference, doi) }
    } catch (error) {
      if (!(error instanceof RelayError)) throw error
      const { status, reason } = error.details
      if (status === 404) return { kind: 'answered', reference: null }
      const retryable = isPassing(reason, status)
      // After 429 (too many requests) the resolver is not asked again at once.
      if (retryable && tried < TRIES && reason !== 'timeout' && status !== 429) continue
      const told = error.code === 'URL_NOT_ALLOWED' ? forbidden(error.details['hop']) : String(reason)
      return { kind: 'unavailable', reason: status === undefined ? told : `${told} ${String(status)}`, retryable }
    }
  }
}

function forbidden(hop: unknown): string {
  return hop === 0
    ? 'the configured resolver is neither https nor on this host'
    : 'a redirect leads to a place that is not allowed'
}

/** Whether a failure may pass soon. */
function isPassing(reason: unknown, status: unknown): boolean {
  if (typeof status === 'number') return status >= 500 || status === 429
  return ['timeout', 'unreachable', 'connection', 'cut short', 'no address'].includes(String(reason))
}

async function requested(doi: string, { base, userAgent, network }: DoiResolverDeps, totalMs: number): Promise<Buffer> {
  const answer = await guardedFetch(
    {
      url: doiUrl(base, doi),
      authorization: null,
      headers: { accept: 'application/vnd.citationstyles.csl+json', 'user-agent': userAgent },
      judge: (hop) => judgeUrl(hop, null),
      limits: { ...LIMITS, totalMs },
      trustsFirstHop: true,
    },
    network,
  )
  const pieces: Uint8Array[] = []
  for await (const piece of answer.body) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Parses an answer; `null` unless it is a JSON object that a document can hold: no lone surrogates, limited nesting. */
function jsonObject(bytes: Buffer): CslItem | null {
  const parsed = parseJsonBytes(bytes, JSON_LIMITS)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null
}

function notFound(doi: string): Refusal {
  return refused('ERR_DOI_NOT_FOUND', `The resolver knows no DOI ${quote(doi)}.`, { doi })
}

function unavailable(doi: string, { reason, retryable }: { readonly reason: string; readonly retryable: boolean }): Refusal {
  const hint = retryable ? 'repeat the call later' : 'add the reference by its items'
  const sentence = `The DOI ${quote(doi)} could not be resolved (${reason}); ${hint}.`
  return refused('ERR_DOI_UNAVAILABLE', sentence, { doi, reason, retryable })
}
