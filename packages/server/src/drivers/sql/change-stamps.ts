/** Each change moves one of this many numbers, so two documents share a number only by chance. */
const COUNT = 4096

/**
 * Numbers that the storage thread shares with another thread of the same relay. Each change of a document moves the number of the document after the
 * commit and before the answer to the writer. So while the number stays, what was read of the document is what is stored.
 */
export class ChangeStamps {
  /** The memory of the numbers. Pass it to another thread and make a `ChangeStamps` with it there. */
  readonly shared: SharedArrayBuffer
  readonly #numbers: Int32Array

  constructor(shared = new SharedArrayBuffer(COUNT * Int32Array.BYTES_PER_ELEMENT)) {
    this.shared = shared
    this.#numbers = new Int32Array(shared)
  }

  /** Returns the present number of the document with this key. Equal numbers of two moments mean that it has not changed between them. */
  of(key: number): number {
    return Atomics.load(this.#numbers, key % COUNT)
  }

  /** Call it after the commit of a change of this document and before its writer is answered. */
  move(key: number): void {
    Atomics.add(this.#numbers, key % COUNT, 1)
  }

  /** Moves all numbers, because any document may have changed. */
  moveAll(): void {
    for (let at = 0; at < COUNT; at++) Atomics.add(this.#numbers, at, 1)
  }
}
