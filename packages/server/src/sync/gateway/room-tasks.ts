import type { DocumentHead, DocumentRef, DocumentStore } from '../../documents/document-store.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'
import { cannotLoad, failed, NOT_DONE, type RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import { isHeld, type OpenOutcome, type Room, type RoomTable } from './room-table.ts'
import type { Entered } from './rooms.ts'

export interface RoomTasksDeps {
  readonly table: RoomTable
  readonly jobs: RoomJobs
  readonly moves: RoomMoves
  readonly store: Pick<DocumentStore, 'state'>
  readonly clock: Clock
  readonly timers: Timers
  /** Enters a document. `opened` waits for its room. */
  readonly enter: (head: DocumentHead, opened: (room: Room) => Promise<OpenOutcome>) => Promise<Entered>
  /** Closes the room of a document that is gone. */
  readonly drop: (ref: DocumentRef) => Promise<unknown>
  /** Called when another node owns the document of a room that runs here. */
  readonly taken: (room: Room) => void
}

/** How long a call waits, from its beginning, until the owner of its document can be reached. [LIFE-25] */
const OWNER_MS = 2_000
/**
 * When a call loses its owner late, the call still waits this long. Within this time another node may become the owner, or the link may
 * come up again.
 */
const LOST_OWNER_MS = 500

/** Outcomes that answer a reader. They must not come from a node that has lost the document. [LIFE-11] */
const READINGS: ReadonlySet<TaskOutcome['kind']> = new Set(['settled', 'encoded'])

/** Runs tasks in the rooms of documents, in any home. */
export class RoomTasks {
  readonly #deps: RoomTasksDeps

  constructor(deps: RoomTasksDeps) {
    this.#deps = deps
  }

  /**
   * Runs a task in the room of a document. When there is no room, opens one if `opens` returns true for the document. Returns `null`
   * when no room is opened or the document is gone.
   */
  async runOpened(ref: DocumentRef, task: RoomTask, opens: (head: DocumentHead) => boolean): Promise<TaskOutcome | null> {
    const beganMs = this.#deps.clock.monotonicMs()
    for (let attempt = 0; attempt < 3; attempt++) {
      let room = await this.#resident(ref, beganMs)
      if (room === null) {
        const state = await this.#deps.store.state(ref)
        if (state.kind !== 'document' || !opens(state.head)) return null
        const entered = await this.#deps.enter(state.head, (entering) => this.#opened(entering, beganMs))
        if (entered.kind === 'gone') return null
        if (entered.kind !== 'open') throw cannotLoad(entered.kind, ref)
        room = entered.room
      }
      const outcome = await this.run(room, task, undefined, beganMs)
      if (outcome.kind === 'gone') return null
      if (outcome.kind !== 'failed' && outcome.kind !== 'moved') return outcome
      if (room.phase !== 'closed') throw failed(outcome)
    }
    throw new RelayError('UNAVAILABLE', 'The document was closed several times while it was being read.')
  }

  /** Runs a write in the room of a document; `gone` when there is none. Closes the room of a document that is gone. */
  async runWrite(ref: DocumentRef, task: RoomTask, signal?: AbortSignal): Promise<TaskOutcome> {
    const beganMs = this.#deps.clock.monotonicMs()
    const room = await this.#resident(ref, beganMs)
    if (room === null) return { kind: 'gone' }
    const outcome = await this.run(room, task, signal, beganMs)
    if (outcome.kind === 'gone') await this.#deps.drop(ref)
    return outcome
  }

  /**
   * Runs a task in an open room. When the home of the room must not run the task, the room moves, and the next home runs it. [C8]
   * When the task was not done because another node became the owner, that node runs it. [LIFE-25]
   *
   * @param beganMs the monotonic time at which the call of this task began
   */
  async run(room: Room, task: RoomTask, signal?: AbortSignal, beganMs = this.#deps.clock.monotonicMs()): Promise<TaskOutcome> {
    for (;;) {
      const { turning } = room
      const outcome = await this.#deps.jobs.run(room, task, signal)
      if (outcome.kind === 'elsewhere') this.#deps.moves.begin(room, 'must')
      // A node that was paused may have lost the document without noticing. Only the row of the document shows that.
      else if (READINGS.has(outcome.kind) && (await this.#isTaken(room))) this.#deps.taken(room)
      else if (room.placings === 0 || room.turning === turning || !isUndone(outcome)) return outcome
      // The answer is not `gone`, because a document whose room was closed may still exist, with edits that only its owner has. A
      // reader looks it up again. [LIFE-11]
      if ((await this.#opened(room, beganMs)) !== 'opened') return NOT_DONE
    }
  }

  /** Waits until a room is open. Returns `unreachable` when no owner could be reached within the waiting time of a call. */
  async #opened(room: Room, beganMs: number): Promise<OpenOutcome> {
    const { clock, timers } = this.#deps
    const { turning } = room
    for (;;) {
      let cancel = (): void => undefined
      const late = new Promise<null>((resolve) => {
        const leftMs = Math.max(LOST_OWNER_MS, OWNER_MS - (clock.monotonicMs() - beganMs))
        cancel = timers.after(leftMs, () => resolve(null))
      })
      const outcome = await Promise.race([turning, late])
      cancel()
      if (outcome !== null) return outcome
      if (room.home === null) return 'unreachable'
    }
  }

  /**
   * Whether another node has taken a document of this node. False when the store does not answer; then a reader gets no answer from
   * the store either.
   */
  async #isTaken({ ref, key, epoch, tenure }: Room): Promise<boolean> {
    if (epoch === null) return false
    const state = await this.#deps.store.state(ref).catch(() => null)
    return state?.kind === 'document' && state.head.key === key && !isHeld({ epoch, tenure }, state.head.owner)
  }

  /** Returns the room of a document when it is open, otherwise `null`. Throws UNAVAILABLE when its owner cannot be reached. */
  async #resident(ref: DocumentRef, beganMs: number): Promise<Room | null> {
    const { table } = this.#deps
    for (let room = table.of(ref); room; room = table.of(ref)) {
      if (room.phase === 'open') return room
      const evicting = room.phase === 'evicting'
      const opened = await this.#opened(room, beganMs)
      if (opened === 'unreachable') throw cannotLoad(opened, ref)
      if (opened !== 'opened' && !evicting) return null
    }
    return null
  }
}

/** Whether a task has certainly stored nothing. */
function isUndone(outcome: TaskOutcome): boolean {
  return outcome.kind === 'moved' || (outcome.kind === 'failed' && outcome.code === 'UNAVAILABLE')
}
