/** Listeners by the name of an event; `Events` names the value that each event carries. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(told: never) => void>>()

  /** Adds a listener; the returned function removes it. */
  on<E extends keyof Events>(event: E, listener: (told: Events[E]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** Calls every listener. One that throws is reported as an uncaught error and does not keep the others from being called. */
  emit<E extends keyof Events>(event: E, told: Events[E]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])] as ((told: Events[E]) => void)[]) {
      try {
        listener(told)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  hasListeners(event: keyof Events): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0
  }
}
