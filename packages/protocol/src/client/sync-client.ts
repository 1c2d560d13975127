import { applyAwarenessUpdate, Awareness, encodeAwarenessUpdate, removeAwarenessStates } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { awarenessFrame, chunkFrames, jsonFrame, readAwareness, readJson, readSync, readSyncAck, syncFrame } from '../codec.ts'
import type { WireErrorCode } from '../codes.ts'
import { CHUNK_PAYLOAD_BYTES, type DocEventFrame, type ErrorFrame, SYNC, TAG } from '../frames.ts'
import { type Environment, platform } from './environment.ts'
import { SaveTracker } from './save-tracker.ts'
import { SendPace } from './send-pace.ts'
import { type ConnectionStatus, SyncConnection } from './sync-connection.ts'

export interface SyncClientOptions {
  /** `ws://host:port/ws`. */
  readonly url: string
  readonly docId: string
  readonly doc: Y.Doc
  /** Called at every connect; `fresh` asks for another token than the last one. */
  readonly token: (request: { readonly fresh: boolean }) => string | Promise<string>
  /** Presence; made for `doc` when absent. */
  readonly awareness?: Awareness
  /** The workspace of the token to act in, where it has several. [AUTH-6] */
  readonly workspace?: string
  /** Told after every change of `state`. */
  readonly onState?: (state: SyncState) => void
  /** Told of every DOC_EVENT of the workspace. */
  readonly onEvent?: (event: DocEventFrame) => void
  /** Told of every ERROR; those that end the binding also show in `state.refusal`. */
  readonly onError?: (error: ErrorFrame) => void
  readonly environment?: Environment
}

export interface SyncState {
  readonly connection: 'idle' | ConnectionStatus['kind']
  /** The relay's whole state was received since the last join. */
  readonly synced: boolean
  /**
   * `saved`: every local edit is durable on the relay. `saving`: some are on their way. `unsaved`: there is no connection that could save them.
   * `refused`: the relay does not take this caller's edits. An editor may let its user close the window on `saved` only.
   */
  readonly saved: 'saved' | 'saving' | 'unsaved' | 'refused'
  /** Why the document is not joined or not writable; cleared by the next join. */
  readonly refusal: WireErrorCode | null
  /** Why the connection stopped or waits. */
  readonly closed: { readonly code: number; readonly reason: string } | null
}

/**
 * Keeps one Y.Doc in sync with one document of the relay, in browser and Node: reconnects, renews its token, batches edits, and says when they
 * are durable. Edits made without a connection are kept in `doc` and sent at the next join.
 */
export class SyncClient {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly #options: SyncClientOptions
  readonly #environment: Environment
  readonly #connection: SyncConnection
  readonly #tracker = new SaveTracker()
  readonly #pace = new SendPace()
  #pending: Uint8Array[] = []
  #cancelFlush: (() => void) | null = null
  #status: ConnectionStatus | null = null
  /** The answer to the relay's step1 is out, so updates have what they depend on there. */
  #step2Sent = false
  #synced = false
  #refusal: WireErrorCode | null = null
  #maxMessageBytes = CHUNK_PAYLOAD_BYTES

