import type { Clock } from '../kernel/clock.ts'
import { Pacer } from '../kernel/pacer.ts'
import { nodeGapMs, SCHEDULE } from '../kernel/schedule.ts'
import type { Timers } from '../kernel/timers.ts'
import type { NodeMessage } from '../sync/node-links.port.ts'
import { BatchWriter, MAX_BATCH_MESSAGES, readBatch } from './link-codec.ts'
import { LinkFrameError } from './link-frame-error.ts'
import {
  BATCH,
  creditFrame,
  LAST_PIECE,
  MAX_BATCH_BYTES,
  PIECE,
  PIECE_BYTES,
  readFrame,
  timeFrame,
  WHOLE_BYTES,
} from './link-frames.ts'
import type { Session } from './link-secrets.ts'
import type { LinkSocket } from './link-socket.ts'
import type { LinkTimes } from './link-times.ts'

/** At most about this many sent bytes may be without credit from the other side. Further batches wait in this process. */
export const CREDIT_BYTES = 8 * 1024 * 1024
/** A receiver gives credit whenever it has handled this many bytes, and with each ping. */
const CREDIT_STEP_BYTES = 512 * 1024
/** A link ends when more bytes than this wait for credit. The longest batch of the queue is not counted. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024
/** Only short frames need no credit. So when the socket buffers more bytes than this, the other side sends frames and does not read. */
const MOST_BUFFERED_BYTES = CREDIT_BYTES + 2 * WHOLE_BYTES
/** A batch that has reached this size is sent at once. */
const FULL_BATCH_BYTES = PIECE_BYTES

export type LinkEnd =
  /** The other side, or the network, ended the socket. */
  | 'closed'
  /** Nothing arrived for too long. */
  | 'silent'
  /** A frame was not well formed, or its seal did not open. */
  | 'bad-frame'
  /** Too many bytes waited, because the other side did not read. */
  | 'overrun'
  /** A newer link of the same node was accepted. */
  | 'replaced'
  /** The peer is no longer a live node. */
  | 'left'
  /** This node closed its links. */
  | 'stopped'

export interface LinkEvents {
  message(message: NodeMessage): void
  /** The link was full and has room again. */
  drained(): void
  /** Called once; no other event follows. */
  ended(why: LinkEnd): void
}

export interface LinkStats {
  readonly sentBytes: number
  readonly receivedBytes: number
  /** Bytes that were posted and that the other side has not yet confirmed as handled. */
  readonly bufferedBytes: number
  /** Round trip of the newest answered ping; null before the first answer. */
  readonly rttMs: number | null
}

export interface LinkOptions {
  readonly session: Session
  readonly socket: LinkSocket
  readonly events: LinkEvents
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  readonly times: LinkTimes
  /** Runs a function after the input of this round of the event loop is handled, so that messages of the round share a batch. */
  readonly soon: (run: () => void) => void
}

interface Waiting {
  readonly type: number
  readonly bytes: Uint8Array
}

/**
 * An open link. It gathers messages into batches, seals them, bounds how many bytes are on their way, and notices when the
 * other side is gone. [LIFE-25]
 */
export class Link {
  readonly #options: LinkOptions
  readonly #batch = new BatchWriter()
  readonly #pacer: Pacer
  /** Messages that were posted since the last request to the pacer. */
  #gathered = 0
  /** Frames that wait for credit, in order. */
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  /** Bytes of the longest batch that has waited since the queue was empty. */
  #longestBytes = 0
  /** Sent sealed bytes for which no credit has arrived. */
  #onItsWay = 0
  #isFull = false
  /** Handled sealed bytes for which this side has not given credit. */
  #owed = 0
  #pieces: Uint8Array[] = []
  #piecesBytes = 0
  #silentPings = 0
  #sentBytes = 0
  #receivedBytes = 0
  #rttMs: number | null = null
  #isEnded = false
  #cancelPing: () => void = () => undefined
  #cancelClose: () => void = () => undefined
  readonly #ended = Promise.withResolvers<void>()

