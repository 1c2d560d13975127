import type { DocumentRef } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import { LIGHT_BOUNDS } from '../room/room-bounds.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { EndedRun, MoveReason, WorkerPool } from '../worker-pool.port.ts'
import type { DocumentWorkers } from './document-workers.ts'
import { LightHome } from './light-home.ts'
import { LightRooms } from './light-rooms.ts'
import { LoopUse } from './loop-use.ts'

/** The number of the home on the main loop. The numbers of document workers start at 0. */
export const LIGHT_HOME = -1

/**
 * With `auto`, small and quiet documents are on the main loop. The two others are for tests: `light` ignores how busy the loop is, and
 * `heavy` uses only document workers.
 */
export type Placement = 'auto' | 'light' | 'heavy'

export interface RoomHomesOptions extends Omit<ConstructorParameters<typeof LightHome>[0], 'deliver'> {
  readonly threads: DocumentWorkers
  readonly placement?: Placement
}

/** A main loop that works for `FULL_SHARE` of its time gets no more rooms. Above `TOO_FULL_SHARE` its rooms move to document workers. */
const FULL_SHARE = 0.6
const TOO_FULL_SHARE = 0.75
/** When the loop works less than this share of its time and has no light rooms, the checks stop until the next message. */
const RESTING_SHARE = 0.02
/**
 * The interval of the checks of the main loop and its rooms. Each check moves at most one room, because each move makes the new home load
 * the document.
 */
const CHECK_MS = 500

/** Opens the homes of rooms: the main loop for small and quiet documents, document workers for all others. [C1, C2, C8] */
export function openRoomHomes(options: RoomHomesOptions): WorkerPool & AsyncDisposable {
  return new RoomHomes(options)
}

class RoomHomes implements WorkerPool, AsyncDisposable {
  readonly #threads: DocumentWorkers
  readonly #light: LightHome
  readonly #rooms = new LightRooms()
  readonly #use = new LoopUse()
  readonly #placement: Placement
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #listeners: ((home: number, message: FromWorker) => void)[] = []
  readonly #misplaced: ((room: number, reason: MoveReason) => void)[] = []
  #lastMoveMs = Number.NEGATIVE_INFINITY
  /** Is `null` while the checks are stopped. They stop because each check wakes the processor. */
  #cancelCheck: (() => void) | null = null

  constructor({ threads, placement = 'auto', ...given }: RoomHomesOptions) {
    this.#threads = threads
    this.#placement = placement
    this.#clock = given.clock
    this.#timers = given.timers
    this.#light = new LightHome({ ...given, workers: threads.count + 1, deliver: (message) => this.#received(message) })
    threads.onMessage((home, message) => {
      if (message.kind === 'spent') this.#light.post(message)
      this.#tell(home, message)
    })
    threads.onMisplaced((room) => this.#mayMove(room))
  }

  homeFor(ref: DocumentRef, sizeBytes = 0): number {
    return this.#isLight(ref, sizeBytes) ? LIGHT_HOME : this.#threads.homeFor(ref, sizeBytes)
  }

  keepApart(ref: DocumentRef): void {
    this.#threads.keepApart(ref)
  }

  #isLight(ref: DocumentRef, sizeBytes: number): boolean {
    if (this.#placement === 'heavy' || sizeBytes > LIGHT_BOUNDS.stateBytes || this.#threads.isApart(ref, sizeBytes)) return false
    if (this.#rooms.isAway(ref, this.#clock.monotonicMs())) return false
    return this.#placement === 'light' || this.#use.share < FULL_SHARE
  }

  takes(home: number, message: ToWorker): boolean {
    if (home !== LIGHT_HOME || message.kind !== 'sync' || message.payload.length <= LIGHT_BOUNDS.messageBytes) return true
    this.#rooms.stayAway(message.room, this.#clock.monotonicMs())
    return false
  }

  post(home: number, message: ToWorker): void {
    this.#cancelCheck ??= this.#checkLater()
    if (home !== LIGHT_HOME) return this.#threads.post(home, message)
    this.#rooms.sent(message, this.#clock.monotonicMs())
    this.#light.post(message)
  }

  onMessage(listener: (home: number, message: FromWorker) => void): void {
    this.#listeners.push(listener)
  }

  onMisplaced(listener: (room: number, reason: MoveReason) => void): void {
    this.#misplaced.push(listener)
  }

  onEnded(listener: (home: number, running: EndedRun | null) => void): void {
    this.#threads.onEnded(listener)
  }

  #received(message: FromWorker): void {
    const outgrown = this.#rooms.received(message, this.#clock.monotonicMs())
    if (outgrown !== null) this.#move(outgrown, 'must')
    if (message.kind === 'spent') this.#threads.spentElsewhere(message.workspaces)
    this.#tell(LIGHT_HOME, message)
  }

  #tell(home: number, message: FromWorker): void {
    for (const listener of this.#listeners) listener(home, message)
  }

  #checkLater(): () => void {
    return this.#timers.after(CHECK_MS, () => {
      this.#use.read()
      const isAtRest = this.#rooms.count === 0 && this.#use.share < RESTING_SHARE
      this.#cancelCheck = isAtRest ? null : this.#checkLater()
      if (this.#placement !== 'auto') return
      const room = this.#rooms.busiest(this.#use.share > TOO_FULL_SHARE, this.#clock.monotonicMs())
      if (room !== null) this.#giveAway(room)
    })
  }

  #giveAway(room: number): void {
    this.#rooms.stayAway(room, this.#clock.monotonicMs())
    this.#mayMove(room)
  }

  /**
   * Moves a room, unless a room has moved less than about half a second ago. A skipped request comes again for as long as its room is
   * misplaced.
   */
  #mayMove(room: number): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lastMoveMs < CHECK_MS * 0.9) return
    this.#lastMoveMs = nowMs
    this.#move(room, 'may')
  }

  #move(room: number, reason: MoveReason): void {
    for (const listener of this.#misplaced) listener(room, reason)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelCheck?.()
    await Promise.all([this.#light[Symbol.asyncDispose](), this.#threads[Symbol.asyncDispose]()])
  }
}
