import type { DocumentMetadata, Relay } from '@docrelay/client'
import { sentenceOf } from '../app/error-words.ts'

/** What the list shows: all documents, those of a collection, or those whose title contains `q`. */
export interface ListQuery {
  readonly q: string
  /** `null`: documents in any collection or none. The empty text: documents in no collection. */
  readonly collectionId: string | null
}

export interface ListState {
  readonly documents: readonly DocumentMetadata[]
  readonly next: string | null
  readonly status: 'loading' | 'ready' | 'failed'
  readonly error: string | null
}

const PAGE = 50

/**
 * The documents that a query finds, loaded page by page and updated by the events of the workspace. A reload after an interruption keeps the
 * number of loaded pages.
 */
export class DocumentList {
  #state: ListState = { documents: [], next: null, status: 'loading', error: null }
  readonly #relay: Relay
  readonly #query: ListQuery
  readonly #changed: (state: ListState) => void
  readonly #ended = new AbortController()
  readonly #off: (() => void)[]
  /** For each running load: the documents of events since it began, since its answer may be older than the events; `null`: deleted. */
  readonly #told = new Set<Map<string, DocumentMetadata | null>>()

  constructor(relay: Relay, query: ListQuery, changed: (state: ListState) => void) {
    this.#relay = relay
    this.#query = query
    this.#changed = changed
    this.#off = [
      relay.on('event', ({ eventType, docId, metadata }) => {
        if (eventType === 'deleted') this.remove(docId)
        else if (metadata !== undefined) this.put(metadata)
        else void this.load()
      }),
      relay.on('resync', () => void this.load()),
    ]
    void this.load()
  }

  /** Loads as many documents as are shown now, at least one page. */
  async load(): Promise<void> {
    const wanted = Math.max(PAGE, this.#state.documents.length)
    await this.#answer(async () => {
      const { documents, next } = await this.#page(null, Math.min(500, wanted))
      return { documents, next }
    })
  }

  async loadMore(): Promise<void> {
    const { documents: before, next: cursor } = this.#state
    if (cursor === null) return
    await this.#answer(async () => {
      const { documents, next } = await this.#page(cursor, PAGE)
      const known = new Set(documents.map(({ id }) => id))
      return { documents: [...before.filter(({ id }) => !known.has(id)), ...documents], next }
    })
  }

  /** Puts the present state of a document first in the list, when the query finds it. */
  put(document: DocumentMetadata): void {
    for (const told of this.#told) told.set(document.id, document)
    const others = this.#state.documents.filter(({ id }) => id !== document.id)
    const { q, collectionId } = this.#query
    const titled = document.name.toLocaleLowerCase().includes(q.trim().toLocaleLowerCase())
    const collected = collectionId === null || (document.collectionId ?? '') === collectionId
    this.#set({ documents: titled && collected ? [document, ...others] : others })
  }

  remove(id: string): void {
    for (const told of this.#told) told.set(id, null)
    this.#set({ documents: this.#state.documents.filter((document) => document.id !== id) })
  }

  close(): void {
    this.#ended.abort()
    for (const off of this.#off) off()
  }

  #page(cursor: string | null, limit: number) {
    const { q, collectionId } = this.#query
    return this.#relay.documents.list({
      limit,
      cursor,
      signal: this.#ended.signal,
      ...(q.trim() !== '' && { q: q.trim() }),
      ...(collectionId !== null && { collectionId }),
    })
  }

  async #answer(ask: () => Promise<Pick<ListState, 'documents' | 'next'>>): Promise<void> {
    const told = new Map<string, DocumentMetadata | null>()
    this.#told.add(told)
    try {
      this.#set({ ...(await ask()), status: 'ready', error: null })
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#set({ status: 'failed', error: sentenceOf(error) })
    } finally {
      this.#told.delete(told)
    }
    for (const [id, document] of told) {
      if (document === null) this.remove(id)
      else this.put(document)
    }
  }

  #set(change: Partial<ListState>): void {
    if (this.#ended.signal.aborted) return
    this.#state = { ...this.#state, ...change }
    this.#changed(this.#state)
  }
}