  /** The link owns the socket from now on. */
  constructor(options: LinkOptions) {
    this.#options = options
    const { clock, timers, socket } = options
    this.#pacer = new Pacer({ widestMs: SCHEDULE.toNodeMs, clock, timers, gap: nodeGapMs, run: () => this.#flush() })
    socket.hear({ message: (bytes) => this.#receive(bytes), closed: () => this.end('closed') })
    this.#pingLater()
  }

  /** Resolves when the link has ended, after `events.ended`. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get isFull(): boolean {
    return this.#isFull
  }

  /**
   * Sends a message soon. Throws `TypeError` or `MessageTooLongError` for a message that cannot be sent; nothing changes then.
   */
  post(message: NodeMessage): void {
    if (this.#isEnded) return
    this.#batch.add(message)
    if (this.#isBatchFull()) this.#pacer.now()
    else if (this.#gathered++ === 0) this.#options.soon(() => this.#ask())
    if (this.#bufferedBytes() >= CREDIT_BYTES) this.#isFull = true
    if (this.#batch.bytes + this.#waitingBytes > MOST_WAITING_BYTES + this.#longestBytes) this.end('overrun')
  }

  stats(): LinkStats {
    return {
      sentBytes: this.#sentBytes,
      receivedBytes: this.#receivedBytes,
      bufferedBytes: this.#bufferedBytes(),
      rttMs: this.#rttMs,
    }
  }

  /**
   * Sends the posted messages for which there is credit, and ends the link when they have left, after `closeMs` at the latest.
   */
  close(): void {
    if (this.#isEnded) return
    this.#flush()
    if (this.#isEnded) return
    this.#options.socket.close()
    this.#cancelClose = this.#options.timers.after(this.#options.times.closeMs, () => this.end('stopped'))
  }

  end(why: LinkEnd): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#cancelPing()
    this.#cancelClose()
    this.#pacer[Symbol.dispose]()
    this.#batch.take()
    this.#waiting.length = 0
    this.#waitingBytes = 0
    this.#onItsWay = 0
    this.#isFull = false
    this.#pieces = []
    this.#options.socket.destroy()
    this.#options.events.ended(why)
    this.#ended.resolve()
  }

  #ask(): void {
    const items = this.#gathered
    this.#gathered = 0
    if (!this.#isEnded && this.#batch.count > 0) this.#pacer.request(items)
  }

  #bufferedBytes(): number {
    return this.#batch.bytes + this.#waitingBytes + this.#onItsWay
  }

  #isBatchFull(): boolean {
    return this.#batch.bytes >= FULL_BATCH_BYTES || this.#batch.count >= MAX_BATCH_MESSAGES
  }

  #flush(): void {
    if (this.#batch.count === 0 || this.#isEnded) return
    // The posted messages could not overtake the frames that wait for credit, so they stay in the batch until it is full.
    if (this.#waiting.length > 0 && !this.#isBatchFull()) return
    const { bytes, isGivenAway } = this.#batch.take()
    this.#longestBytes = Math.max(this.#longestBytes, bytes.length)
    if (bytes.length <= WHOLE_BYTES) this.#put(BATCH, bytes, isGivenAway)
    else
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const isLast = at + PIECE_BYTES >= bytes.length
        this.#put(isLast ? LAST_PIECE : PIECE, bytes.subarray(at, at + PIECE_BYTES), isGivenAway)
      }
  }

  /** Sends bytes when there is credit, else queues them. `isOwn`: nobody else changes the bytes, so they need no copy. */
  #put(type: number, bytes: Uint8Array, isOwn: boolean): void {
    if (this.#waiting.length === 0 && this.#hasCredit()) return this.#sendCounted({ type, bytes })
    this.#waiting.push({ type, bytes: isOwn ? bytes : bytes.slice() })
    this.#waitingBytes += bytes.length
  }

  /** Whether a frame may be sent now. The frame may exceed the credit, so at most the credit and one frame are on their way. */
  #hasCredit(): boolean {
    return this.#onItsWay < CREDIT_BYTES
  }

  #sendCounted({ type, bytes }: Waiting): void {
    this.#onItsWay += this.#send(Uint8Array.of(type), bytes)
  }

  #send(...parts: readonly Uint8Array[]): number {
    const { session, socket } = this.#options
    const frame = session.sealer.seal(...parts)
    this.#sentBytes += frame.length
    socket.send(frame)
    return frame.length
  }

  /** Sends a frame that needs no credit. */
  #sendShort(frame: Uint8Array): void {
    this.#send(frame)
    if (this.#options.socket.bufferedBytes() > MOST_BUFFERED_BYTES) this.end('overrun')
  }

  #receive(sealed: Uint8Array): void {
    if (this.#isEnded) return
    this.#silentPings = 0
    this.#receivedBytes += sealed.length
    try {
      this.#handle(this.#options.session.opener.open(sealed), sealed.length)
    } catch (error) {
      if (!(error instanceof LinkFrameError)) throw error
      this.end('bad-frame')
    }
  }

  #handle(opened: Uint8Array, sealedBytes: number): void {
    const frame = readFrame(opened)
    switch (frame.kind) {
      case 'ping':
        return this.#sendShort(timeFrame('pong', frame.sentMs))
      case 'pong': {
        const rttMs = this.#options.clock.monotonicMs() - frame.sentMs
        if (rttMs >= 0) this.#rttMs = rttMs
        return
      }
      case 'credit':
        return this.#credited(frame.bytes)
      case 'batch':
        if (this.#pieces.length > 0) throw new LinkFrameError('a batch between pieces')
        this.#deliver(frame.bytes)
        break
      case 'piece':
      case 'last-piece':
        this.#piece(frame.bytes, frame.kind === 'last-piece')
        break
    }
    this.#owed += sealedBytes
    if (this.#owed >= CREDIT_STEP_BYTES) this.#giveCredit()
  }

  #deliver(batch: Uint8Array): void {
    for (const message of readBatch(batch)) {
      // A listener may have ended the link.
      if (this.#isEnded) return
      this.#options.events.message(message)
    }
  }

  #piece(bytes: Uint8Array, isLast: boolean): void {
    // Without this check an endless series of empty pieces would take memory and never reach the bound on bytes.
    if (!isLast && bytes.length !== PIECE_BYTES) throw new LinkFrameError('a piece of another length')
    this.#piecesBytes += bytes.length
    if (this.#piecesBytes > MAX_BATCH_BYTES) throw new LinkFrameError('a batch is too long')
    this.#pieces.push(bytes)
    if (!isLast) return
    const batch = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#piecesBytes = 0
    this.#deliver(batch)
  }

  #giveCredit(): void {
    if (this.#owed === 0 || this.#isEnded) return
    const frame = creditFrame(this.#owed)
    this.#owed = 0
    this.#sendShort(frame)
  }

  #credited(bytes: number): void {
    if (bytes > this.#onItsWay) throw new LinkFrameError('credit for more than was sent')
    this.#onItsWay -= bytes
    let sent = 0
    for (let next = this.#waiting[sent]; next !== undefined && this.#hasCredit(); next = this.#waiting[++sent]) {
      this.#waitingBytes -= next.bytes.length
      this.#sendCounted(next)
    }
    this.#waiting.splice(0, sent)
    if (this.#waiting.length === 0) {
      this.#longestBytes = 0
      this.#flush()
    }
    if (!this.#isFull || this.#bufferedBytes() > CREDIT_BYTES / 2) return
    this.#isFull = false
    this.#options.events.drained()
  }

  #pingLater(): void {
    const { timers, times } = this.#options
    this.#cancelPing = timers.after(times.pingMs, () => this.#ping())
  }

  #ping(): void {
    if (this.#silentPings >= this.#options.times.silentPings) return this.end('silent')
    this.#silentPings++
    this.#giveCredit()
    if (!this.#isEnded) this.#sendShort(timeFrame('ping', this.#options.clock.monotonicMs()))
    if (!this.#isEnded) this.#pingLater()
  }
}