  constructor(options: SyncClientOptions) {
    this.#options = options
    this.#environment = options.environment ?? platform
    this.doc = options.doc
    this.awareness = options.awareness ?? new Awareness(options.doc)
    this.#connection = new SyncConnection({
      url: options.url,
      token: options.token,
      environment: this.#environment,
      ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
      onStatus: (status) => this.#statusChanged(status),
      onOpen: () => this.#join(),
      onFrame: (tag, message) => this.#received(tag, message),
    })
    this.doc.on('update', this.#docUpdated)
    this.awareness.on('update', this.#awarenessUpdated)
  }

  get state(): SyncState {
    const status = this.#status
    return {
      connection: status?.kind ?? 'idle',
      synced: this.#synced,
      saved: this.#saved(),
      refusal: this.#refusal,
      closed: status?.kind === 'waiting' || status?.kind === 'stopped' ? { code: status.code, reason: status.reason } : null,
    }
  }

  connect(): void {
    this.#connection.connect()
  }

  /** Leaves without waiting for unsaved edits; they stay in `doc`. */
  disconnect(): void {
    // Others see the cursor vanish at once instead of when the relay notices the closed socket.
    this.#sendAwareness([this.awareness.clientID], new Map())
    this.#connection.close()
    this.#left()
    this.#status = null
    this.#changed()
  }

  /** Disconnects and lets go of the doc, which lives on, and of the awareness, which is destroyed unless it was given. */
  destroy(): void {
    this.doc.off('update', this.#docUpdated)
    this.awareness.off('update', this.#awarenessUpdated)
    this.disconnect()
    if (!this.#options.awareness) this.awareness.destroy()
  }

  #saved(): SyncState['saved'] {
    if (this.#refusal === 'ERR_EDIT_FORBIDDEN') return 'refused'
    if (this.#status?.kind !== 'authenticated') return 'unsaved'
    return this.#pending.length === 0 && this.#tracker.everythingSaved ? 'saved' : 'saving'
  }

  #changed(): void {
    this.#options.onState?.(this.state)
  }

  #statusChanged(status: ConnectionStatus): void {
    this.#status = status
    if (status.kind === 'authenticated') this.#maxMessageBytes = status.session.maxMessageSize ?? CHUNK_PAYLOAD_BYTES
    else this.#left()
    this.#changed()
  }

  #left(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    this.#pending = []
    this.#step2Sent = false
    this.#synced = false
    this.#tracker.joined()
    const others = [...this.awareness.getStates().keys()].filter((id) => id !== this.awareness.clientID)
    removeAwarenessStates(this.awareness, others, this)
  }

  #join(): void {
    this.#refusal = null
    this.#connection.send(jsonFrame(TAG.joinDoc, { docId: this.#options.docId }))
    this.#connection.send(syncFrame(SYNC.step1, Y.encodeStateVector(this.doc)))
    if (this.awareness.getLocalState() !== null) this.#sendAwareness([this.awareness.clientID])
  }

  #received(tag: number, message: Uint8Array): void {
    if (tag === TAG.sync) this.#receivedSync(message)
    else if (tag === TAG.awareness) {
      const update = readAwareness(message)
      if (update) applyAwarenessUpdate(this.awareness, update, this)
    } else if (tag === TAG.syncAck) {
      const ordinal = readSyncAck(message)
      if (ordinal === null) return
      this.#tracker.acked(ordinal)
      this.#pace.acked()
      this.#changed()
    } else if (tag === TAG.docEvent) this.#options.onEvent?.(readJson(message) as DocEventFrame)
    else if (tag === TAG.error) this.#receivedError(readJson(message) as ErrorFrame)
  }

  #receivedSync(message: Uint8Array): void {
    const sync = readSync(message)
    if (!sync) return
    if (sync.subType === SYNC.step1) return this.#answerStep1(sync.payload)
    Y.applyUpdate(this.doc, sync.payload, this)
    if (sync.subType === SYNC.step2 && !this.#synced) {
      this.#synced = true
      this.#changed()
    }
  }

  /** A step2 carries everything the relay lacks, pending edits included. */
  #answerStep1(stateVector: Uint8Array): void {
    this.#pending = []
    this.#step2Sent = true
    this.#sendWrite('step2', Y.encodeStateAsUpdate(this.doc, stateVector))
    this.#changed()
  }

  #receivedError(error: ErrorFrame): void {
    if (error.frame !== undefined) this.#tracker.refused(error.frame)
    switch (error.code) {
      case 'ERR_RATE_LIMIT':
        this.#pace.limited()
        break
      case 'ERR_UNKNOWN_DOC':
      case 'ERR_DELETED':
      case 'ERR_VIEW_FORBIDDEN':
      case 'ERR_EDIT_FORBIDDEN':
        this.#refusal = error.code
        break
      default:
        // The others are followed by a step1 or a close, which say what to do.
        break
    }
    this.#options.onError?.(error)
    this.#changed()
  }

  readonly #docUpdated = (update: Uint8Array, origin: unknown): void => {
    if (origin === this || this.#status?.kind !== 'authenticated' || !this.#step2Sent) return
    const wasSaved = this.#saved() === 'saved'
    this.#pending.push(update)
    this.#scheduleFlush()
    if (wasSaved) this.#changed()
  }

  #scheduleFlush(): void {
    if (this.#cancelFlush) return
    const delayMs = this.#pace.delayMs(this.#environment.now())
    if (delayMs === 0) this.#flush()
    else this.#cancelFlush = this.#environment.after(delayMs, () => this.#flush())
  }

  #flush(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
    if (this.#pending.length === 0 || !this.#connection.canSend) return
    const update = mergeInTurns(this.#pending)
    this.#pending = []
    this.#pace.sent(this.#environment.now())
    this.#sendWrite('update', update)
  }

  #sendWrite(kind: 'step2' | 'update', update: Uint8Array): void {
    if (!this.#connection.canSend) return
    this.#tracker.sent(kind)
    const frame = syncFrame(SYNC[kind], update)
    if (frame.length <= this.#maxMessageBytes) return this.#connection.send(frame)
    const messageId = Uint8Array.from({ length: 16 }, () => Math.floor(this.#environment.random() * 256))
    const pieceBytes = Math.min(CHUNK_PAYLOAD_BYTES, this.#maxMessageBytes)
    for (const chunk of chunkFrames(frame, messageId, pieceBytes)) this.#connection.send(chunk)
  }

  readonly #awarenessUpdated = (change: { added: number[]; updated: number[]; removed: number[] }, origin: unknown): void => {
    if (origin === this) return
    this.#sendAwareness([...change.added, ...change.updated, ...change.removed].filter((id) => id === this.awareness.clientID))
  }

  #sendAwareness(ids: number[], states?: Map<number, { [member: string]: unknown }>): void {
    if (ids.length === 0 || !this.#connection.canSend || !this.awareness.meta.has(this.awareness.clientID)) return
    this.#connection.send(awarenessFrame(encodeAwarenessUpdate(this.awareness, ids, states)))
  }
}

/** `Y.mergeUpdates` is quadratic in the number of updates, so at most 200 are merged at a time. */
function mergeInTurns(updates: readonly Uint8Array[]): Uint8Array {
  let rest = [...updates]
  while (rest.length > 1) {
    const merged: Uint8Array[] = []
    for (let i = 0; i < rest.length; i += 200) merged.push(Y.mergeUpdates(rest.slice(i, i + 200)))
    rest = merged
  }
  return rest[0] as Uint8Array
}
