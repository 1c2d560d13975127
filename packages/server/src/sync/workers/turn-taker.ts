import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RoomTurn, RoomTurns } from '../room/room-host.ts'
import { Turns } from '../turns.ts'

/** How long turns are taken before messages and timers are looked at again. */
const SLICE_MS = 8
/** The same for workspaces in debt, while others work: so long others wait for them. */
const DEBTOR_SLICE_MS = 4
/** A workspace that owes more is in debt. */
const DEBTOR_MS = 100
/** What one processor that always works makes a workspace owe: 1 s / ln 2. */
const ALWAYS_BUSY_MS = 1_443
/** The share of all document workers from which on a workspace pauses while others work. */
const RESTS_FROM_SHARE = 0.25
const LONGEST_REST = 3

export interface TurnTakerOptions {
  readonly clock: Clock
  readonly timers: Timers
  /** Processor time of this thread. */
  readonly processorMs: () => number
  /** Document workers that share the processors with this one, itself included. */
  readonly workers: number
  /** Runs `work` after other events were handled. */
  readonly soon: (work: () => void) => void
  /** No turn is under way, nor anything else of which turns are taken at its end. */
  readonly isBetween: () => boolean
  /** Takes turns again, and sends away what comes of them. */
  readonly again: () => void
  /** Sends away what turns brought so far. */
  readonly flush: () => void
}

/**
 * Takes the turns of one document worker, a moment at a time. While others work, a workspace in debt gets short slices, each after other events
 * were handled; and one that uses more than a quarter of all workers rests in between, at least as long as it worked. So whoever uses little
 * finds the worker free most of the time, and the processors have room for the threads that store and send. [WS-12, G9]
 */
export class TurnTaker implements RoomTurns {
  private readonly turns = new Turns<RoomTurn>()
  private readonly given: TurnTakerOptions
  private readonly restsFromMs: number
  /** Rooms in which turns were taken. */
  private readonly turning = new Set<{ turnsEnded(): void }>()
  /** A turn is being taken: it is charged as a whole. */
  private inTurn = false
  private isMoreDue = false
  /** Workspaces in debt may have a slice now. */
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

  connectionOwesMs(connection: number): number {
    return this.turns.connectionOwesMs(connection, this.given.clock.monotonicMs())
  }

  spentElsewhere(spent: Iterable<readonly [string, number]>): void {
    this.turns.spentElsewhere(spent, this.given.clock.monotonicMs())
  }

  takeSpent(leastMs: number): readonly (readonly [string, number])[] {
    return this.turns.takeSpent(leastMs)
  }

  sweep(): void {
    this.turns.sweep(this.given.clock.monotonicMs())
  }

  /** Calls `turnsEnded` when the turns that are taken now are over. */
  afterTurns(room: { turnsEnded(): void }): void {
    this.turning.add(room)
  }

  /** Takes turns for a moment; those that are left wait until other events were handled, so that none of them waits long. */
  take(): void {
    const startedMs = this.given.clock.monotonicMs()
    this.takeUntil(startedMs + SLICE_MS, startedMs)
    this.endTurns()
    this.isDebtorsTime = false
    this.takeMoreLater()
  }

  private takeUntil(untilMs: number, startedMs: number): void {
    const { clock } = this.given
    for (let nowMs = startedMs; nowMs < untilMs; nowMs = clock.monotonicMs()) {
      const owesMs = this.turns.nextOwesMs(nowMs)
      if (owesMs === null) return
      // Everybody who waits owes at least as much.
      if (this.isDebtor(owesMs, nowMs)) return this.debtorsSlice(nowMs, owesMs)
      this.takeOne(nowMs, untilMs)
    }
  }

  private debtorsSlice(startedMs: number, owesMs: number): void {
    if (!this.isDebtorsTime || startedMs < this.restUntilMs) return
    // What others wait for leaves first.
    this.endTurns()
    this.given.flush()
    const { clock } = this.given
    const untilMs = startedMs + DEBTOR_SLICE_MS
    let nowMs = startedMs
    do nowMs = this.takeOne(nowMs, untilMs)
    while (nowMs < untilMs && (this.turns.nextOwesMs(nowMs) ?? 0) > DEBTOR_MS)
    if (owesMs <= this.restsFromMs) return
    const workedMs = nowMs - startedMs
    this.restUntilMs = clock.monotonicMs() + workedMs * Math.min(LONGEST_REST, owesMs / this.restsFromMs)
  }

  /** Answers what time it is afterwards. */
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
    this.turning.clear()
  }

  /** Has the turns that are left taken later. */
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
