/**
 * Whether everything this client wrote is durable on the relay, from what was sent and acknowledged since the last join. [WS-38..WS-41]
 *
 * Ordinals count write-bearing messages since JOIN_DOC, from 1, as the relay counts them. A refused message's content counts as unsaved until a
 * step2 sent later is covered by an ack, because a step2 carries everything the relay lacks.
 */
export class SaveTracker {
  #sent = 0
  #acked = 0
  /** Newest ordinal whose content was refused, and 0 for a fresh join: saved only once a later step2 is covered. `null`: nothing is missing. */
  #missingSince: number | null = 0
  /** Newest step2 that was not refused. */
  #step2 = 0

  joined(): void {
    this.#sent = 0
    this.#acked = 0
    this.#missingSince = 0
    this.#step2 = 0
  }

  /** Answers the ordinal of the message. */
  sent(kind: 'step2' | 'update'): number {
    this.#sent++
    if (kind === 'step2') this.#step2 = this.#sent
    return this.#sent
  }

  refused(ordinal: number): void {
    this.#missingSince = Math.max(this.#missingSince ?? 0, ordinal)
    if (this.#step2 <= ordinal) this.#step2 = 0
  }

  acked(ordinal: number): void {
    this.#acked = Math.max(this.#acked, ordinal)
    if (this.#missingSince !== null && this.#step2 > this.#missingSince && this.#acked >= this.#step2) this.#missingSince = null
  }

  /** True when every message so far is covered and nothing refused is outstanding. */
  get everythingSaved(): boolean {
    return this.#missingSince === null && this.#acked >= this.#sent
  }
}
