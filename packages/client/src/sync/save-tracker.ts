/**
 * Tells whether everything that this client wrote is durable on the relay, from the messages sent and acknowledged
 * since the last join. [WS-38..WS-41]
 *
 * Ordinals count write-bearing messages since JOIN_DOC, from 1, as the relay counts them. The content of a refused
 * message counts as unsaved until an ack covers a step2 that was sent later, because a step2 carries everything that
 * the relay lacks.
 */
export class SaveTracker {
  #sent = 0
  #acked = 0
  /**
   * Newest ordinal whose content was refused; 0 right after a join. The content is saved when an ack covers a later
   * step2. `null`: nothing is missing.
   */
  #missingSince: number | null = 0
  /** Ordinal of the newest step2 that was not refused. */
  #step2 = 0
  /** For each unacknowledged message: its ordinal, and how many edits it and all earlier messages carry. */
  #edits: { readonly ordinal: number; readonly edits: number }[] = []
  #savedEdits = 0

  joined(): void {
    this.#sent = 0
    this.#acked = 0
    this.#missingSince = 0
    this.#step2 = 0
    this.#edits = []
  }

  /** Counts a sent message, after which the relay was sent `edits` edits in all, and returns its ordinal. */
  sent(kind: 'step2' | 'update', edits = 0): number {
    this.#sent++
    if (kind === 'step2') this.#step2 = this.#sent
    this.#edits.push({ ordinal: this.#sent, edits })
    return this.#sent
  }

  refused(ordinal: number): void {
    this.#missingSince = Math.max(this.#missingSince ?? 0, ordinal)
    if (this.#step2 <= ordinal) this.#step2 = 0
  }

  acked(ordinal: number): void {
    this.#acked = Math.max(this.#acked, ordinal)
    if (this.#missingSince !== null && this.#step2 > this.#missingSince && this.#acked >= this.#step2) this.#missingSince = null
    // Nothing counts as saved while refused content is missing. The step2 that brings that content carries all earlier edits.
    if (this.#missingSince !== null) return
    for (const { edits } of this.#edits.filter((each) => each.ordinal <= this.#acked)) this.#savedEdits = edits
    this.#edits = this.#edits.filter((each) => each.ordinal > this.#acked)
  }

  /** How many of the edits that were passed to `sent` are durable. */
  get savedEdits(): number {
    return this.#savedEdits
  }

  /** True when acks cover every message so far and no refused content is missing. */
  get everythingSaved(): boolean {
    return this.#missingSince === null && this.#acked >= this.#sent
  }
}
