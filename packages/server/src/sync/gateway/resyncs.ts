import { bindingOf, type Connection, canWrite, identityOf } from './connection.ts'
import { type SessionContext, writeBucketKey } from './session-context.ts'

/** How often waiting resyncs are looked at; no timer runs while none waits. */
const TICK_MS = 25
/** A resync is sent at the latest so long after the drop, and to one connection at most so often. [WS-29] */
const LATEST_MS = 5_000
const EVERY_MS = 1_000

/** Step1 messages that are owed for dropped writes. */
export class Resyncs {
  readonly #context: SessionContext
  readonly #waiting = new Set<Connection>()
  #cancel: (() => void) | null = null

  constructor(context: SessionContext) {
    this.#context = context
  }

  request(connection: Connection, afterMs: number): void {
    const nowMs = this.#context.clock.monotonicMs()
    if (connection.resync !== null) return
    connection.resync = { dueMs: Math.max(nowMs + afterMs, connection.resyncedMs + EVERY_MS), latestMs: nowMs + LATEST_MS }
    this.#waiting.add(connection)
    this.#schedule()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#waiting.clear()
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#waiting.size === 0) return
    this.#cancel = this.#context.timers.after(TICK_MS, () => {
      this.#cancel = null
      const nowMs = this.#context.clock.monotonicMs()
      for (const connection of this.#waiting) if (this.#settled(connection, nowMs)) this.#waiting.delete(connection)
      this.#schedule()
    })
  }

  /** Sends the step1 when its time has come; the step2 it brings takes the token taken here. */
  #settled(connection: Connection, nowMs: number): boolean {
    const binding = bindingOf(connection)
    const identity = identityOf(connection)
    if (connection.resync === null || binding === null || identity === null || !canWrite(binding.level)) {
      connection.resync = null
      return true
    }
    const { dueMs, latestMs } = connection.resync
    if (nowMs < dueMs) return false
    if (nowMs < latestMs) {
      const take = this.#context.rateLimiter.take(writeBucketKey(identity.access.workspaceId), this.#context.settings.writes)
      if (!take.taken) return false
    }
    connection.resync = null
    connection.resyncedMs = nowMs
    binding.stepTwoPaid = true
    const { room } = binding
    this.#context.rooms.post(room, { kind: 'resync', room: room.number, connection: connection.id })
    return true
  }
}
