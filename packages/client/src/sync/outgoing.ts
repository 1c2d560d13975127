import { chunkFrames, syncFrame } from '@docrelay/protocol/codec'
import { CHUNK_PAYLOAD_BYTES, SYNC } from '@docrelay/protocol/frames'
import type { Environment } from '../environment.ts'
import { mergeInTurns } from './merge-updates.ts'
import { SaveTracker } from './save-tracker.ts'
import { SendPace } from './send-pace.ts'
import type { SyncConnection } from './sync-connection.ts'

/** A larger message may take longer on a slow link than the time limit of a heartbeat's echo. */
const LARGE_BYTES = 64 * 1024

/**
 * Sends edits to the relay over the current binding: gathers updates, cuts large messages into chunks, and tracks which edits are durable.
 * [WS-29, WS-35, WS-38..WS-41]
 */
export class Outgoing {
  readonly #connection: Pick<SyncConnection, 'canSend' | 'send'>
  readonly #environment: Environment
  /** Returns how many edits were made so far. */
  readonly #edits: () => number
  readonly #tracker = new SaveTracker()
  readonly #pace = new SendPace()
  #pending: Uint8Array[] = []
  #cancelFlush: (() => void) | null = null
  /** True once the answer to the relay's step1 was sent. Later updates depend on the content of that answer. */
  #step2Sent = false
  /** Ordinal of the newest large message that is not acknowledged; 0 without one. */
  #large = 0
  maxMessageBytes: number = CHUNK_PAYLOAD_BYTES

  constructor(connection: Pick<SyncConnection, 'canSend' | 'send'>, environment: Environment, edits: () => number) {
    this.#connection = connection
    this.#environment = environment
    this.#edits = edits
  }

  /** Resets the counts for the next binding. Its step2 will carry the gathered updates. */
  left(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    this.#pending = []
    this.#step2Sent = false
    this.#large = 0
    this.#tracker.joined()
  }

  /** Sends a step2, which carries everything that the relay lacks, pending updates included. */
  answer(step2: Uint8Array): void {
    this.#pending = []
    this.#step2Sent = true
    this.#sendWrite('step2', step2)
  }

  /** Queues an edit. An edit made before the step2 of the binding is not queued, because the step2 contains it. */
  add(update: Uint8Array): void {
    if (!this.#step2Sent) return
    this.#pending.push(update)
    if (this.#cancelFlush) return
    const delayMs = this.#pace.delayMs(this.#environment.now())
    if (delayMs === 0) this.flush()
    else this.#cancelFlush = this.#environment.after(delayMs, () => this.flush())
  }

  /** Sends the gathered updates without waiting for more. */
  flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    if (this.#pending.length === 0 || !this.#connection.canSend) return
    const update = mergeInTurns(this.#pending)
    this.#pending = []
    this.#pace.sent(this.#environment.now())
    this.#sendWrite('update', update)
  }

  acked(ordinal: number): void {
    this.#tracker.acked(ordinal)
    this.#pace.acked()
    if (ordinal >= this.#large) this.#large = 0
  }

  refused(ordinal: number): void {
    this.#tracker.refused(ordinal)
  }

  /** Slows down, because the relay refused a message for its rate. */
  limited(): void {
    this.#pace.limited()
  }

  /** How many edits are durable, according to the acks of this binding. */
  get savedEdits(): number {
    return this.#tracker.savedEdits
  }

  /** True when the relay has acknowledged every edit. */
  get isSettled(): boolean {
    return this.#pending.length === 0 && this.#step2Sent && this.#tracker.everythingSaved
  }

  /** Whether a large message may be under way. Bytes that left the page may still wait in the platform, so it counts until it is acknowledged. */
  get isLargeUnderWay(): boolean {
    return this.#large > 0
  }

  #sendWrite(kind: 'step2' | 'update', update: Uint8Array): void {
    if (!this.#connection.canSend) return
    const ordinal = this.#tracker.sent(kind, this.#edits())
    const frame = syncFrame(SYNC[kind], update)
    if (frame.length > LARGE_BYTES) this.#large = ordinal
    if (frame.length <= this.maxMessageBytes) return this.#connection.send(frame)
    const messageId = Uint8Array.from({ length: 16 }, () => Math.floor(this.#environment.random() * 256))
    const pieceBytes = Math.min(CHUNK_PAYLOAD_BYTES, this.maxMessageBytes)
    for (const chunk of chunkFrames(frame, messageId, pieceBytes)) this.#connection.send(chunk)
  }
}
