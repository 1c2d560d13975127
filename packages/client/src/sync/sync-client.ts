import { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { jsonFrame, readJson, readSync, readSyncAck, syncFrame } from '@docrelay/protocol/codec'
import { CLIENT_CLOSE, type WireErrorCode } from '@docrelay/protocol/codes'
import { CHUNK_PAYLOAD_BYTES, type DocEventFrame, type ErrorFrame, type JoinedFrame, SYNC, TAG } from '@docrelay/protocol/frames'
import { type Environment, platform } from '../environment.ts'
import { KeptContent } from './kept-content.ts'
import { Outgoing } from './outgoing.ts'
import { Presence } from './presence.ts'
import { type Closed, type ConnectionStatus, SyncConnection } from './sync-connection.ts'

export interface SyncClientOptions {
  /** `ws://host:port/ws`. */
  readonly url: string
  readonly docId: string
  readonly doc: Y.Doc
  /**
   * Returns a token; called at every connect. `fresh` asks for another token than the last one. A call that takes longer
   * than 30 s or rejects counts as a failed attempt. A value that is no string, or empty, stops the client. Both show in
   * `state.closed`. [WS-67]
   */
  readonly token: (request: { readonly fresh: boolean }) => string | Promise<string>
  /** The presence of this and other clients; made for `doc` when absent. */
  readonly awareness?: Awareness
  /** The workspace to act in, for a token that names several. [AUTH-6] */
  readonly workspace?: string
  /**
   * For a `doc` that was stored and outlives this object: the value of `state.lineage` when it was stored. A copy of
   * another life of the document is not merged. [WS-62]
   */
  readonly lineage?: string
  /** Called after every change of `state`. */
  readonly onState?: (state: SyncState) => void
  /** Called for every DOC_EVENT of the workspace. */
  readonly onEvent?: (event: DocEventFrame) => void
  /** Called for every ERROR frame. Errors that end the binding also show in `state.refusal`. */
  readonly onError?: (error: ErrorFrame) => void
  readonly environment?: Environment
}

export interface SyncState {
  readonly connection: 'idle' | ConnectionStatus['kind']
  /** True once the relay's whole state has arrived since the last join. */
  readonly synced: boolean
  /**
   * - `saved`: every edit so far is durable on the relay.
   * - `saving`: some edits are on their way.
   * - `unsaved`: there is no connection that could save the edits.
   * - `refused`: the relay refuses an edit, or has no such document for this caller; `refusal` says why.
   *
   * An editor may let its user close the window on `saved` only. [WS-64]
   */
  readonly saved: 'saved' | 'saving' | 'unsaved' | 'refused'
  /**
   * The reason why the document could not be joined or an edit was refused; `null` again once the document is joined or
   * the edit is accepted.
   */
  readonly refusal: WireErrorCode | null
  /** The caller's level for the document; `null` before the first join. [WS-61] */
  readonly level: JoinedFrame['level'] | null
  /**
   * The lineage of the document that `doc` is a copy of; `null` before the first join. Store it together with a copy of
   * `doc`. [WS-61]
   */
  readonly lineage: string | null
  /** Id of the document that a restore put in the place of this one. [WS-63] */
  readonly successor: string | null
  /**
   * Code and reason of the last close, while the connection waits or is stopped. A wrong path looks like an outage: code
   * 1006, with the message of the platform as the reason where it gives one (Node does, browsers do not).
   */
  readonly closed: Closed | null
}

/** The events of a SyncClient and their arguments. */
interface SyncClientEvents {
  state: SyncState
  event: DocEventFrame
  error: ErrorFrame
}

/** Errors after which the connection is bound to no document. */
const ENDED: ReadonlySet<WireErrorCode> = new Set(['ERR_UNKNOWN_DOC', 'ERR_DELETED', 'ERR_VIEW_FORBIDDEN', 'ERR_LINEAGE'])
/** Errors that refuse one edit; sending the edit again does not help. */
const EDIT_REFUSED: ReadonlySet<WireErrorCode> = new Set([
  'ERR_EDIT_FORBIDDEN',
  'ERR_BAD_UPDATE',
  'ERR_DOC_FULL',
  'ERR_MESSAGE_TOO_LARGE',
])

/**
 * Keeps one Y.Doc in sync with one document of the relay, in browsers and Node. Reconnects, renews its token, batches
 * edits, and tells when they are durable. Edits that are made without a connection stay in `doc` and are sent at the
 * next join.
 */
export class SyncClient {
  readonly doc: Y.Doc
  readonly awareness: Awareness
  readonly #options: SyncClientOptions
  readonly #environment: Environment
  readonly #connection: SyncConnection
  readonly #presence: Presence
  readonly #outgoing: Outgoing
  readonly #kept: KeptContent
  #status: ConnectionStatus | null = null
  #synced = false
  /** True from a second join on this socket until its JOINED arrives. Frames before that belong to the former binding. */
  #joinsAgain = false
  /** True from a join until the step2 of the relay arrives, which may carry the whole document. */
  #awaitsStep2 = false
  #refusal: WireErrorCode | null = null
  /** Number of edits that only this client made so far; a `doc` that had content at the start counts as one. */
  #edits: number
  /** How many of the edits counted by `#edits` are durable on the relay. */
  #savedEdits = 0
  #level: JoinedFrame['level'] | null = null
  #lineage: string | null
  /**
   * The lineage that the relay named at the current join. It becomes the lineage of `doc` once the relay has accepted
   * everything in `doc`.
   */
  #lineageAtJoin: string | null = null
  #successor: string | null = null
  readonly #listeners: { [E in keyof SyncClientEvents]: Set<(told: SyncClientEvents[E]) => void> }

  constructor(options: SyncClientOptions) {
    this.#options = options
    this.#environment = options.environment ?? platform
    this.doc = options.doc
    this.#kept = new KeptContent(options.doc)
    this.awareness = options.awareness ?? new Awareness(options.doc)
    this.#edits = options.doc.store.clients.size > 0 ? 1 : 0
    this.#lineage = options.lineage ?? null
    this.#listeners = {
      state: new Set(options.onState && [options.onState]),
      event: new Set(options.onEvent && [options.onEvent]),
      error: new Set(options.onError && [options.onError]),
    }
    this.#connection = new SyncConnection({
      url: options.url,
      docId: options.docId,
      token: options.token,
      environment: this.#environment,
      ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
      onStatus: (status) => this.#statusChanged(status),
      onOpen: () => this.#join(),
      onFrame: (tag, message) => this.#received(tag, message),
      isTransferring: () => this.#awaitsStep2 || this.#outgoing.isLargeUnderWay,
    })
    this.#outgoing = new Outgoing(this.#connection, this.#environment, () => this.#edits)
    this.#presence = new Presence(this.awareness, this.#connection)
    this.doc.on('update', this.#docUpdated)
  }

  get state(): SyncState {
    const status = this.#status
    return {
      connection: status?.kind ?? 'idle',
      synced: this.#synced,
      saved: this.#saved(),
      refusal: this.#refusal,
      level: this.#level,
      lineage: this.#lineage,
      successor: this.#successor,
      closed: status?.kind === 'waiting' || status?.kind === 'stopped' ? closedState(status) : null,
    }
  }

  /** Edits of this client so far, and how many of them are durable on the relay. */
  get progress(): { readonly edits: number; readonly saved: number } {
    return { edits: this.#edits, saved: this.#savedEdits }
  }

  /** Sends the gathered edits without waiting for more. */
  sendNow(): void {
    this.#outgoing.flush()
  }

  /** Begins the next attempt to connect at once, even while an earlier attempt still waits for the relay. */
  retryNow(): void {
    this.#connection.retryNow()
  }

  /** Adds a listener beside those of the options; the returned function removes it. */
  on<E extends keyof SyncClientEvents>(event: E, listener: (told: SyncClientEvents[E]) => void): () => void {
    this.#listeners[event].add(listener)
    return () => void this.#listeners[event].delete(listener)
  }

  /**
   * Connects, and from then on reconnects by itself; the relay's answers show in `state`. After a refused join it joins again, and reports a
   * repeated refusal again.
   *
   * @throws ClientSetupError when the url is not valid or the platform has no WebSocket
   */
  connect(): void {
    if (this.#refusal !== null && ENDED.has(this.#refusal)) this.#refusal = null
    this.#connection.connect()
  }

  /** Disconnects without waiting for unsaved edits, which stay in `doc`. */
  disconnect(): void {
    this.#presence.goodbye()
    this.#connection.close()
    this.#left()
    this.#status = null
    this.#changed()
  }

  /** Disconnects and releases `doc`, which stays usable. Destroys the awareness unless it was given in the options. */
  destroy(): void {
    this.doc.off('update', this.#docUpdated)
    this.disconnect()
    this.#presence.destroy()
    if (!this.#options.awareness) this.awareness.destroy()
  }

  #saved(): SyncState['saved'] {
    if (this.#refusal !== null) return 'refused'
    if (this.#savedEdits === this.#edits) return 'saved'
    return this.#status?.kind === 'authenticated' ? 'saving' : 'unsaved'
  }

  /** Called when the relay has acknowledged every edit. */
  #settle(): void {
    if (!this.#outgoing.isSettled) return
    this.#savedEdits = this.#edits
    this.#lineage ??= this.#lineageAtJoin
    if (this.#refusal !== null && EDIT_REFUSED.has(this.#refusal)) this.#refusal = null
  }

  #changed(): void {
    this.#tell('state', this.state)
  }

  #tell<E extends keyof SyncClientEvents>(event: E, told: SyncClientEvents[E]): void {
    for (const listener of [...this.#listeners[event]]) listener(told)
  }

  #statusChanged(status: ConnectionStatus): void {
    this.#status = status
    if (status.kind === 'authenticated') this.#outgoing.maxMessageBytes = status.session.maxMessageSize ?? CHUNK_PAYLOAD_BYTES
    else {
      this.#left()
      this.#joinsAgain = false
    }
    this.#changed()
  }

  #left(): void {
    this.#outgoing.left()
    this.#lineageAtJoin = null
    this.#synced = false
    this.#awaitsStep2 = false
    this.#presence.left()
  }

  #join(): void {
    const lineage = this.#lineage
    this.#connection.send(jsonFrame(TAG.joinDoc, { docId: this.#options.docId, ...(lineage !== null && { lineage }) }))
    this.#connection.send(syncFrame(SYNC.step1, Y.encodeStateVector(this.doc)))
    this.#awaitsStep2 = true
    this.#presence.joined()
  }

  #received(tag: number, message: Uint8Array): void {
    if (tag === TAG.sync) this.#receivedSync(message)
    else if (tag === TAG.awareness) this.#presence.received(message)
    else if (tag === TAG.syncAck) {
      const ordinal = readSyncAck(message)
      if (ordinal === null || this.#joinsAgain) return
      this.#outgoing.acked(ordinal)
      this.#savedEdits = Math.max(this.#savedEdits, this.#outgoing.savedEdits)
      this.#settle()
      if (this.#savedEdits === this.#edits) this.#kept.release()
      this.#changed()
    } else if (tag === TAG.docEvent) this.#receivedEvent(readJson(message) as DocEventFrame)
    else if (tag === TAG.joined) this.#receivedJoined(readJson(message) as JoinedFrame)
    else if (tag === TAG.error) this.#receivedError(readJson(message) as ErrorFrame)
  }

  #receivedEvent(event: DocEventFrame): void {
    // The event is emitted first, because its listener may disconnect when the document ended.
    this.#tell('event', event)
    if (event.eventType !== 'deleted' || event.docId !== this.#options.docId) return
    this.#successor = event.successor ?? null
    this.#refuse('ERR_DELETED')
    this.#changed()
  }

  #receivedJoined({ docId, level, lineage, serverVersion }: JoinedFrame): void {
    if (docId !== this.#options.docId) return
    // A JOINED that answers a join carries the version; a JOINED for a changed level does not. [WS-61]
    const isAnswer = serverVersion !== undefined
    if (isAnswer) this.#joinsAgain = false
    // A join that was just made sends the refused content anyway.
    const mayJoinAgain = !isAnswer && !this.#joinsAgain
    const mayWriteAgain = this.#refusal === 'ERR_EDIT_FORBIDDEN' && this.#level === 'view' && level !== 'view'
    this.#level = level
    if (lineage !== undefined) this.#toldLineage(lineage)
    // The next join sends all refused content again.
    if (mayWriteAgain && mayJoinAgain) this.#joinAgain()
    this.#changed()
  }

  /**
   * Stores the lineage that the relay named. Content that the relay has not accepted yet may belong to a former lineage, so until it is accepted
   * `doc` does not count as a copy of this one. [WS-62]
   */
  #toldLineage(lineage: string): void {
    this.#lineageAtJoin = lineage
    if (this.doc.store.clients.size === 0) this.#lineage = lineage
  }

  #joinAgain(): void {
    this.#left()
    this.#join()
    this.#joinsAgain = true
  }

  #refuse(code: WireErrorCode): void {
    this.#refusal = code
    if (!ENDED.has(code)) return
    this.#level = null
    this.#left()
  }

  #receivedSync(message: Uint8Array): void {
    const sync = readSync(message)
    if (!sync) return
    if (sync.subType === SYNC.step1) return this.#answerStep1(sync.payload)
    this.#kept.apply(sync.payload, this, { isSaved: this.#savedEdits === this.#edits })
    if (sync.subType === SYNC.step2 && !this.#synced) {
      this.#synced = true
      this.#awaitsStep2 = false
      this.#changed()
    }
  }

  #answerStep1(stateVector: Uint8Array): void {
    // A step1 proves that the document is joined, so an earlier refusal is over.
    if (this.#refusal !== null && ENDED.has(this.#refusal)) this.#refusal = null
    this.#successor = null
    this.#outgoing.answer(Y.encodeStateAsUpdate(this.doc, stateVector))
    this.#changed()
  }

  #receivedError(error: ErrorFrame): void {
    if (!this.#joinsAgain || error.frame === undefined) this.#takeError(error)
    this.#tell('error', error)
    this.#changed()
  }

  #takeError({ code, frame, successor }: ErrorFrame): void {
    if (frame !== undefined) this.#outgoing.refused(frame)
    this.#successor = successor ?? this.#successor
    // The relay refused the join and goes on counting ordinals for the former binding. A new socket begins a new binding.
    if (code === 'ERR_RATE_LIMIT' && this.#joinsAgain) this.#connection.reconnect(CLIENT_CLOSE.reconnect, 'too many joins')
    else if (code === 'ERR_RATE_LIMIT') this.#outgoing.limited()
    // Any other error is followed by a step1 or a close, which decide what happens next.
    else if (ENDED.has(code) || EDIT_REFUSED.has(code)) this.#refuse(code)
  }

  readonly #docUpdated = (update: Uint8Array, origin: unknown): void => {
    if (origin === this) return
    const wasSaved = this.#savedEdits === this.#edits
    this.#edits++
    if (this.#status?.kind === 'authenticated') this.#outgoing.add(update)
    if (wasSaved) this.#changed()
  }
}

function closedState({ code, reason, error }: Closed): Closed {
  return { code, reason, ...(error && { error }) }
}
