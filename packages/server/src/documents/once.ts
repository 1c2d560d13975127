import { isRefusal, type Refusal, refused } from '@docrelay/model/edit'
import type { DocumentStore, OnceWrite, RememberedWrite } from './document-store.port.ts'

/** How long in ms a repeated request gets the first answer again. */
export const REMEMBERED_MS = 600_000

/** A write that is done once, however often its caller requests it; plain data. [TOOL-22] */
export interface Once extends Pick<OnceWrite, 'request' | 'digest'> {
  /** The request id as the caller sent it. */
  readonly requestId: string
}

/** The write was done before, under the same request id; nothing is written now. */
export interface Repeated<A> {
  readonly kind: 'repeated'
  /** The first answer without the version. */
  readonly answer: A
  readonly version: number
}

interface Remembering {
  readonly store: Pick<DocumentStore, 'remembered'>
  readonly clock: { nowMs(): number }
}

/** Returns the member `once` of a write; nothing for a write without request id. */
export function onceMember(once: Once | undefined, nowMs: number, answer: () => object): { readonly once?: OnceWrite } {
  if (once === undefined) return {}
  const { request, digest } = once
  return { once: { request, digest, answer: JSON.stringify(answer()), sinceMs: nowMs - REMEMBERED_MS } }
}

/**
 * Runs a write unless it was done before. When the write fails, looks for it again: another process may have done it
 * meanwhile, or the store may have done it without being able to say so. [TOOL-22]
 */
export async function onlyOnce<A, T extends object>(
  once: Once | undefined,
  workspaceId: string,
  { store, clock }: Remembering,
  run: () => Promise<T>,
): Promise<T | Repeated<A> | Refusal> {
  if (once === undefined) return run()
  const earlier = async (): Promise<Repeated<A> | Refusal | null> => {
    const first = await store.remembered(workspaceId, { request: once.request, sinceMs: clock.nowMs() - REMEMBERED_MS })
    return first && repeated(first, once)
  }
  const before = await earlier()
  if (before !== null) return before
  try {
    const outcome = await run()
    return isRefusal(outcome) ? ((await earlier()) ?? outcome) : outcome
  } catch (error) {
    const done = await earlier().catch(() => null)
    if (done === null) throw error
    return done
  }
}

/** Returns the first answer for a repeated request. */
export function repeated<A>({ digest, answer, version }: RememberedWrite, once: Once): Repeated<A> | Refusal {
  return digest === once.digest ? { kind: 'repeated', answer: JSON.parse(answer) as A, version } : reusedRequest(once.requestId)
}

export function reusedRequest(requestId: string): Refusal {
  const sentence = `requestId ${JSON.stringify(requestId)} was used with other arguments; give each call an id of its own.`
  return refused('ERR_REQUEST_ID_REUSED', sentence, { requestId })
}
