import { HEARTBEAT_FRAME, jsonFrame, readJson, readSync, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import * as Y from 'yjs'
import type { Oracle } from './oracle.ts'
import { editShape, removeShape } from './oracle.ts'
import type { Choices, Schedule } from './schedule.ts'

/** The client's side of a socket. */
export interface SimSocket {
  send(frame: Uint8Array): void
  /** Ends the socket. */
  drop(): void
}

/** The load balancer in front of the nodes, which opens sockets. */
export interface Front {
  /** Returns `null` when no node accepts connections. */
  open(listener: SocketListener): SimSocket | null
}

export interface SocketListener {
  frame(frame: Uint8Array): void
  closed(code: number): void
}

interface Sent {
  readonly ordinal: number
  /** The Yjs clock of the client before the edits of this message. `clock` is its clock after them. */
  readonly from: number
  readonly clock: number
  readonly names: readonly string[]
}

const AGAIN_MS = { from: 50, to: 800 }
const HEARTBEAT_MS = 2_000
/** A client gives up its socket after this time without a frame. */
const SILENT_MS = 5_000
/** The number of shapes that all clients write and remove. */
const SHARED_NAMES = 4

/** The errors that are expected during faults. A client that gets one of these errors tries again. */
const PASSING = new Set(['ERR_NOT_PERSISTED', 'ERR_UNAVAILABLE', 'ERR_SYNC_GAP'])

/** A client of one document. It keeps a copy, also edits while it is offline, and connects again through any node. */
export class SimClient {
  readonly key: number
  readonly doc = new Y.Doc()
  readonly #docId: string
  readonly #name: string
  readonly #front: Front
  readonly #oracle: Oracle
  readonly #schedule: Schedule
  readonly #choices: Choices
  #socket: SimSocket | null = null
  #isSynced = false
  #ordinal = 0
  #sentClock = 0
  #sent: Sent[] = []
  /** The names of the new shapes that the next message of the client will contain. */
  #names: string[] = []
  #edits = 0
  #heardMs = 0

  constructor(given: {
    readonly number: number
    readonly key: number
    readonly docId: string
    readonly front: Front
    readonly oracle: Oracle
    readonly schedule: Schedule
    readonly choices: Choices
  }) {
    this.doc.clientID = 100 + given.number
    this.#name = `client-${given.number}`
    this.key = given.key
    this.#docId = given.docId
    this.#front = given.front
    this.#oracle = given.oracle
    this.#schedule = given.schedule
    this.#choices = given.choices
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.#sendWrite(2, update)
    })
  }

  /** Is true when the client is joined and all of its edits are acknowledged. */
  get isSettled(): boolean {
    return this.#isSynced && this.#sent.length === 0
  }

  start(): void {
    this.#connect()
    this.#beat()
  }

  edit(): void {
    const kind = this.#choices.below(10)
    if (kind < 6) {
      const name = `${this.#name}-${++this.#edits}`
      this.#names.push(name)
      editShape(this.doc, name, this.#edits)
    } else if (kind < 8) editShape(this.doc, `shared-${this.#choices.below(SHARED_NAMES)}`, this.#choices.below(1_000))
    else if (kind < 9) removeShape(this.doc, `shared-${this.#choices.below(SHARED_NAMES)}`)
    else {
      const text = this.doc.getText('text')
      text.insert(this.#choices.below(text.length + 1), 'x')
      if (text.length > 8) text.delete(this.#choices.below(4), 2)
    }
  }

  #connect(): void {
    const socket = this.#front.open({
      frame: (frame) => socket === this.#socket && this.#received(frame),
      closed: (code) => {
        if (socket !== this.#socket) return
        this.#oracle.note(`${this.#name} closed ${code}`)
        this.#lost()
      },
    })
    this.#heardMs = this.#schedule.nowMs
    if (socket === null) return this.#again()
    this.#socket = socket
    socket.send(jsonFrame(TAG.auth, { token: this.#name, features: ['ack'] }))
  }

  #again(): void {
    this.#schedule.after(this.#choices.between(AGAIN_MS.from, AGAIN_MS.to), () => this.#connect())
  }

  #lost(): void {
    this.#socket = null
    this.#isSynced = false
    // Edits that were not acknowledged are sent again with the answer to the next step1.
    this.#names.unshift(...this.#sent.flatMap(({ names }) => names))
    this.#sent = []
    this.#again()
  }

  #beat(): void {
    this.#schedule.after(HEARTBEAT_MS, () => this.#beat())
    if (this.#socket === null) return
    if (this.#schedule.nowMs - this.#heardMs > SILENT_MS) {
      this.#oracle.note(`${this.#name} gave a silent socket up`)
      this.#socket.drop()
      this.#lost()
    } else this.#socket.send(HEARTBEAT_FRAME)
  }

  #received(frame: Uint8Array): void {
    this.#heardMs = this.#schedule.nowMs
    const message = frame.subarray(1)
    switch (frame[0]) {
      case TAG.authResponse:
        if ((readJson(message) as { success: boolean }).success !== true)
          return this.#oracle.violated('I10', `AUTH of ${this.#name} failed`)
        this.#ordinal = 0
        this.#socket?.send(jsonFrame(TAG.joinDoc, { docId: this.#docId }))
        return this.#socket?.send(syncFrame(0, Y.encodeStateVector(this.doc)))
      case TAG.sync:
        return this.#synced(message)
      case TAG.syncAck:
        return this.#acked(readSyncAck(message) ?? 0)
      case TAG.error:
        return this.#refused(readJson(message) as { code: string; frame?: number })
    }
  }

  #synced(message: Uint8Array): void {
    const read = readSync(message)
    if (read === null) return this.#oracle.violated('I6', `${this.#name} got an undecodable SYNC frame`)
    if (read.subType !== 0) return Y.applyUpdate(this.doc, read.payload, this)
    this.#isSynced = true
    this.#sendWrite(1, Y.encodeStateAsUpdate(this.doc, read.payload))
  }

  #sendWrite(subType: 1 | 2, update: Uint8Array): void {
    if (!this.#isSynced || this.#socket === null) return
    const clock = Y.getState(this.doc.store, this.doc.clientID)
    this.#sent.push({ ordinal: ++this.#ordinal, from: this.#sentClock, clock, names: this.#names })
    this.#sentClock = clock
    this.#names = []
    this.#socket.send(syncFrame(subType, update))
  }

  #acked(through: number): void {
    const done = this.#sent.filter(({ ordinal }) => ordinal <= through)
    this.#sent = this.#sent.filter(({ ordinal }) => ordinal > through)
    const last = done.at(-1)
    if (last !== undefined)
      this.#oracle.acked(
        this.key,
        this.doc.clientID,
        last.clock,
        done.flatMap(({ names }) => names),
      )
  }

  #refused({ code, frame }: { code: string; frame?: number }): void {
    this.#oracle.note(`${this.#name} was told ${code}`)
    if (!PASSING.has(code)) return this.#oracle.violated('I10', `${this.#name} was told ${code}`)
    if (frame === undefined) return
    // The log lacks the edits of the refused message. A later message that only removes something may still be accepted, and its
    // acknowledgement covers the ordinal of the refused message too. So an acknowledgement counts only for edits before `refused.from`.
    // The socket then closes, or the relay asks for everything that it lacks.
    const refused = this.#sent.find(({ ordinal }) => ordinal === frame)
    if (refused === undefined) return
    this.#names.unshift(...refused.names)
    const others = this.#sent.filter((sent) => sent !== refused)
    this.#sent = others.map((sent) => (sent.ordinal < frame ? sent : { ...sent, clock: Math.min(sent.clock, refused.from) }))
  }
}
