import type { DocEventFrame } from '@docrelay/protocol/frames'

/** A connection that brings the events of the workspace. */
export interface EventLink {
  connect(): void
  close(): void
}

export interface WorkspaceEventsOptions {
  /** Makes a connection that is joined to no document. It calls `linkLive`, `linkDown` and `received`. */
  readonly newLink: () => EventLink
  readonly onEvent: (event: DocEventFrame) => void
  /** Called when events begin to arrive; earlier ones may have been missed. */
  readonly onBegin: () => void
}

/**
 * Passes on each event of the workspace once. Every connection of a client receives all events, so only one connection passes them on: that of an
 * open document, or one for events alone while no document is open.
 */
export class WorkspaceEvents {
  readonly #options: WorkspaceEventsOptions
  /** Connections of open documents, and whether they are live. */
  readonly #documents = new Map<object, boolean>()
  #own: EventLink | null = null
  #ownLive = false
  #current: object | null = null
  #wanted = false

  constructor(options: WorkspaceEventsOptions) {
    this.#options = options
  }

  /** Called when the application begins to listen. */
  want(): void {
    this.#wanted = true
    this.#choose()
  }

  documentLink(link: object, live: boolean): void {
    this.#documents.set(link, live)
    this.#choose()
  }

  documentClosed(link: object): void {
    if (this.#documents.delete(link)) this.#choose()
  }

  ownLink(live: boolean): void {
    this.#ownLive = live
    this.#choose()
  }

  received(link: object | null, event: DocEventFrame): void {
    if (this.#wanted && (link ?? this.#own) === this.#current) this.#options.onEvent(event)
  }

  /** Starts the connection for events again, if there is one. */
  reconnect(): void {
    if (!this.#ownLive) this.#own?.connect()
  }

  close(): void {
    this.#wanted = false
    this.#documents.clear()
    this.#closeOwn()
  }

  #choose(): void {
    if (!this.#wanted) return
    const live = [...this.#documents].filter(([, isLive]) => isLive).map(([link]) => link)
    const next = live.find((link) => link === this.#current) ?? live[0] ?? (this.#ownLive ? this.#own : null)
    if (next !== null && next !== this.#current) {
      this.#current = next
      this.#options.onBegin()
    } else this.#current = next
    if (this.#own !== null && live.length > 0) this.#closeOwn()
    if (this.#own !== null || this.#documents.size > 0) return
    this.#own = this.#options.newLink()
    this.#own.connect()
  }

  #closeOwn(): void {
    const own = this.#own
    this.#own = null
    this.#ownLive = false
    own?.close()
  }
}
