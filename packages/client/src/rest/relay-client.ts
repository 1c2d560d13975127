import type {
  BlobInfo,
  CollectionInput,
  CollectionRegistry,
  DocumentMetadata,
  ErrorBody,
  IssuedShareLink,
  ListedShareLink,
  RecoveryPoint,
  RegistrySaved,
  RestoredDocument,
  SavedDocument,
  ShareInput,
  StyleProfile,
  StyleProfileRegistry,
  Usage,
} from '@docrelay/protocol/rest'
import { type Environment, platform } from '../environment.ts'

export interface RelayClientOptions {
  /** Origin of the relay, e.g. `http://127.0.0.1:9876`. */
  readonly baseUrl: string
  /** Called before every request. */
  readonly token: () => string | Promise<string>
  /** The workspace to act in, for a token that names several. [AUTH-6] */
  readonly workspace?: string
  readonly environment?: Environment
}

/**
 * The relay answered with a status that is not a success. `code` is the errorCode of the body, or `HTTP_<status>` when
 * the body has none.
 */
export class RelayRequestError extends Error {
  readonly status: number
  readonly code: string
  readonly body: ErrorBody | null

  constructor(status: number, body: ErrorBody | null, text: string) {
    super(body?.error ?? `HTTP ${status} ${text}`.trim())
    this.name = 'RelayRequestError'
    this.status = status
    this.code = body?.errorCode ?? `HTTP_${status}`
    this.body = body
  }
}

/** The REST surface for one caller. Every method rejects with `RelayRequestError` when the relay refuses. */
export class RelayClient {
  readonly #options: RelayClientOptions
  readonly #environment: Environment
  /** True after the first download showed that this relay keeps blobs as files. */
  #relayServesBlobs = false

  constructor(options: RelayClientOptions) {
    this.#options = options
    this.#environment = options.environment ?? platform
  }

