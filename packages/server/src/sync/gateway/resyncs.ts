import { bindingOf, type Connection, canWrite, identityOf } from './connection.ts'
import { type Taking, writeBucketKey } from '../../access/rate-limiter.port.ts'
import type { SessionContext } from './session-context.ts'

/** Least time between two checks of waiting resyncs; no timer runs while none waits. */
const TICK_MS = 25
/** A resync is sent at most this long after the drop. Its step2 is then awaited for at most the same time. [WS-29] */
const LATEST_MS = 5_000

/** Sends step1 messages to connections whose writes were dropped, so that they send these writes again. */
export class Resyncs {
  readonly #context: SessionContext
  readonly #waiting = new Set<Connection>()
  #cancel: (() => void) | null = null

  constructor(context: SessionContext) {
    this.#context = context
  }

  /**
   * Requests a step1 after `afterMs`. `drops`: updates of the client are dropped until the client answers, because the answer contains
   * them.
   */
  request(connection: Connection, afterMs: number, drops: boolean): void {
    const nowMs = this.#context.clock.monotonicMs()
    if (connection.resync !== null) return
    connection.resync = { dueMs: nowMs + afterMs, latestMs: nowMs + LATEST_MS, drops, paid: false }
    this.#waiting.add(connection)
    this.#schedule(Math.min(TICK_MS, afterMs))
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = null
    this.#waiting.clear()
  }

  #schedule(waitMs: number): void {
    if (this.#waiting.size === 0) return
    this.#cancel?.()
    this.#cancel = this.#context.timers.after(Math.max(1, waitMs), () => {
      this.#cancel = null
      const nowMs = this.#context.clock.monotonicMs()
      let nextMs = TICK_MS
      for (const connection of this.#waiting) {
        if (this.#settled(connection, nowMs)) this.#waiting.delete(connection)
        else nextMs = Math.min(nextMs, Math.max(1, (connection.resync?.dueMs ?? nowMs) - nowMs))
      }
      this.#schedule(nextMs)
    })
  }

  /** Makes a resync wait until a bucket that is shared with other nodes answers whether a token was taken. */
  #askLater(connection: Connection, take: Promise<Taking>): void {
    const { resync } = connection
    if (resync === null) return
    const asked = { ...resync, dueMs: resync.latestMs }
    connection.resync = asked
    void take.then((taking) => {
      if (connection.resync !== asked) return
      const waitMs = taking.taken ? 0 : taking.retryAfterMs
      const dueMs = Math.min(asked.latestMs, this.#context.clock.monotonicMs() + waitMs)
      connection.resync = { ...asked, dueMs, paid: taking.taken }
      this.#schedule(Math.min(TICK_MS, waitMs))
    })
  }

  /** Sends the step1 when it is due and a token is free. Returns true when the resync is done. The token also covers the answering step2. */
  #settled(connection: Connection, nowMs: number): boolean {
    const binding = bindingOf(connection)
    const identity = identityOf(connection)
    if (connection.resync === null || binding === null || identity === null || !canWrite(binding.level)) {
      connection.resync = null
      return true
    }
    const { dueMs, latestMs, drops, paid } = connection.resync
    if (nowMs < dueMs) return false
    if (nowMs < latestMs && !paid) {
      const take = this.#context.rateLimiter.take(writeBucketKey(identity.access.workspaceId), this.#context.settings.writes)
      if (take instanceof Promise) {
        this.#askLater(connection, take)
        return false
      }
      if (!take.taken) {
        connection.resync = { dueMs: nowMs + take.retryAfterMs, latestMs, drops, paid }
        return false
      }
    }
    connection.resync = null
    binding.stepTwo = { dropsUntilMs: drops ? nowMs + LATEST_MS : nowMs }
    binding.isAsked = false
    const { room } = binding
    this.#context.rooms.post(room, { kind: 'resync', room: room.number, connection: connection.id })
    return true
  }
}
