import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RoomTurn, RoomTurns } from '../room/room-host.ts'
import { Turns } from '../turns.ts'

/**
 * Turns of workspaces in debt run at most this long without a break while other workspaces work. So the other workspaces wait at most
 * this long.
 */
const DEBTOR_SLICE_MS = 4
/** A workspace is in debt when it owes more than this. */
const DEBTOR_MS = 100
/** The debt of a workspace that keeps one processor busy all the time: 1 s / ln 2. */
const ALWAYS_BUSY_MS = 1_443
/** A workspace that uses more than this share of all document workers rests between its slices while others work. */
const RESTS_FROM_SHARE = 0.25
const LONGEST_REST = 3

export interface TurnTakerOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Processor time of this thread in ms. */
  readonly processorMs: () => number
  /** How long turns run before messages and timers are handled again. */
  readonly sliceMs: number
  /** Number of document workers that share the processors, including this one. */
  readonly workers: number
  /** Runs `work` after other events have been handled. */
  readonly soon: (work: () => void) => void
  /** Returns whether no turn is in progress, and no other work that runs waiting turns at its end. */
  readonly isBetween: () => boolean
  /** Runs more turns and sends their results. */
  readonly again: () => void
  /** Sends the results of the turns so far. */
  readonly flush: () => void
}

/**
 * Runs the turns of one document worker for a short time each. While other workspaces work, a workspace in debt gets short slices, and other
 * events are handled between the slices. A workspace that uses more than a quarter of all workers also rests between its slices, for at least
 * as long as it worked. So the worker is free most of the time for the workspaces that use little, and the processors have time for the
 * threads that store and send. [WS-12, G9]
 */
export class TurnTaker implements RoomTurns {
  private readonly turns = new Turns<RoomTurn>()
  private readonly given: TurnTakerOptions
  private readonly restsFromMs: number
  /** The room of each turn in this round. A room may be in it more than once. */
  private readonly turning: { turnsEnded(): void }[] = []
  /** True while a turn is in progress. The whole time of a turn is charged when it ends. */
  private inTurn = false
  private isMoreDue = false
  /** True when workspaces in debt may have a slice now. */
  private isDebtorsTime = false
  private restUntilMs = Number.NEGATIVE_INFINITY
  private isResting = false

  constructor(given: TurnTakerOptions) {
    this.given = given
    this.restsFromMs = RESTS_FROM_SHARE * ALWAYS_BUSY_MS * given.workers
  }

  ask(turn: RoomTurn): void {
    const { workspaceId, connection, estimateMs } = turn
    this.turns.add({ workspaceId, connection, estimateMs, work: turn })
    if (this.given.isBetween()) this.takeMoreLater()
  }

  charge(workspaceId: string, connection: number, tookMs: number): void {
    if (!this.inTurn) this.turns.charge(workspaceId, connection, tookMs, this.given.clock.monotonicMs())
  }

  workspaceOwesMs(workspaceId: string): number {
    return this.turns.workspaceOwesMs(workspaceId, this.given.clock.monotonicMs())
  }

  isInDebt(workspaceId: string): boolean {
    return this.isDebtor(this.workspaceOwesMs(workspaceId), this.given.clock.monotonicMs())
  }

  connectionOwesMs(connection: number): number {
    return this.turns.connectionOwesMs(connection, this.given.clock.monotonicMs())
  }

  spentElsewhere(spent: Iterable<readonly [string, number]>): void {
    this.turns.spentElsewhere(spent, this.given.clock.monotonicMs())
  }

  takeSpent(): readonly (readonly [string, number])[] {
    return this.turns.takeSpent()
  }

  sweep(): void {
    this.turns.sweep(this.given.clock.monotonicMs())
  }

  /** Calls `turnsEnded` after the current round of turns, once for each call of this method. */
  afterTurns(room: { turnsEnded(): void }): void {
    this.turning.push(room)
  }

  /** Runs turns for one slice. The remaining turns wait until other events have been handled. */
  take(): void {
    const startedMs = this.given.clock.monotonicMs()
    this.takeUntil(startedMs + this.given.sliceMs, startedMs)
    this.endTurns()
    this.isDebtorsTime = false
    this.takeMoreLater()
  }

  private takeUntil(untilMs: number, startedMs: number): void {
    const { clock } = this.given
    for (let nowMs = startedMs; nowMs < untilMs; nowMs = clock.monotonicMs()) {
      const owesMs = this.turns.nextOwesMs(nowMs)
      if (owesMs === null) return
      // The workspace that owes least comes first, so all waiting workspaces are in debt.
      if (this.isDebtor(owesMs, nowMs)) return this.debtorsSlice(nowMs, owesMs)
      this.takeOne(nowMs, untilMs)
    }
  }

  private debtorsSlice(startedMs: number, owesMs: number): void {
    if (!this.isDebtorsTime || startedMs < this.restUntilMs) return
    // The results for other workspaces are sent first, because the slice would delay them.
    this.endTurns()
    this.given.flush()
    const { clock } = this.given
    const untilMs = startedMs + Math.min(DEBTOR_SLICE_MS, this.given.sliceMs)
    let nowMs = startedMs
    do nowMs = this.takeOne(nowMs, untilMs)
    while (nowMs < untilMs && (this.turns.nextOwesMs(nowMs) ?? 0) > DEBTOR_MS)
    if (owesMs <= this.restsFromMs) return
    const workedMs = nowMs - startedMs
    this.restUntilMs = clock.monotonicMs() + workedMs * Math.min(LONGEST_REST, owesMs / this.restsFromMs)
  }

  /** Runs one turn and returns the time after it. */
  private takeOne(nowMs: number, untilMs: number): number {
    const { clock, processorMs } = this.given
    const turn = this.turns.take(nowMs)
    if (turn === null) return nowMs
    this.inTurn = true
    const startedMs = processorMs()
    try {
      turn.work.run(untilMs)
    } finally {
      this.inTurn = false
      const endedMs = clock.monotonicMs()
      this.turns.done(turn, processorMs() - startedMs, endedMs)
      nowMs = endedMs
    }
    return nowMs
  }

  private endTurns(): void {
    for (const room of this.turning) room.turnsEnded()
    this.turning.length = 0
  }

  /** Schedules the remaining turns. */
  takeMoreLater(): void {
    const { clock, timers, soon } = this.given
    const nowMs = clock.monotonicMs()
    const owesMs = this.turns.nextOwesMs(nowMs)
    if (owesMs === null) return
    const restMs = this.restUntilMs - nowMs
    if (restMs >= 1 && this.isDebtor(owesMs, nowMs)) {
      if (this.isResting) return
      this.isResting = true
      timers.after(restMs, () => {
        this.isResting = false
        this.takeAgain()
      })
    } else if (!this.isMoreDue) {
      this.isMoreDue = true
      soon(() => {
        this.isMoreDue = false
        this.takeAgain()
      })
    }
  }

  private takeAgain(): void {
    this.isDebtorsTime = true
    this.given.again()
  }

  private isDebtor(owesMs: number, nowMs: number): boolean {
    return owesMs > DEBTOR_MS && this.turns.lighterWorks(DEBTOR_MS, nowMs)
  }
}