  async listDocuments(): Promise<DocumentMetadata[]> {
    const reply = (await this.#json('GET', '/api/docs')) as DocumentMetadata[] | { documents: DocumentMetadata[] }
    return Array.isArray(reply) ? reply : reply.documents
  }

  async getDocument(id: string): Promise<Record<string, unknown>> {
    return (await this.#json('GET', documentPath(id))) as Record<string, unknown>
  }

  /** Returns what a list shows of one document: its version, the caller's level, its lineage. [REST-30] */
  async getMetadata(id: string): Promise<DocumentMetadata> {
    return (await this.#json('GET', `/api/v1/docs/${encodeURIComponent(id)}/metadata`)) as DocumentMetadata
  }

  /**
   * Creates or replaces a document; durable when it resolves. `expectedVersion: 0` means that the id must not exist
   * yet. [REST-15..REST-18]
   */
  async putDocument(
    id: string,
    body: Record<string, unknown>,
    guard: { readonly expectedVersion?: number; readonly overrideTombstone?: boolean } = {},
  ): Promise<SavedDocument> {
    const query = new URLSearchParams()
    if (guard.expectedVersion !== undefined) query.set('expectedVersion', String(guard.expectedVersion))
    if (guard.overrideTombstone !== undefined) query.set('overrideTombstone', String(guard.overrideTombstone))
    const suffix = query.size > 0 ? `?${query}` : ''
    return (await this.#json('PUT', documentPath(id) + suffix, body)) as SavedDocument
  }

  async deleteDocument(id: string): Promise<void> {
    await this.#json('DELETE', documentPath(id))
  }

  async transferDocument(id: string, toUserId: string): Promise<void> {
    await this.#json('POST', `${documentPath(id)}/transfer`, { to_user_id: toUserId })
  }

  async setCollection(id: string, collectionId: string | null): Promise<void> {
    await this.#json('PUT', `${documentPath(id)}/collection`, { collectionId })
  }

  /** Returns the documents of a collection that the caller may read. */
  async listCollection(id: string): Promise<DocumentMetadata[]> {
    const path = `/api/collections/${encodeURIComponent(id)}/documents`
    return ((await this.#json('GET', path)) as { documents: DocumentMetadata[] }).documents
  }

  async collections(): Promise<CollectionRegistry> {
    return (await this.#json('GET', '/api/collections')) as CollectionRegistry
  }

  /**
   * Replaces all collections. When the stored version differs from `expectedVersion`, the body of the error holds what
   * is stored. [REST-25]
   */
  async putCollections(collections: readonly CollectionInput[], expectedVersion?: number): Promise<RegistrySaved> {
    return (await this.#json('PUT', '/api/collections', { collections, expectedVersion })) as RegistrySaved
  }

  async styleProfiles(): Promise<StyleProfileRegistry> {
    return (await this.#json('GET', '/api/v1/style-profiles')) as StyleProfileRegistry
  }

  /** Replaces all style profiles, with `expectedVersion` as in `putCollections`. [REST-32] */
  async putStyleProfiles(profiles: readonly StyleProfile[], expectedVersion?: number): Promise<RegistrySaved> {
    return (await this.#json('PUT', '/api/v1/style-profiles', { profiles, expectedVersion })) as RegistrySaved
  }

  async usage(): Promise<Usage> {
    return (await this.#json('GET', '/api/v1/usage')) as Usage
  }

  /** Issues a share link. Only this answer contains the token. [SHARE-1] */
  async issueShareLink(id: string, expiresAt: Date): Promise<IssuedShareLink> {
    return (await this.#json('POST', linksPath(id), { expires_at: expiresAt.toISOString() })) as IssuedShareLink
  }

  async listShareLinks(id: string): Promise<ListedShareLink[]> {
    return ((await this.#json('GET', linksPath(id))) as { shareLinks: ListedShareLink[] }).shareLinks
  }

  async revokeShareLink(id: string, linkId: string): Promise<void> {
    await this.#json('DELETE', `${linksPath(id)}/${encodeURIComponent(linkId)}`)
  }

  /** Redeems the token of a share link and returns the document, which the caller may read from now on. [SHARE-4] */
  async redeemShareLink(token: string): Promise<DocumentMetadata> {
    return (await this.#json('POST', '/api/v1/share-links/redeem', { token })) as DocumentMetadata
  }

  /** Replaces the share list, by the deprecated route that version 2.0.0 removes. [SHARE-6] */
  async shareDocument(id: string, shares: readonly ShareInput[]): Promise<void> {
    await this.#json('POST', `${documentPath(id)}/share`, { shares })
  }

  /** Returns the recovery points, newest first. */
  async recoveryPoints(id: string): Promise<RecoveryPoint[]> {
    return ((await this.#json('GET', recoveryPath(id))) as { recoveryPoints: RecoveryPoint[] }).recoveryPoints
  }

  /** Takes a recovery point. Returns false when the document is the same as its newest point. [LIFE-20] */
  async captureRecoveryPoint(id: string): Promise<boolean> {
    return ((await this.#json('POST', `${recoveryPath(id)}/capture`)) as { captured: boolean }).captured
  }

  async getRecoveryPoint(id: string, pointId: string): Promise<Record<string, unknown>> {
    return (await this.#json('GET', recoveryPath(id, pointId))) as Record<string, unknown>
  }

  /** Makes a new document from a recovery point and deletes this one. [LIFE-22] */
  async restoreRecoveryPoint(id: string, pointId: string): Promise<RestoredDocument> {
    return (await this.#json('POST', `${recoveryPath(id, pointId)}/restore`)) as RestoredDocument
  }

  /** Stores bytes and returns their hash; durable when it resolves. [BLOB-3] */
  async uploadBlob(bytes: Uint8Array<ArrayBuffer>, mimeType = 'application/octet-stream'): Promise<string> {
    const hash = await sha256(bytes)
    await this.#send('POST', blobPath(hash), { type: mimeType, content: bytes })
    return hash
  }

  /**
   * Returns the bytes of a blob, from the relay or from its object store. Rejects with an Error when the bytes do not
   * have the hash, on platforms that can compute it (browsers only in secure contexts). [BLOB-7, BLOB-13]
   */
  async downloadBlob(hash: string): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly mimeType: string }> {
    const url = await this.#downloadUrl(hash)
    const response = url === null ? await this.#send('GET', blobPath(hash)) : await this.#fetchFromStore(url)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (globalThis.crypto?.subtle !== undefined && (await sha256(bytes)) !== hash)
      throw new Error(`The bytes that were served for the blob ${hash} do not have its hash.`)
    return { bytes, mimeType: response.headers.get('content-type') ?? '' }
  }

  /**
   * Returns a URL into the object store, or `null` when the caller should GET the bytes from the relay.
   *
   * GET redirects to the store. After a redirect to another origin a browser sends `Origin: null`, which CORS rules for
   * an editor's origin do not match; so the client asks for the URL instead. [BLOB-13]
   */
  async #downloadUrl(hash: string): Promise<string | null> {
    if (this.#relayServesBlobs) return null
    try {
      return ((await this.#json('POST', `/api/v1/blobs/${encodeURIComponent(hash)}/download-url`)) as { url: string }).url
    } catch (error) {
      if (!(error instanceof RelayRequestError)) throw error
      if (error.code === 'PRESIGN_UNSUPPORTED') this.#relayServesBlobs = true
      // The caller may still be allowed to GET the blob, which needs fewer rights by default. [BLOB-6]
      else if (error.status !== 404) throw error
      return null
    }
  }

  async #fetchFromStore(url: string): Promise<Response> {
    const response = await this.#environment.fetch(url, { method: 'GET' })
    if (response.ok) return response
    throw new RelayRequestError(response.status, null, 'from the object store')
  }

  /** Returns type, size and time of a blob, or `null` when the workspace has no such blob. [BLOB-8] */
  async blobInfo(hash: string): Promise<BlobInfo | null> {
    try {
      const { headers } = await this.#send('HEAD', blobPath(hash))
      return {
        size: Number(headers.get('content-length')),
        mimeType: headers.get('content-type') ?? '',
        createdAt: headers.get('x-blob-created-at') ?? '',
      }
    } catch (error) {
      if (error instanceof RelayRequestError && error.status === 404) return null
      throw error
    }
  }

  async #json(method: string, path: string, body?: unknown): Promise<unknown> {
    const sent = body === undefined ? undefined : { type: 'application/json', content: JSON.stringify(body) }
    const text = await (await this.#send(method, path, sent)).text()
    return text === '' ? undefined : JSON.parse(text)
  }

  async #send(
    method: string,
    path: string,
    body?: { readonly type: string; readonly content: string | Uint8Array<ArrayBuffer> },
  ): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${await this.#options.token()}` }
    if (this.#options.workspace !== undefined) headers['x-workspace-id'] = this.#options.workspace
    if (body !== undefined) headers['content-type'] = body.type
    const init: RequestInit = { method, headers }
    if (body !== undefined) init.body = body.content
    const response = await this.#environment.fetch(this.#options.baseUrl + path, init)
    if (response.ok) return response
    const text = await response.text()
    throw new RelayRequestError(response.status, errorBody(text), response.statusText)
  }
}

/** Returns the hash in lower-case hex. */
async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function documentPath(id: string): string {
  return `/api/docs/${encodeURIComponent(id)}`
}

function linksPath(id: string): string {
  return `/api/v1/docs/${encodeURIComponent(id)}/share-links`
}

function recoveryPath(id: string, pointId?: string): string {
  const path = `${documentPath(id)}/recovery`
  return pointId === undefined ? path : `${path}/${encodeURIComponent(pointId)}`
}

function blobPath(hash: string): string {
  return `/api/blobs/${encodeURIComponent(hash)}`
}

function errorBody(text: string): ErrorBody | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'errorCode' in value ? (value as ErrorBody) : null
  } catch {
    return null
  }
}
