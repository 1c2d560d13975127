import type {
  CollectionInput,
  CollectionRegistry,
  DocumentMetadata,
  RegistrySaved,
  SearchAnswer,
  StyleProfile,
  StyleProfileRegistry,
} from '@docrelay/protocol/rest'
import type { CallOptions, Requests } from './request.ts'

export interface VersionedPut extends CallOptions {
  /** Refuses the write when the stored version differs; `details` of the error then contain the stored entries. [REST-25] */
  readonly expectedVersion?: number
}

/** The collections of the workspace. */
export class Collections {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  get(options: CallOptions = {}): Promise<CollectionRegistry> {
    return this.#requests.json('GET', '/api/collections', options)
  }

  /** Replaces all collections. [REST-25] */
  put(collections: readonly CollectionInput[], { expectedVersion, signal }: VersionedPut = {}): Promise<RegistrySaved> {
    return this.#requests.json('PUT', '/api/collections', { body: { collections, expectedVersion }, signal })
  }

  /** Returns the documents of a collection that the caller may read. */
  async documents(id: string, options: CallOptions = {}): Promise<readonly DocumentMetadata[]> {
    const path = `/api/collections/${encodeURIComponent(id)}/documents`
    return (await this.#requests.json<{ documents: DocumentMetadata[] }>('GET', path, options)).documents
  }
}

/** The style profiles of the workspace. */
export class StyleProfiles {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  get(options: CallOptions = {}): Promise<StyleProfileRegistry> {
    return this.#requests.json('GET', '/api/v1/style-profiles', options)
  }

  /** Replaces all style profiles. [REST-32] */
  put(profiles: readonly StyleProfile[], { expectedVersion, signal }: VersionedPut = {}): Promise<RegistrySaved> {
    return this.#requests.json('PUT', '/api/v1/style-profiles', { body: { profiles, expectedVersion }, signal })
  }
}

export interface SearchOptions extends CallOptions {
  /** Searches in this document only. */
  readonly docId?: string
  /** The most hits of one page, 1 to 20. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string | null
}

export type SearchPage = Omit<SearchAnswer, 'nextCursor' | 'returned'> & {
  /** The `cursor` of the next page; `null` when this is the last one. */
  readonly next: string | null
}

/** Returns texts that hold the words, best first. [AG-65] */
export async function search(requests: Requests, q: string, options: SearchOptions = {}): Promise<SearchPage> {
  const { docId, limit, cursor, signal } = options
  const query = { q, docId, limit, cursor: cursor ?? undefined }
  const { nextCursor, returned: _, ...page } = await requests.json<SearchAnswer>('GET', '/api/v1/search', { query, signal })
  return { ...page, next: nextCursor ?? null }
}
