import type { DocEventFrame, ErrorFrame } from '@docrelay/protocol/frames'
import { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { Emitter } from '../emitter.ts'
import type { Environment } from '../environment.ts'
import { RelayError } from '../errors.ts'
import { inTime } from '../in-time.ts'
import type { Documents } from '../rest/documents.ts'
import { SyncClient, type SyncState } from '../sync/sync-client.ts'
import type { TokenCallback } from '../tokens.ts'
import { type DocumentState, errorOf, type GoneReason, isSameState, linkOf, meaningOf, savedOf } from './document-state.ts'
import { LocalCopy } from './local-copy.ts'
import type { CopyScope, Persistence, StoredCopy } from './persistence.ts'
import { rootOf, type UndoScope } from './undo.ts'
import { Waiters } from './waiters.ts'

/** The awareness state of this person that others see, in the form that y-prosemirror reads. More members are allowed. */
export interface PresentUser {
  readonly id?: string
  readonly name: string
  /** For example `#8250df`. */
  readonly color?: string
  readonly [member: string]: unknown
}

export interface OpenOptions {
  /** The Y.Doc to keep in sync; a new one when absent. */
  readonly ydoc?: Y.Doc
  /** Becomes `awareness.user`; without a user, others do not see this person. */
  readonly user?: PresentUser
  /** Where to keep a copy on this device; `false` keeps none although `createRelay` names a place. */
  readonly persist?: Persistence | false
  /** For a `ydoc` that the application stored itself: the `lineage` that the application stored with it. [WS-62] */
  readonly lineage?: string
}

export interface GoneEvent {
  readonly reason: GoneReason
  /** Id of the document that a restore from a recovery point put in place of this one; else `null`. [WS-63] */
  readonly successor: string | null
  /**
   * Words of this person were not acknowledged. The copy on the device is kept then, until `dropCopy`; `copyAs` makes a new document of
   * what is here.
   */
  readonly unsaved: boolean
}

/** The local content and the relay's can no longer be merged. */
export interface DivergedEvent {
  /**
   * Why: ERR_LINEAGE when the copy is of another life of the document, ERR_UNKNOWN_DOC when the relay has no such document any more and
   * knows of no deletion, else the refusal of an edit.
   */
  readonly error: RelayError
  /** The local content at the moment of reading, as one Yjs update. */
  readonly localUpdate: Uint8Array
  /** Drops the local content, closes this document and opens it anew with an empty Y.Doc. */
  readonly discard: () => Promise<LiveDocument>
  readonly copyAs: LiveDocument['copyAs']
}

export interface LiveDocumentEvents {
  state: DocumentState
  level: DocumentState['level']
  gone: GoneEvent
  diverged: DivergedEvent
}

export interface FlushOptions {
  /** Rejects with TIMEOUT after this time; waits without a limit when absent. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The parts of the relay object that a live document uses. */
export interface LiveContext {
  readonly socketUrl: string
  readonly token: TokenCallback
  readonly workspace: string | undefined
  readonly environment: Environment
  readonly documents: Documents
  /** Returns whose copies are kept; rejects when the person is unknown. */
  readonly copyScope: () => Promise<CopyScope>
  readonly open: (id: string, options: OpenOptions) => LiveDocument
  readonly onLink: (document: LiveDocument, state: SyncState) => void
  readonly onEvent: (document: LiveDocument, event: DocEventFrame) => void
  readonly onClosed: (document: LiveDocument) => void
}

/** Time limit for the opening of a copy on the device. */
const COPY_MS = 10_000

/** A document that is kept in sync while it is open. */
export class LiveDocument {
  readonly id: string
  readonly ydoc: Y.Doc
  readonly awareness: Awareness
  /** Resolves when there is content to show: the local copy or the relay's, whichever comes first. Rejects when there will be none. */
  readonly ready: Promise<void>
  readonly #options: OpenOptions
  readonly #context: LiveContext
  readonly #emitter = new Emitter<LiveDocumentEvents>()
  readonly #waiters: Waiters
  /** True when there is content to show, a RelayError when there will be none, false before either. */
  #content: boolean | RelayError = false
  /** `null` until the local copy is loaded. */
  #client: SyncClient | null = null
  #copy: LocalCopy | null = null
  #errorFrame: ErrorFrame | null = null
  #refusal: SyncState['refusal'] = null
  /** Whether the document has existed for this client, live or as a copy. */
  #known = false
  #gone: GoneEvent | null = null
  #diverged: DivergedEvent | null = null
  #closed = false
  #state: DocumentState

  constructor(id: string, options: OpenOptions, context: LiveContext) {
    this.id = id
    this.#options = options
    this.#context = context
    this.ydoc = options.ydoc ?? new Y.Doc()
    this.awareness = new Awareness(this.ydoc)
    if (options.user === undefined) this.awareness.setLocalState(null)
    else this.awareness.setLocalStateField('user', options.user)
    const localCopy = options.persist ? 'waiting' : 'none'
    this.#state = { link: 'connecting', saved: 'saved', unsavedSince: null, error: null, level: null, localCopy }
    this.#waiters = new Waiters(context.environment)
    this.ready = this.#waiters.wait(() => this.#content, { what: `the content of the document ${id}` })
    // Nobody may be waiting for `ready`. The state carries its error as well, so a rejection must not end the process.
    this.ready.catch(() => {})
    if (options.persist) void this.#connectWithCopy(options.persist)
    else this.#connect()
  }

  get state(): DocumentState {
    return this.#state
  }

  /** The person's level; `null` before the relay has sent it. */
  get level(): DocumentState['level'] {
    return this.#state.level
  }

  /** The last event `gone`, for a view that is shown after the event; `null` while the document is there. */
  get gone(): GoneEvent | null {
    return this.#gone
  }

  /** The last event `diverged`, for a view that is shown after it; `null` before the first. It is current while `state.saved` is `refused`. */
  get diverged(): DivergedEvent | null {
    return this.#diverged
  }

  /** Whether the document was closed, by `close` or with the relay object. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** The lineage of the content; store it with a copy of your own. `null` before it is known. */
  get lineage(): string | null {
    return this.#client?.state.lineage ?? this.#copy?.lineage ?? null
  }

  /** Adds a listener; the returned function removes it. */
  on<E extends keyof LiveDocumentEvents>(event: E, listener: (told: LiveDocumentEvents[E]) => void): () => void {
    return this.#emitter.on(event, listener)
  }

  /**
   * Resolves when everything that was edited so far is durable on the relay. Rejects with a RelayError when the relay
   * refuses it, when no attempt to connect will come, when the time is over or the document is closed, and with the
   * reason of the signal when that is aborted.
   */
  flush({ timeoutMs, signal }: FlushOptions = {}): Promise<void> {
    const wanted = this.#client?.progress.edits ?? null
    const outcome = (): boolean | RelayError => {
      if (this.#closed) return new RelayError('CLOSED', `the document ${this.id} is closed`)
      const { saved, link, error } = this.#state
      if (this.#client !== null && saved !== 'refused' && this.#client.progress.saved >= (wanted ?? this.#client.progress.edits))
        return true
      const over = saved === 'refused' || link === 'stopped'
      return over ? (error ?? new RelayError('UNAVAILABLE', 'there is no connection')) : false
    }
    this.#client?.sendNow()
    return this.#waiters.wait(outcome, { what: `the document ${this.id} to be saved`, timeoutMs, signal })
  }

  /**
   * An undo manager for the named roots that takes back only what this person did here: transactions without an origin,
   * and those with one of `origins`.
   */
  undoManager(
    scopes: readonly UndoScope[],
    { origins = [], ...options }: { readonly origins?: readonly unknown[]; readonly captureTimeout?: number } = {},
  ): Y.UndoManager {
    const types = scopes.map((scope) => (typeof scope === 'string' ? rootOf(this.ydoc, scope) : scope))
    return new Y.UndoManager(types, { ...options, doc: this.ydoc, trackedOrigins: new Set([null, ...origins]) })
  }

  /**
   * Starts again after a stop, and at once where the client waits. Not after ERR_LINEAGE: the copy stays another document's,
   * and what to do with it is for `discard` and `copyAs`.
   */
  reconnect(): void {
    if (this.#gone !== null || this.#closed || this.#client === null) return
    // The socket may be open although the link is stopped: the relay refused to join the document.
    if (this.#state.link === 'stopped' && this.#refusal !== 'ERR_LINEAGE') this.#client.connect()
    else this.#client.retryNow()
  }

  /**
   * Leaves the document; the Y.Doc stays usable. With `flush`, waits before that until everything is durable; when that
   * fails, it rejects and the document stays open.
   */
  async close({ flush = false }: { readonly flush?: boolean | FlushOptions } = {}): Promise<void> {
    if (this.#closed) return
    if (flush !== false && this.#gone === null) await this.flush(flush === true ? {} : flush)
    this.#end()
    await this.#copy?.stop()
  }

  /**
   * Makes a new document of what is here now and opens it. This document stays as it is. When the relay refuses the copy, nothing of it
   * stays.
   */
  async copyAs(id: string, { name = id }: { readonly name?: string } = {}): Promise<LiveDocument> {
    const { documents, open } = this.#context
    await documents.put(id, { name }, { expectedVersion: 0 })
    const { lineage: _, ...options } = this.#options
    const ydoc = new Y.Doc()
    Y.applyUpdate(ydoc, Y.encodeStateAsUpdate(this.ydoc))
    ydoc.getMap('metadata').set('title', name)
    const copy = open(id, { ...options, ydoc })
    try {
      await copy.flush()
    } catch (error) {
      await copy.close()
      await copy.dropCopy()
      // The content is still in this document, and the person needs the reason for the failed copy, so an error of the deletion is dropped.
      await documents.delete(id).catch(() => {})
      throw error
    }
    return copy
  }

  /** Removes the copy on this device, unacknowledged words included, and keeps no copy from now on. */
  async dropCopy(): Promise<void> {
    await this.#copy?.remove()
  }

  /** Loads the copy, then connects, since the relay is told the lineage of the copy. Connects also when the copy cannot be loaded. */
  async #connectWithCopy(persistence: Persistence): Promise<void> {
    const early = (): void => this.#changed()
    this.ydoc.on('update', early)
    const stored = await this.#openCopy(persistence)
    this.ydoc.off('update', early)
    if (this.#closed) return
    if (stored === null) this.#state = { ...this.#state, localCopy: 'off' }
    else
      this.#copy = new LocalCopy(
        this.ydoc,
        stored,
        () => this.#changed(),
        () => this.#isUnsaved,
      )
    this.#known = this.#copy?.lineage != null
    this.#connect()
    if (this.#known) this.#toldContent(true)
  }

  /** Returns the copy, or `null` after `COPY_MS`: the store of some browsers never answers. [WS-67] */
  async #openCopy(persistence: Persistence): Promise<StoredCopy | null> {
    const { copyScope, environment } = this.#context
    const after: Environment['after'] = (ms, run) => environment.after(ms, run)
    try {
      const opening = persistence.open(await copyScope(), this.id, environment.now)
      return await inTime(opening, COPY_MS, after, () => new Error())
    } catch {
      return null
    }
  }

  #connect(): void {
    const { socketUrl: url, token, workspace, environment } = this.#context
    const lineage = this.#copy?.lineage ?? this.#options.lineage
    this.#client = new SyncClient({
      url,
      docId: this.id,
      doc: this.ydoc,
      awareness: this.awareness,
      token,
      environment,
      ...(workspace !== undefined && { workspace }),
      ...(lineage != null && { lineage }),
      onState: (state) => this.#synced(state),
      onError: (frame) => {
        this.#errorFrame = frame
      },
      onEvent: (event) => this.#context.onEvent(this, event),
    })
    this.#client.connect()
    this.#changed()
  }

  #synced(state: SyncState): void {
    if (this.#closed || this.#client === null) return
    this.#context.onLink(this, state)
    if (state.synced) {
      this.#known = true
      this.#toldContent(true)
    }
    if (state.lineage !== null && state.refusal === null) this.#copy?.begin(state.lineage)
    this.#changed()
    if (state.refusal !== this.#refusal) this.#refused(state)
    const { error } = this.#state
    if (this.#state.link === 'stopped' && error !== null) this.#toldContent(error)
  }

  /** Emits `gone` or `diverged` for a new refusal, once for each. */
  #refused(state: SyncState): void {
    this.#refusal = state.refusal
    const { error } = this.#state
    if (state.refusal === null || error === null) return
    const meaning = meaningOf(state, this.#known)
    if (meaning.kind === 'gone') this.#leave({ reason: meaning.reason, successor: state.successor, unsaved: this.#isUnsaved })
    else if (meaning.kind === 'diverged') this.#emitter.emit('diverged', (this.#diverged = this.#divergence(error)))
  }

  /** Whether this person has unacknowledged words, in every state of the document. */
  get #isUnsaved(): boolean {
    if (this.#client === null) return this.ydoc.store.clients.size > 0
    const { edits, saved } = this.#client.progress
    // The whole content of a copy counts as one edit until the relay has everything.
    const isCopyAlone = edits === 1 && saved === 0 && this.#copy?.beganSaved === true
    return edits > saved && !isCopyAlone
  }

  /** Ends the document for this person: disconnects, and removes the copy unless it holds words, of any tab, that are nowhere else. */
  #leave(gone: GoneEvent): void {
    this.#gone = gone
    this.#client?.disconnect()
    this.#context.onClosed(this)
    if (!gone.unsaved) void this.#copy?.remove(true)
    this.#emitter.emit('gone', gone)
  }

  #divergence(error: RelayError): DivergedEvent {
    const { ydoc } = this
    const { ydoc: _, lineage: __, ...options } = this.#options
    return {
      error,
      get localUpdate() {
        return Y.encodeStateAsUpdate(ydoc)
      },
      discard: async () => {
        await this.close()
        await this.dropCopy()
        return this.#context.open(this.id, options)
      },
      copyAs: (id, named) => this.copyAs(id, named),
    }
  }

  #toldContent(content: true | RelayError): void {
    if (this.#content !== false) return
    this.#content = content
    this.#waiters.look()
  }

  #changed(): void {
    if (this.#closed) return
    const before = this.#state
    const sync = this.#client?.state
    const localCopy = this.#copy?.state ?? before.localCopy
    // Until the copy is loaded, all content of the document was typed in this session.
    const saved = sync === undefined ? (this.ydoc.store.clients.size > 0 ? 'local' : 'saved') : savedOf(sync)
    const unsavedSince = saved === 'saved' ? null : (before.unsavedSince ?? this.#context.environment.now())
    if (sync === undefined) this.#state = { ...before, saved, unsavedSince, localCopy }
    else {
      const error = errorOf(sync, this.#errorFrame)
      this.#state = { link: linkOf(sync), saved, unsavedSince, error, level: sync.level, localCopy }
    }
    if (isSameState(before, this.#state)) this.#state = before
    else this.#emitter.emit('state', this.#state)
    if (this.#client !== null && !this.#isUnsaved) this.#copy?.saved()
    if (before.level !== this.#state.level) this.#emitter.emit('level', this.#state.level)
    this.#waiters.look()
  }

  #end(): void {
    this.#closed = true
    this.#state = { ...this.#state, link: 'stopped' }
    this.#client?.destroy()
    this.awareness.destroy()
    this.#context.onClosed(this)
    this.#toldContent(new RelayError('CLOSED', `the document ${this.id} was closed`))
    this.#waiters.look()
  }
}
