import type { DocumentMetadata, SavedDocument, ShareInput } from '@docrelay/protocol/rest'
import type { CallOptions, Requests } from './request.ts'

/** The body of a document, as REST reads and writes it. */
export type DocumentBody = Readonly<Record<string, unknown>>

export interface ListOptions extends CallOptions {
  /** The most documents of one page, 1 to 500; all documents in one page when absent. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string | null
  /** Text that the title must contain. */
  readonly q?: string
  /** A collection; the empty text asks for documents in no collection. */
  readonly collectionId?: string
}

export interface DocumentPage {
  readonly documents: readonly DocumentMetadata[]
  /** The `cursor` of the next page; `null` when this is the last one. */
  readonly next: string | null
}

export interface PutOptions extends CallOptions {
  /** Refuses the write when the stored version differs; 0: the id must not exist yet. [REST-16] */
  readonly expectedVersion?: number
  /** Makes a deleted id new again. [REST-18] */
  readonly overrideTombstone?: boolean
}

/** The documents of the workspace that the caller may read. */
export class Documents {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Returns one page of documents, newest change first. [REST-21] */
  list({ limit, cursor, q, collectionId, signal }: ListOptions = {}): Promise<DocumentPage> {
    const query = { limit, cursor: cursor ?? undefined, q, collectionId }
    return this.#requests.send('GET', '/api/docs', { query, signal }, async (response) => {
      const reply = (await response.json()) as DocumentMetadata[] | { readonly documents: DocumentMetadata[] }
      return { documents: Array.isArray(reply) ? reply : reply.documents, next: nextCursor(response.headers.get('link')) }
    })
  }

  /** Yields every document, fetching page by page. */
  async *all(options: Omit<ListOptions, 'cursor'> = {}): AsyncGenerator<DocumentMetadata, void> {
    let cursor: string | null = null
    do {
      const page: DocumentPage = await this.list({ limit: 200, ...options, cursor })
      yield* page.documents
      cursor = page.next
    } while (cursor !== null)
  }

  get(id: string, options: CallOptions = {}): Promise<DocumentBody> {
    return this.#requests.json('GET', documentPath(id), options)
  }

  /** Returns the version, the caller's level and the lineage of one document, as a list shows them. [REST-30] */
  metadata(id: string, options: CallOptions = {}): Promise<DocumentMetadata> {
    return this.#requests.json('GET', `/api/v1/docs/${encodeURIComponent(id)}/metadata`, options)
  }

  /** Creates or replaces a document, which is durable when the promise resolves. [REST-15..REST-18] */
  put(id: string, body: DocumentBody, { expectedVersion, overrideTombstone, signal }: PutOptions = {}): Promise<SavedDocument> {
    return this.#requests.json('PUT', documentPath(id), { query: { expectedVersion, overrideTombstone }, body, signal })
  }

  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.json('DELETE', documentPath(id), options)
  }

  /** Gives the document another owner. [REST-23] */
  transfer(id: string, toUserId: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.json('POST', `${documentPath(id)}/transfer`, { ...options, body: { to_user_id: toUserId } })
  }

  /** Puts the document into a collection; `null` removes it from its collection. [REST-24] */
  setCollection(id: string, collectionId: string | null, options: CallOptions = {}): Promise<void> {
    return this.#requests.json('PUT', `${documentPath(id)}/collection`, { ...options, body: { collectionId } })
  }

  /** Replaces the share list, by the deprecated route that version 2.0.0 removes. [SHARE-6] */
  setShares(id: string, shares: readonly ShareInput[], options: CallOptions = {}): Promise<void> {
    return this.#requests.json('POST', `${documentPath(id)}/share`, { ...options, body: { shares } })
  }
}

export function documentPath(id: string): string {
  return `/api/docs/${encodeURIComponent(id)}`
}

/** Returns the cursor of the next page from a Link header. [REST-21] */
export function nextCursor(link: string | null): string | null {
  const target = /<([^>]*)>;\s*rel="next"/.exec(link ?? '')?.[1]
  const query = target?.split('?')[1]
  return query === undefined ? null : new URLSearchParams(query).get('cursor')
}
