/** Runs small pieces of work on a thread that other work needs as well. */
export interface RoundTurns {
  /**
   * Runs `work` at once when few others ran in this round of the event loop, otherwise in a later round. Waiting holders take turns, however much work
   * each of them has; the work of one holder runs in order.
   */
  run(holder: string, work: () => void): void
}

/** Makes the turns. At most `perRound` pieces of work run in one round. `soon` runs its argument in the next round. */
export function createRoundTurns({
  perRound,
  soon = setImmediate,
}: {
  readonly perRound: number
  readonly soon?: (work: () => void) => void
}): RoundTurns {
  /** Waiting work by holder. The holder whose turn is next is first. */
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
      // A holder that still has work goes to the end, so that the others get their turns first.
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
