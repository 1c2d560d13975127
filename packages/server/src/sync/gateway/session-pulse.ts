import { chunksExpired, clearChunks } from './chunks.ts'
import { bindingOf, type Connection, identityOf, PAUSE } from './connection.ts'
import { tokenEnd } from './session-auth.ts'
import type { SessionContext } from './session-context.ts'

/** The interval of the one timer that checks all connections. */
const BEAT_MS = 250
const PING_EVERY_MS = 30_000
const SILENT_MS = 60_000

export interface PulseDeps extends SessionContext {
  readonly connections: ReadonlyMap<number, Connection>
  readonly maxMessagesPerSec: number
  resume(connection: Connection, reason: number): void
  gone(connection: Connection): void
}

/**
 * Checks all connections for timed work: AUTH deadlines, token ends, pings, silent peers, unfinished chunks, reading rates. The
 * timer runs only while there is something to check, because each beat wakes the processor.
 */
export class Pulse {
  /** Monotonic time of the last check, or of `begin`. It is exact enough to record when a peer was last heard. */
  nowMs: number
  readonly #deps: PulseDeps
  #cancel: (() => void) | null = null

  constructor(deps: PulseDeps) {
    this.#deps = deps
    this.nowMs = deps.clock.monotonicMs()
  }

  /** Starts the timer unless it runs. Call it whenever a connection opens. */
  begin(): void {
    if (this.#cancel !== null) return
    this.nowMs = this.#deps.clock.monotonicMs()
    this.#cancel = this.#beatLater()
  }

  stop(): void {
    this.#cancel?.()
  }

  #beatLater(): () => void {
    return this.#deps.timers.after(BEAT_MS, () => this.#beat())
  }

  #beat(): void {
    const { clock, connections, byteBuckets } = this.#deps
    this.nowMs = clock.monotonicMs()
    byteBuckets.sweep(this.nowMs)
    this.#cancel = connections.size > 0 || !byteBuckets.isEmpty ? this.#beatLater() : null
    const wallMs = clock.nowMs()
    for (const connection of connections.values()) this.#check(connection, wallMs)
  }

  #check(connection: Connection, wallMs: number): void {
    const { state } = connection
    if (state.kind === 'closed') return
    // A token check in progress is allowed to finish. [WS-7]
    if (state.kind === 'unauthenticated' && !state.isRefused && !connection.busy && this.nowMs >= state.deadlineMs) {
      this.#deps.close(connection, 4408, 'auth-timeout')
      return
    }
    const ended = tokenEnd(this.#deps, connection, wallMs)
    if (ended !== null) {
      this.#deps.close(connection, 4401, ended)
      return
    }
    this.#reading(connection)
    this.#life(connection)
    this.#chunks(connection)
  }

  #reading(connection: Connection): void {
    if (connection.windowFrames === 0) return
    const { maxMessagesPerSec } = this.#deps
    const drained = (maxMessagesPerSec * BEAT_MS) / 1000
    connection.windowFrames = drained === Number.POSITIVE_INFINITY ? 0 : Math.max(0, connection.windowFrames - drained)
    if (connection.windowFrames <= maxMessagesPerSec / 2) this.#deps.resume(connection, PAUSE.rate)
  }

  /** Pings a connection, and ends a connection that has been silent for too long. [WS-50] */
  #life(connection: Connection): void {
    // While reading is paused, nothing from the peer can be read, so the peer counts as alive.
    if (connection.paused !== 0) connection.heardMs = this.nowMs
    if (this.nowMs - connection.heardMs >= SILENT_MS) {
      this.#deps.gone(connection)
      connection.wire.terminate()
    } else if (this.nowMs - connection.pingedMs >= PING_EVERY_MS) {
      connection.pingedMs = this.nowMs
      connection.wire.ping()
    }
  }

  /**
   * Handles chunks that expired. With `ack`, client and relay would count messages differently afterwards, so the connection is closed.
   * Without `ack`, the relay asks for the lost content. [WS-36, WS-39]
   */
  #chunks(connection: Connection): void {
    const binding = bindingOf(connection)
    if (binding === null || binding.chunks === null || !chunksExpired(binding.chunks, this.nowMs)) return
    if (identityOf(connection)?.ack === true) {
      this.#deps.close(connection, 1009, 'chunk-expired')
      return
    }
    clearChunks(binding.chunks, this.#deps.chunkBudget)
    this.#deps.requestResync(connection, 0)
  }
}
