/**
 * Decides how long to gather edits before the next update message, so that many typing clients stay below the write
 * bucket of their workspace without knowing its size. The first edit after a pause is sent at once. While edits go on,
 * messages are at least `gapMs` apart. A refusal for rate doubles the gap; every ack shortens it a little.
 */
export class SendPace {
  #gapMs: number
  readonly #leastMs: number
  readonly #mostMs: number
  #lastSentMs = Number.NEGATIVE_INFINITY

  constructor(leastMs = 30, mostMs = 2_000) {
    this.#gapMs = leastMs
    this.#leastMs = leastMs
    this.#mostMs = mostMs
  }

  get gapMs(): number {
    return this.#gapMs
  }

  /** Milliseconds until the next message may be sent. */
  delayMs(nowMs: number): number {
    return Math.max(0, this.#lastSentMs + this.#gapMs - nowMs)
  }

  sent(nowMs: number): void {
    this.#lastSentMs = nowMs
  }

  limited(): void {
    this.#gapMs = Math.min(this.#mostMs, this.#gapMs * 2)
  }

  acked(): void {
    this.#gapMs = Math.max(this.#leastMs, this.#gapMs * 0.95)
  }
}
