/** Runs the work of one document in the order in which it was given. Documents do not wait for each other. [WS-51] */
export class DocumentOrder {
  readonly #tails = new Map<string, Promise<void>>()

  /**
   * Runs `work` after `before` and after all earlier work of any of these documents; at once when there is none and `before`
   * is null. Neither may reject.
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

  /** Resolves when all work that was given so far is done. */
  async idle(): Promise<void> {
    await Promise.all(this.#tails.values())
  }
}
