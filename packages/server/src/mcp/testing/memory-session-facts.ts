import type { KeptFacts, SessionFacts, SessionHint } from '../session-facts.port.ts'

/** Session facts in memory that several nodes of one test share, over a bus that the test can take down. */
export class MemorySessionFacts {
  isUp = true
  readonly #kept = new Map<string, { owner: string; isClosed: boolean; logLevel: string | null; uris: Set<string> }>()
  readonly #listeners = new Map<string, Set<(hint: SessionHint) => void>>()
  readonly #gaps: (() => void)[] = []

  /** Returns the facts as one node reads and writes them. */
  node(limit = 1_000): SessionFacts {
    const entryOf = (name: string, owner: string) => {
      const entry = this.#kept.get(name) ?? { owner, isClosed: false, logLevel: null, uris: new Set<string>() }
      if (entry.isClosed) return entry
      this.#kept.delete(name)
      this.#kept.set(name, entry)
      const own = [...this.#kept].filter(([, each]) => each.owner === owner && !each.isClosed)
      if (own.length > limit) this.#kept.delete(own[0]?.[0] ?? '')
      return entry
    }
    return {
      read: async (name): Promise<KeptFacts | null> => {
        if (!this.isUp) return null
        const entry = this.#kept.get(name)
        return {
          isClosed: entry?.isClosed ?? false,
          logLevel: entry?.logLevel ?? null,
          subscriptions: [...(entry?.uris ?? [])],
        }
      },
      setLogLevel: async (name, owner, level) => {
        const entry = entryOf(name, owner)
        if (this.isUp && !entry.isClosed) entry.logLevel = level
      },
      subscribe: async (name, owner, uri, most) => {
        if (!this.isUp) return null
        const { isClosed, uris } = entryOf(name, owner)
        if (uris.has(uri)) return 'had'
        if (isClosed || uris.size >= most) return 'full'
        uris.add(uri)
        return 'added'
      },
      unsubscribe: async (name, uri) => {
        if (this.isUp) this.#kept.get(name)?.uris.delete(uri)
      },
      close: async (name) => {
        if (this.isUp) this.#kept.set(name, { owner: '', isClosed: true, logLevel: null, uris: new Set() })
      },
      tell: (name, hint) => {
        if (this.isUp) for (const listener of [...(this.#listeners.get(name) ?? [])]) queueMicrotask(() => listener(hint))
      },
      listen: (name, listener) => {
        const listeners = this.#listeners.get(name) ?? new Set()
        this.#listeners.set(name, listeners.add(listener))
        return () => void listeners.delete(listener)
      },
      onGap: (listener) => void this.#gaps.push(listener),
    }
  }

  /** Brings the bus back. Hints sent while it was down are lost. */
  comeBack(): void {
    this.isUp = true
    for (const tell of this.#gaps) tell()
  }
}
