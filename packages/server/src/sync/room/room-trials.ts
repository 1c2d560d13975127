import { fullState } from './room-content.ts'
import { type CutOwner, cutWrite } from './room-cut.ts'
import type { LiveContent } from './room-content.ts'
import type { RoomAnswers } from './room-answers.ts'
import type { Backlog } from './room-backlog.ts'
import { refusedWrite, type Write } from './room-edits.ts'
import { type RoomHost, watched } from './room-host.ts'
import type { Member } from './room-members.ts'
import type { SyncRoom } from './sync-room.ts'

/** The part of `RoomSync` that `WriteTrials` needs. */
export interface TrialOwner extends CutOwner {
  readonly backlog: Backlog
  readonly answers: Pick<RoomAnswers, 'held'>
  /** Accepts a write, which is queued or tried. */
  take(member: Member, write: Write): void
  /** Queues a write for the next turn of its connection. */
  enqueue(member: Member, write: Write): void
  flushTurn(): void
  pause(): void
  resume(): void
  commit(live: LiveContent, update: Uint8Array, origin: unknown): void
  settleAfter(member: Member, write: Write): void
  learn(member: Member, bytes: number, tookMs: number): void
}

interface Trial {
  readonly tried: Write
  /** Later writes of the same connection. */
  readonly waiting: Write[]
}

/**
 * Writes that are not applied at once: large ones are first tried on a copy, and costly ones are applied in pieces. Later writes of the
 * same connection wait behind them. [G9, G10]
 */
export class WriteTrials {
  private readonly owner: TrialOwner
  private readonly room: SyncRoom
  private readonly host: RoomHost
  private readonly trials = new Map<Member, Trial>()

  constructor(owner: TrialOwner, room: SyncRoom) {
    this.owner = owner
    this.room = room
    this.host = room.host
  }

  get isEmpty(): boolean {
    return this.trials.size === 0
  }

  /** Takes a write that must wait behind another write or be tried first. Returns false for any other write. */
  takes(member: Member, write: Write): boolean {
    const trial = this.trials.get(member)
    if (trial !== undefined) {
      trial.waiting.push(write)
      return true
    }
    if (write.readOnly || write.update.length <= this.host.options.trialBytes || !this.needsTrial(write.update)) return false
    this.owner.flushTurn()
    void this.tryWrite(member, write)
    return true
  }

  /** The highest waiting ordinal of each connection. */
  ordinals(): (readonly [Member, number])[] {
    return [...this.trials].map(([member, { tried, waiting }]) => [member, (waiting.at(-1) ?? tried).ordinal])
  }

  /** Discards the writes of a connection that wait behind its trial. */
  forget(member: Member): void {
    this.trials.get(member)?.waiting.splice(0)
  }

  close(): void {
    this.trials.clear()
  }

  private needsTrial(update: Uint8Array): boolean {
    this.owner.flushTurn()
    const inspection = watched(this.host, this.room, update.length, () => this.host.guard.inspect(update, this.room.live()))
    return inspection.kind === 'ok' && !inspection.noop
  }

  /** First applies a large message to a copy in another thread. Later messages of its sender wait. [G10] */
  private async tryWrite(member: Member, write: Write): Promise<void> {
    const trial = { tried: write, waiting: [] as Write[] }
    this.trials.set(member, trial)
    this.owner.backlog.remove(member, write)
    const state = fullState(this.room.content(), this.room.log.emitted)
    const passed = await this.host.scratch.trial(this.room.workspaceId, state, write.update)
    this.host.turn(() => {
      if (this.trials.get(member) !== trial) return
      this.trials.delete(member)
      this.owner.backlog.add(member, write)
      if (passed) this.owner.enqueue(member, write)
      else {
        this.host.count('trials_failed')
        const refusal = { code: 'ERR_BAD_UPDATE', text: 'the update cannot be applied in time' } as const
        this.owner.enqueue(member, { ...write, ...refusedWrite(write.ordinal, refusal) })
        this.owner.flushTurn()
        this.host.emit({ kind: 'expel', connection: member.connection, code: 1003, word: 'protocol' })
      }
      for (const next of trial.waiting) this.owner.take(member, next)
    })
  }

  /** Applies a costly write in pieces. Later messages of its sender wait. [G9] */
  cut(member: Member, write: Write, behind: readonly Write[]): void {
    const trial = { tried: write, waiting: [...behind] }
    this.trials.set(member, trial)
    const run = async (): Promise<void> => {
      if (!this.room.isReady || this.trials.get(member) !== trial) return
      this.host.turn(() => this.owner.pause())
      this.owner.answers.held.doubt()
      const outcome = await cutWrite(this.owner, member, write, (tookMs) => this.owner.learn(member, write.update.length, tookMs))
      if (outcome.kind === 'lost' || !this.room.isReady) return
      this.host.turn(() => {
        if (outcome.kind === 'applied')
          for (const { update, origin } of outcome.emitted) this.owner.commit(this.room.live(), update, origin)
        this.owner.settleAfter(member, write)
        this.room.weighed()
        this.trials.delete(member)
        this.owner.answers.held.trust()
        this.owner.resume()
        for (const next of trial.waiting) this.owner.take(member, next)
      })
    }
    void this.room.alone(run).catch((error: unknown) => this.host.turn(() => this.room.failed(error)))
  }
}
