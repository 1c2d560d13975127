/**
 * The revoked tokens in memory, at most `keep`, as a binary heap with the oldest on top. A map from jti to its place in
 * the heap makes adding, moving and evicting cost O(log n), also with a million entries. [V1] Entries of the same
 * moment are ordered by jti, as in the store.
 */
export class RevocationOrder {
  readonly #keep: number
  readonly #jtis: string[] = []
  readonly #times: number[] = []
  readonly #places = new Map<string, number>()

  constructor(keep: number) {
    this.#keep = keep
  }

  get size(): number {
    return this.#jtis.length
  }

  has(jti: string): boolean {
    return this.#places.has(jti)
  }

  /**
   * Adds an entry, or moves a known one to the earlier of the two times. Beyond `keep` the oldest entry is dropped,
   * which may be the new one.
   */
  add(jti: string, revokedAtMs: number): void {
    const place = this.#places.get(jti)
    if (place !== undefined) {
      if (revokedAtMs < (this.#times[place] ?? 0)) this.#rise(place, jti, revokedAtMs)
      return
    }
    this.#rise(this.#jtis.length, jti, revokedAtMs)
    if (this.#jtis.length > this.#keep) this.#dropOldest()
  }

  #dropOldest(): void {
    const oldest = this.#jtis[0]
    const jti = this.#jtis.pop()
    const time = this.#times.pop()
    if (oldest === undefined || jti === undefined || time === undefined) return
    this.#places.delete(oldest)
    if (oldest !== jti) this.#sink(0, jti, time)
  }

  #rise(from: number, jti: string, time: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#before(jti, time, parent)) break
      this.#copy(parent, place)
      place = parent
    }
    this.#put(place, jti, time)
  }

  #sink(from: number, jti: string, time: number): void {
    let place = from
    for (;;) {
      const left = 2 * place + 1
      if (left >= this.#jtis.length) break
      const right = left + 1
      const child =
        right < this.#jtis.length && this.#before(this.#jtis[right] ?? '', this.#times[right] ?? 0, left) ? right : left
      if (this.#before(jti, time, child)) break
      this.#copy(child, place)
      place = child
    }
    this.#put(place, jti, time)
  }

  #before(jti: string, time: number, place: number): boolean {
    const other = this.#times[place] ?? 0
    return time < other || (time === other && jti < (this.#jtis[place] ?? ''))
  }

  #copy(from: number, to: number): void {
    this.#put(to, this.#jtis[from] ?? '', this.#times[from] ?? 0)
  }

  #put(place: number, jti: string, time: number): void {
    this.#jtis[place] = jti
    this.#times[place] = time
    this.#places.set(jti, place)
  }
}
