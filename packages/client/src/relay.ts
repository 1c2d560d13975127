import type { Usage } from '@docrelay/protocol/rest'
import { readJson } from '@docrelay/protocol/codec'
import { type DocEventFrame, TAG } from '@docrelay/protocol/frames'
import { Emitter } from './emitter.ts'
import { type Environment, environmentWith, type SocketLike } from './environment.ts'
import { RelayError } from './errors.ts'
import { inTime } from './in-time.ts'
import { closeError, linkOf } from './live/document-state.ts'
import { type LiveContext, LiveDocument, type OpenOptions } from './live/live-document.ts'
import type { CopyScope, Persistence } from './live/persistence.ts'
import { type EventLink, WorkspaceEvents } from './live/workspace-events.ts'
import { Blobs } from './rest/blobs.ts'
import { Calls, RecoveryPoints, ShareLinks } from './rest/document-history.ts'
import { Documents } from './rest/documents.ts'
import { type CallOptions, Requests } from './rest/request.ts'
import { Collections, search, type SearchOptions, type SearchPage, StyleProfiles } from './rest/workspace.ts'
import { SyncConnection } from './sync/sync-connection.ts'
import { subjectOf, TOKEN_MS, type TokenCallback, tokenLate, Tokens, usableToken } from './tokens.ts'

export interface RelayOptions {
  /** The relay's address, for example `https://relay.example`. */
  readonly url: string
  /** Called for every request and every connection. */
  readonly token: TokenCallback
  /** The workspace to act in, for a token that names several. [AUTH-6] */
  readonly workspace?: string
  /** The place for copies of documents on this device, for every `open`. `signOut` clears it. */
  readonly persist?: Persistence
  /** The `sub` of the person's token. With it, local copies open without a token, for example without a network. */
  readonly userId?: string
  /** For platforms without WebSocket, such as Node 20: the class of the package `ws`, for example. */
  readonly WebSocket?: new (
    url: string,
  ) => object
  /** Replacements for the platform's clock, randomness, timers, fetch and sockets. */
  readonly environment?: Partial<Environment>
}

export interface RelayEvents {
  /** A document was created, changed by REST or a tool, or deleted. [WS-51] */
  event: DocEventFrame
  /** Events begin, or begin again after an interruption. Earlier events may have been missed, so reload the lists that you show. */
  resync: undefined
  /** Only the person can help: ask the person to sign in, then call `reconnect`. */
  needsSignIn: RelayError
}

/** A relay for one person: documents over REST, open documents, and the events of the workspace. */
export class Relay {
  readonly documents: Documents
  readonly recovery: RecoveryPoints
  readonly calls: Calls
  readonly shareLinks: ShareLinks
  readonly blobs: Blobs
  readonly collections: Collections
  readonly styleProfiles: StyleProfiles
  readonly #options: RelayOptions
  readonly #environment: Environment
  readonly #base: string
  readonly #tokens: Tokens
  readonly #requests: Requests
  readonly #emitter = new Emitter<RelayEvents>()
  readonly #events: WorkspaceEvents
  readonly #open = new Set<LiveDocument>()
  readonly #persistences = new Set<Persistence>()
  #toldSignIn = false
  #closed = false

