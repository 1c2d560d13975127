import type { Relay, SearchPage } from '@docrelay/client'

const LIMIT = 10
/** Pause before a search is repeated. Text written a moment ago is usually found after two seconds. */
const AGAIN_MS = 1_000
const MOST_TRIES = 15

/**
 * Searches the texts of all documents, and repeats the search while the relay says that its answer may be incomplete. `tell` gets each answer, or
 * `null` where search is switched off or fails. The returned function ends the search. [CON-25, AG-63]
 */
export function searchTexts(relay: Pick<Relay, 'search'>, q: string, tell: (page: SearchPage | null) => void): () => void {
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const ask = async (tries: number): Promise<void> => {
    const page = await relay.search(q, { limit: LIMIT, signal: ended.signal }).catch(() => null)
    if (ended.signal.aborted) return
    tell(page)
    const mayLack = page !== null && (page.incomplete === true || (page.behind ?? 0) > 0)
    if (mayLack && tries < MOST_TRIES) timer = setTimeout(() => void ask(tries + 1), AGAIN_MS)
  }
  void ask(1)
  return () => {
    ended.abort()
    clearTimeout(timer)
  }
}
