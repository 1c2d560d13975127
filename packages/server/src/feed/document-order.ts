/** Runs the work for one document in the order of the calls to `run`. Documents do not wait for each other. [WS-51] */
export class DocumentOrder {
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` after `before` and after all earlier work for any of `documents`; at once when there is no such work and
   * `before` is null. Neither `before` nor `work` may reject.
   */
  run(documents: readonly string[], before: Promise<unknown> | null, work: () => Promise<void> | void): void {
    const waits = documents.flatMap((document) => this.#tails.get(document) ?? [])
    if (before !== null) waits.push(before.then(() => undefined))
    const done = waits.length === 0 ? work() : Promise.all(waits).then(work)
    if (done === undefined) return
    const tail: Promise<void> = done.then(() => {
      for (const document of documents) if (this.#tails.get(document) === tail) this.#tails.delete(document)
    })
    for (const document of documents) this.#tails.set(document, tail)
  }

  /** Resolves when the work of all earlier calls is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