  constructor(options: RelayOptions) {
    this.#options = options
    const { WebSocket: Socket } = options
    const given = Socket && { openSocket: (url: string) => new Socket(url) as SocketLike }
    const environment = environmentWith({ ...given, ...options.environment })
    this.#environment = environment
    this.#base = baseOf(options.url)
    this.#tokens = new Tokens(options.token, (error) => this.#needsSignIn(error), environment)
    const { workspace } = options
    this.#requests = new Requests({ base: this.#base, tokens: this.#tokens, workspace, environment, attempts: 4 })
    this.documents = new Documents(this.#requests)
    this.recovery = new RecoveryPoints(this.#requests)
    this.calls = new Calls(this.#requests)
    this.shareLinks = new ShareLinks(this.#requests)
    this.blobs = new Blobs(this.#requests)
    this.collections = new Collections(this.#requests)
    this.styleProfiles = new StyleProfiles(this.#requests)
    if (options.persist) this.#persistences.add(options.persist)
    this.#events = new WorkspaceEvents({
      newLink: () => this.#linkForEvents(),
      onEvent: (event) => this.#emitter.emit('event', event),
      // Emitted in a microtask, so that it reaches listeners that are added right after the first one.
      onBegin: () => queueMicrotask(() => this.#emitter.emit('resync', undefined)),
    })
  }

  /**
   * Adds a listener; the returned function removes it. The first listener for `event` or `resync` opens a connection
   * when no document is open.
   *
   * @throws RelayError NO_WEBSOCKET, for `event` and `resync`
   */
  on<E extends keyof RelayEvents>(event: E, listener: (told: RelayEvents[E]) => void): () => void {
    if (event !== 'needsSignIn') this.#needSockets()
    const off = this.#emitter.on(event, listener)
    if (event !== 'needsSignIn') this.#events.want()
    return off
  }

  /**
   * Opens a document and keeps it in sync until it is closed. One open document is one connection.
   *
   * @throws RelayError NO_WEBSOCKET
   */
  open(id: string, options: OpenOptions = {}): LiveDocument {
    this.#needSockets()
    const persist = options.persist ?? this.#options.persist ?? false
    if (persist) this.#persistences.add(persist)
    const document = new LiveDocument(id, { ...options, persist }, this.#context())
    this.#open.add(document)
    return document
  }

  /** Returns texts of documents that hold the words, best first. [AG-65] */
  search(q: string, options: SearchOptions = {}): Promise<SearchPage> {
    return search(this.#requests, q, options)
  }

  /** Lists what the workspace uses, and its limits. [REST-28] */
  usage(options: CallOptions = {}): Promise<Usage> {
    return this.#requests.json('GET', '/api/v1/usage', options)
  }

  /** Reconnects every connection that waits or has stopped. Call it when the person has signed in again. */
  reconnect(): void {
    this.#toldSignIn = false
    this.#events.reconnect()
    for (const document of this.#open) document.reconnect()
  }

  /** Whether the copies that `signOut` removes hold words that the relay has not acknowledged, including words of an earlier page load. */
  async hasUnsavedCopies(): Promise<boolean> {
    const sub = await this.#copySub().catch(() => null)
    const whose = { origin: this.#base, sub }
    const found = await Promise.all(
      [...this.#persistences].map(async (persistence) => (await persistence.hasUnsaved?.(whose)) ?? false),
    )
    return found.includes(true)
  }

  /** Closes everything, and removes the person's copies of every workspace from this device, unsaved edits in them included. */
  async signOut(): Promise<void> {
    // Asked before the documents close, because the application may have no token afterwards.
    const sub = await this.#copySub().catch(() => null)
    await this.close()
    await Promise.all([...this.#persistences].map((persistence) => persistence.clear({ origin: this.#base, sub })))
  }

  /** Closes every open document and the connection for events. Does not wait for unsaved edits; see `LiveDocument.flush`. */
  async close(): Promise<void> {
    this.#closed = true
    this.#events.close()
    await Promise.all([...this.#open].map((document) => document.close()))
  }

  #needSockets(): void {
    if (this.#closed) throw new RelayError('CLOSED', 'the relay object is closed')
    if (this.#environment.hasWebSocket?.() === false)
      throw new RelayError(
        'NO_WEBSOCKET',
        'this platform has no WebSocket: use Node 22 or newer, or give createRelay a class as `WebSocket`, for example that of the package ws',
      )
  }

  #context(): LiveContext {
    return {
      socketUrl: `${this.#base.replace(/^http/, 'ws')}/ws`,
      token: (request) => this.#tokens.get(request),
      workspace: this.#options.workspace,
      environment: this.#environment,
      documents: this.documents,
      copyScope: () => this.#copyScope(),
      open: (id, options) => this.open(id, options),
      onLink: (document, state) => {
        if (state.closed !== null && state.connection === 'stopped') this.#stopped(closeError(state.closed))
        if (linkOf(state) === 'stopped') this.#events.documentClosed(document)
        else this.#events.documentLink(document, state.connection === 'authenticated')
      },
      onEvent: (document, event) => this.#events.received(document, event),
      onClosed: (document) => {
        this.#open.delete(document)
        this.#events.documentClosed(document)
      },
    }
  }

  #linkForEvents(): EventLink {
    return new SyncConnection({
      url: `${this.#base.replace(/^http/, 'ws')}/ws`,
      token: (request) => this.#tokens.get(request),
      environment: this.#environment,
      ...(this.#options.workspace !== undefined && { workspace: this.#options.workspace }),
      onStatus: (status) => {
        this.#events.ownLink(status.kind === 'authenticated')
        if (status.kind === 'stopped') this.#stopped(closeError(status))
      },
      onOpen: () => {},
      onFrame: (tag, message) => {
        if (tag === TAG.docEvent) this.#events.received(null, readJson(message) as DocEventFrame)
      },
    })
  }

  #stopped(error: RelayError): void {
    if (['TOKEN_INVALID', 'TOKEN_REVOKED', 'NEEDS_SIGN_IN'].includes(error.code)) this.#needsSignIn(error)
  }

  #needsSignIn(error: RelayError): void {
    if (this.#toldSignIn) return
    this.#toldSignIn = true
    this.#emitter.emit('needsSignIn', error)
  }

  async #copyScope(): Promise<CopyScope> {
    return { origin: this.#base, workspace: this.#options.workspace ?? '', sub: await this.#copySub() }
  }

  async #copySub(): Promise<string> {
    const { userId } = this.#options
    if (userId !== undefined) return userId
    const token = this.#tokens.last ?? (await this.#firstToken())
    const sub = subjectOf(token)
    if (sub === null) throw new RelayError('TOKEN_FAILED', 'the token names no person', { retry: 'after-change' })
    return sub
  }

  /** Returns a token. Rejects when the application gives none within the time limit, so that opening a document does not wait forever. */
  #firstToken(): Promise<string> {
    const asked = usableToken(this.#tokens.get({ fresh: false }))
    return inTime(asked, TOKEN_MS, (ms, run) => this.#environment.after(ms, run), tokenLate)
  }
}

/**
 * Returns an object that talks to one relay for one person. It connects when something first needs a connection.
 *
 * @throws RelayError BAD_URL
 */
export function createRelay(options: RelayOptions): Relay {
  return new Relay(options)
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    const message = `url is ${JSON.stringify(url)}; it is the address of the relay, such as https://relay.example`
    throw new RelayError('BAD_URL', message)
  }
  return (parsed.origin + parsed.pathname).replace(/\/+$/, '')
}
