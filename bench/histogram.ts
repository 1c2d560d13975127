/** Counts latencies in logarithmic buckets that are 2 % wide; a million samples need a few kilobytes. */
export class LatencyHistogram {
  readonly #buckets = new Uint32Array(1_200)
  #count = 0

  add(ms: number): void {
    const bucket = Math.max(
      0,
      Math.min(this.#buckets.length - 1, Math.round(Math.log(Math.max(ms, 0.001) / 0.001) / Math.log(1.02))),
    )
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1
    this.#count++
  }

  at(share: number): number {
    let seen = 0
    for (let bucket = 0; bucket < this.#buckets.length; bucket++) {
      seen += this.#buckets[bucket] as number
      if (seen >= share * this.#count && seen > 0) return 0.001 * 1.02 ** bucket
    }
    return Number.NaN
  }

  summary(): { p50: number; p99: number } {
    return { p50: this.at(0.5), p99: this.at(0.99) }
  }
}
