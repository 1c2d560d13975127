/** Work of which only so much runs at once for one key; the rest waits in order. */
export interface Slots {
  run<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createSlots(atOnce: number): Slots {
  const keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>()
  return {
    async run(key, work) {
      const entry = keys.get(key) ?? { running: 0, waiting: [] }
      keys.set(key, entry)
      // A place is handed on, so that nobody who comes later takes it.
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
