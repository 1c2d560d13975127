/** Each change moves one of this many numbers, so two documents share a number only by chance. */
const COUNT = 4096

/**
 * Numbers that the storage thread shares with another thread of the same relay. Each change of a document moves the number of the document after the
 * commit and before the answer to the writer. So while the number stays, what was read of the document is what is stored.
 */
export class ChangeStamps {
  /** Memory to pass to the other thread, whose `ChangeStamps` is made with it. */
  readonly shared: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(shared = new SharedArrayBuffer(COUNT * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#numbers = new Int32Array(shared)
  }

  /** Returns the number of the document with this key. */
  of(key: number): number {
    return Atomics.load(this.#numbers, key % COUNT)
  }

  move(key: number): void {
    Atomics.add(this.#numbers, key % COUNT, 1)
  }

  /** Moves all numbers, because any document may have changed. */
  moveAll(): void {
    for (let at = 0; at < COUNT; at++) Atomics.add(this.#numbers, at, 1)
  }
}
