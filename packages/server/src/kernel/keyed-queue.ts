/**
 * Runs the tasks of one key one after the other, in the order of the calls. Tasks of different keys do not wait for
 * each other.
 */
export interface KeyedQueue {
  /** Returns the result of the task. A failing task does not stop later ones. */
  run<T>(key: string, task: () => Promise<T>): Promise<T>
}

export function createKeyedQueue(): KeyedQueue {
  const tails = new Map<string, Promise<unknown>>()
  return {
    run(key, task) {
      const result = (tails.get(key) ?? Promise.resolve()).then(task)
      const tail = result
        .catch(() => undefined)
        .then(() => {
          if (tails.get(key) === tail) tails.delete(key)
        })
      tails.set(key, tail)
      return result
    },
  }
}
