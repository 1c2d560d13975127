/** A decaying count: approximately the number of items added in the last `memoryMs`. Times are monotonic, in ms. */
export class Load {
  readonly #memoryMs: number
  #count = 0
  #atMs = Number.NEGATIVE_INFINITY

  constructor(memoryMs: number) {
    this.#memoryMs = memoryMs
  }

  add(items: number, nowMs: number): void {
    this.#count = this.at(nowMs) + items
    this.#atMs = nowMs
  }

  at(nowMs: number): number {
    if (this.#count === 0) return 0
    return this.#count * Math.exp(Math.min(0, this.#atMs - nowMs) / this.#memoryMs)
  }

  perSecond(nowMs: number): number {
    return (this.at(nowMs) * 1000) / this.#memoryMs
  }
}
