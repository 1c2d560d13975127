/** A client's socket that ended without the client closing it. */
export interface Close {
  readonly client: string
  /** The node of the connection; `null` when it is unknown. */
  readonly node: string | null
  readonly atMs: number
  readonly code: number
  readonly reason: string
}

export interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** A time span in which a client had an edit that was not durable. */
export interface Save extends Span {
  readonly client: string
}

/** A time span in which a client was out of sync after it had been in sync. */
export interface Reconnect extends Span {
  readonly client: string
}

/** A mark that was acknowledged, and where it must be found. */
export interface Acknowledged {
  readonly source: 'typed' | 'saved' | 'tools'
  readonly document: string
  readonly mark: string
  readonly atMs: number
}

/** An answer that is neither the expected one nor a request to retry. */
export interface OddAnswer {
  readonly what: string
  readonly atMs: number
}

/** The observations of a run from outside. All times come from one monotonic clock, in milliseconds. */
export class Recorder {
  readonly acknowledged: Acknowledged[] = []
  readonly closes: Close[] = []
  readonly saves: Save[] = []
  readonly reconnects: Reconnect[] = []
  /** Answers older than what had been acknowledged before the request was sent. [LIFE-8] */
  readonly staleReads: OddAnswer[] = []
  /** Answers of REST and tools that a relay should never give: 5xx other than 503, and 503 without Retry-After. */
  readonly badAnswers: OddAnswer[] = []
  /** Spans in which a database server lost its last commits. Marks acknowledged in a span may be gone. */
  readonly lostTails: Span[] = []
  /** Counts that only a fault makes, for the report. */
  readonly told: string[] = []
  /** Problems that faults themselves found. */
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

  /** Returns when this client got the event that the document was created. */
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
   * Returns what clients of nodes that the fault did not hit have noticed since `sinceMs`, when the fault began.
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

  /** Returns the time within which this share of the reconnects since `sinceMs` ended; `null` when there are none. */
  reconnectMs(share: number, sinceMs: number): number | null {
    const took = this.reconnects.filter(({ fromMs }) => fromMs >= sinceMs).map(({ fromMs, toMs }) => toMs - fromMs)
    return took.toSorted((a, b) => a - b)[Math.min(took.length - 1, Math.floor(took.length * share))] ?? null
  }
}

function longest(spans: readonly Span[]): number {
  return Math.max(0, ...spans.map(({ fromMs, toMs }) => toMs - fromMs))
}
