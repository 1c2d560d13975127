/** A socket of a client that ended without its client wanting it. */
export interface Close {
  readonly client: string
  /** The node that it was connected to. */
  readonly node: string | null
  readonly atMs: number
  readonly code: number
  readonly reason: string
}

export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** The time in which a client had an edit that was not durable. */
export interface Save extends Span {
  readonly client: string
}

/** The time in which a client that had been in sync was not. */
export interface Reconnect extends Span {
  readonly client: string
}

/** What was acknowledged, and where it must be found. */
export interface Acknowledged {
  readonly source: 'typed' | 'saved' | 'tools'
  readonly document: string
  readonly mark: string
  readonly atMs: number
}

/** An answer to a request that is neither what was asked for nor a sign to come again. */
export interface OddAnswer {
  readonly what: string
  readonly atMs: number
}

/**
 * What an outside observer of a run has seen. All times are those of one monotonic clock, in milliseconds.
 */
export class Recorder {
  readonly acknowledged: Acknowledged[] = []
  readonly closes: Close[] = []
  readonly saves: Save[] = []
  readonly reconnects: Reconnect[] = []
  /** Answers that were older than what had been acknowledged before their request was sent. [LIFE-8] */
  readonly staleReads: OddAnswer[] = []
  /** Answers of REST and tools that no relay should give: 5xx other than 503, and 503 without Retry-After. */
  readonly badAnswers: OddAnswer[] = []
  /** When a database server lost its last commits: what was acknowledged then may be gone. */
  readonly lostTails: Span[] = []
  /** What faults have counted that only they look at, for the report. */
  readonly told: string[] = []
  /** What faults have found wrong. */
  readonly wrong: string[] = []
  readonly #events = new Map<string, number[]>()
  readonly reads = { answered: 0, refused: 0, unanswered: 0 }
  readonly writes = { answered: 0, refused: 0, unanswered: 0 }

  noteAnswer(kind: 'reads' | 'writes', status: number | null, what: string): void {
    const counts = this[kind]
    if (status === null) counts.unanswered++
    else if (status < 300) counts.answered++
    else counts.refused++
    if (status !== null && status >= 500 && status !== 503) this.noteBadAnswer(`${what}: ${status}`)
  }

  noteCreated(client: string, document: string): void {
    const key = `${client} ${document}`
    this.#events.set(key, [...(this.#events.get(key) ?? []), performance.now()])
  }

  /** When this client was told that the document was created. */
  eventsOf(client: string, document: string): readonly number[] {
    return this.#events.get(`${client} ${document}`) ?? []
  }

  isOfLostTail(atMs: number): boolean {
    return this.lostTails.some(({ fromMs, toMs }) => atMs >= fromMs && atMs <= toMs)
  }

  noteBadAnswer(what: string): void {
    this.badAnswers.push({ what, atMs: performance.now() })
  }

  /**
   * What clients of nodes that the fault did not hit have noticed since `sinceMs`, when it began.
   *
   * @param nodeOf the node of a client when the fault began
   */
  elsewhere({ hit, sinceMs, nodeOf }: { hit: readonly string[]; sinceMs: number; nodeOf: ReadonlyMap<string, string | null> }): {
    readonly closes: readonly Close[]
    readonly longestPauseMs: number
  } {
    const isElsewhere = (client: string): boolean => !hit.includes(nodeOf.get(client) ?? '')
    return {
      closes: this.closes.filter(({ client, atMs }) => atMs >= sinceMs && isElsewhere(client)),
      longestPauseMs: longest(this.saves.filter(({ client, toMs }) => toMs >= sinceMs && isElsewhere(client))),
    }
  }

  /** The time that this share of the reconnects since `sinceMs` took at most; `null` without any. */
  reconnectMs(share: number, sinceMs: number): number | null {
    const took = this.reconnects.filter(({ fromMs }) => fromMs >= sinceMs).map(({ fromMs, toMs }) => toMs - fromMs)
    return took.toSorted((a, b) => a - b)[Math.min(took.length - 1, Math.floor(took.length * share))] ?? null
  }
}

function longest(spans: readonly Span[]): number {
  return Math.max(0, ...spans.map(({ fromMs, toMs }) => toMs - fromMs))
}
