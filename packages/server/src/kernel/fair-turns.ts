/** Lets the tasks of several holders (workspaces, say) take turns. */
export interface FairTurns {
  /**
   * Calls `start` when `holder` gets a turn, at once when a slot is free; the turn lasts until `done` is called. The
   * returned function cancels the wait, and does nothing after `start` was called.
   */
  ask(holder: string, start: (done: () => void) => void): () => void
  /**
   * Runs `task` when its holder has a turn, and returns its result. Waiting holders get turns one after the other,
   * however many tasks each has. Rejects with the reason of `givenUp` when that is aborted before the turn; then the
   * task never runs.
   */
  run<T>(holder: string, task: () => Promise<T>, givenUp?: AbortSignal): Promise<T>
  /** Number of tasks of a holder that wait for their turn. */
  waiting(holder: string): number
}

export interface TurnLimits {
  /** How many tasks run at one time. */
  readonly slots: number
  /** How many tasks of one holder run at one time. */
  readonly perHolder: number
}

export function createFairTurns({ slots, perHolder }: TurnLimits): FairTurns {
  /** Waiting tasks of each holder, oldest first. */
  const queues = new Map<string, Set<() => void>>()
  /** For each holder with tasks, the number of its last turn. */
  const lastTurn = new Map<string, number>()
  let turn = 0
  const runningOf = new Map<string, number>()
  let running = 0

  const mayRun = (holder: string): boolean => (runningOf.get(holder) ?? 0) < perHolder

  const leave = (holder: string, start: () => void): void => {
    const queue = queues.get(holder)
    queue?.delete(start)
    if (queue?.size === 0) queues.delete(holder)
  }

  /** Returns the holder whose last turn is the longest ago. */
  const nextHolder = (): string | null => {
    let next: string | null = null
    const turnOf = (holder: string): number => lastTurn.get(holder) ?? 0
    for (const holder of queues.keys()) {
      if (mayRun(holder) && (next === null || turnOf(holder) < turnOf(next))) next = holder
    }
    return next
  }

  const startNext = (): void => {
    while (running < slots) {
      const holder = nextHolder()
      if (holder === null) return
      const [start] = queues.get(holder) ?? []
      if (start === undefined) return
      leave(holder, start)
      begin(holder, start)
    }
  }

  const begin = (holder: string, start: () => void): void => {
    lastTurn.set(holder, ++turn)
    running++
    runningOf.set(holder, (runningOf.get(holder) ?? 0) + 1)
    start()
  }

  const finished = (holder: string): void => {
    running--
    const left = (runningOf.get(holder) ?? 1) - 1
    if (left === 0) runningOf.delete(holder)
    else runningOf.set(holder, left)
    if (left === 0 && !queues.has(holder)) lastTurn.delete(holder)
    startNext()
  }

  const ask: FairTurns['ask'] = (holder, start) => {
    const run = (): void => start(() => finished(holder))
    // While a slot is free, no task that may run is waiting, so this task overtakes none.
    if (running < slots && mayRun(holder)) {
      begin(holder, run)
      return () => undefined
    }
    queues.set(holder, (queues.get(holder) ?? new Set()).add(run))
    return () => leave(holder, run)
  }

  return {
    ask,
    waiting: (holder) => queues.get(holder)?.size ?? 0,
    run(holder, task, givenUp) {
      return new Promise((resolve, reject) => {
        if (givenUp?.aborted) return reject(givenUp.reason)
        let stopWaiting = (): void => undefined
        const giveUp = (): void => {
          stopWaiting()
          reject(givenUp?.reason)
        }
        givenUp?.addEventListener('abort', giveUp, { once: true })
        stopWaiting = ask(holder, (done) => {
          givenUp?.removeEventListener('abort', giveUp)
          void Promise.resolve().then(task).then(resolve, reject).finally(done)
        })
      })
    },
  }
}

/** A task with what fair queueing needs to know about it. */
export interface LaneTask {
  readonly holder: string
  /** True when the task takes long because of its size. */
  readonly heavy: boolean
  /** Aborted when nobody waits for the result any more. */
  readonly givenUp?: AbortSignal
}

/**
 * Turns at `slots` threads. Heavy tasks never take the last free thread, so a light task never waits for a heavy one.
 */
export interface Lanes {
  run<T>(asked: LaneTask, task: () => Promise<T>): Promise<T>
  waiting(holder: string): number
}

/** `slots` must be 2 or more. */
export function createLanes(limits: TurnLimits): Lanes {
  const all = createFairTurns(limits)
  const heavyOnes = createFairTurns({ slots: limits.slots - 1, perHolder: limits.perHolder })
  return {
    run({ holder, heavy, givenUp }, task) {
      const inTurn = () => all.run(holder, task, givenUp)
      return heavy ? heavyOnes.run(holder, inTurn, givenUp) : inTurn()
    },
    waiting: (holder) => all.waiting(holder) + heavyOnes.waiting(holder),
  }
}
