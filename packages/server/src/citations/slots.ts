/** Runs a limited amount of work at a time for each key; further work waits in order. */
export interface Slots {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createSlots(atOnce: number): Slots {
  const keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>()
  return {
    async run(key, work) {
      const entry = keys.get(key) ?? { running: 0, waiting: [] }
      keys.set(key, entry)
      // A finished call hands its place to the next waiting one, so that no later call overtakes it.
      if (entry.running >= atOnce) await new Promise<void>((resolve) => entry.waiting.push(resolve))
      else entry.running++
      try {
        return await work()
      } finally {
        const next = entry.waiting.shift()
        if (next !== undefined) next()
        else if (--entry.running === 0) keys.delete(key)
      }
    },
  }
}
