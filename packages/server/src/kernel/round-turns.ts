/** Small pieces of work on a thread that others need as well. */
export interface RoundTurns {
  /**
   * Runs `work` now when few others ran in this round of the event loop, else in a later round, after other events were handled. Holders that wait
   * get turns one after the other, however much each of them waits with; the works of one holder run in their order.
   */
  run(holder: string, work: () => void): void
}

/** At most `perRound` works run in one round. `soon` runs its argument in the next round. */
export function createRoundTurns({
  perRound,
  soon = setImmediate,
}: {
  readonly perRound: number
  readonly soon?: (work: () => void) => void
}): RoundTurns {
  /** The holder whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>()
  let left = perRound
  let isRoundDue = false

  const roundLater = (): void => {
    if (isRoundDue) return
    isRoundDue = true
    soon(nextRound)
  }

  const nextRound = (): void => {
    isRoundDue = false
    left = perRound
    for (const [holder, works] of waiting) {
      if (left === 0) break
      // Put in again at the end: it is the others' turn.
      waiting.delete(holder)
      const work = works.shift()
      if (works.length > 0) waiting.set(holder, works)
      if (work !== undefined) runOne(work)
    }
    if (waiting.size > 0) roundLater()
  }

  const runOne = (work: () => void): void => {
    left--
    roundLater()
    work()
  }

  return {
    run(holder, work) {
      const works = waiting.get(holder)
      if (works !== undefined) works.push(work)
      else if (left > 0 && waiting.size === 0) runOne(work)
      else {
        waiting.set(holder, [work])
        roundLater()
      }
    },
  }
}
