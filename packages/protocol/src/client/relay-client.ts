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
} from '../rest.ts'
import { type Environment, platform } from './environment.ts'

export interface RelayClientOptions {
  /** Origin of the relay, e.g. `http://127.0.0.1:9876`. */
  readonly baseUrl: string
  /** Called before every request. */
  readonly token: () => string | Promise<string>
  /** The workspace of the token to act in, where it has several. [AUTH-6] */
  readonly workspace?: string
  readonly environment?: Environment
}

/** Any answer of the relay that is not a success. `code` is the errorCode of the body, or `HTTP_<status>` where there is none. */
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

  /** Creates or replaces; durable when it resolves. With `expectedVersion`, 0 means that the id must not exist. [REST-15..REST-18] */
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

  /** Documents of a collection that the caller may read. */
  async listCollection(id: string): Promise<DocumentMetadata[]> {
    const path = `/api/collections/${encodeURIComponent(id)}/documents`
    return ((await this.#json('GET', path)) as { documents: DocumentMetadata[] }).documents
  }

  async collections(): Promise<CollectionRegistry> {
    return (await this.#json('GET', '/api/collections')) as CollectionRegistry
  }

  /** Replaces all of them; with another version than `expectedVersion` the error's body holds what is stored. [REST-25] */
  async putCollections(collections: readonly CollectionInput[], expectedVersion?: number): Promise<RegistrySaved> {
    return (await this.#json('PUT', '/api/collections', { collections, expectedVersion })) as RegistrySaved
  }

  async styleProfiles(): Promise<StyleProfileRegistry> {
    return (await this.#json('GET', '/api/v1/style-profiles')) as StyleProfileRegistry
  }

  /** As `putCollections`. [REST-32] */
  async putStyleProfiles(profiles: readonly StyleProfile[], expectedVersion?: number): Promise<RegistrySaved> {
    return (await this.#json('PUT', '/api/v1/style-profiles', { profiles, expectedVersion })) as RegistrySaved
  }

  async usage(): Promise<Usage> {
    return (await this.#json('GET', '/api/v1/usage')) as Usage
  }

  /** The token is in this answer and in no later one. [SHARE-1] */
  async issueShareLink(id: string, expiresAt: Date): Promise<IssuedShareLink> {
    return (await this.#json('POST', linksPath(id), { expires_at: expiresAt.toISOString() })) as IssuedShareLink
  }

  async listShareLinks(id: string): Promise<ListedShareLink[]> {
    return ((await this.#json('GET', linksPath(id))) as { shareLinks: ListedShareLink[] }).shareLinks
  }

  async revokeShareLink(id: string, linkId: string): Promise<void> {
    await this.#json('DELETE', `${linksPath(id)}/${encodeURIComponent(linkId)}`)
  }

  /** The document, which the caller may read from now on. [SHARE-4] */
  async redeemShareLink(token: string): Promise<DocumentMetadata> {
    return (await this.#json('POST', '/api/v1/share-links/redeem', { token })) as DocumentMetadata
  }

  /** Replaces the share list, by the route that 2.0.0 removes. [SHARE-6] */
  async shareDocument(id: string, shares: readonly ShareInput[]): Promise<void> {
    await this.#json('POST', `${documentPath(id)}/share`, { shares })
  }

  /** Newest first. */
  async recoveryPoints(id: string): Promise<RecoveryPoint[]> {
    return ((await this.#json('GET', recoveryPath(id))) as { recoveryPoints: RecoveryPoint[] }).recoveryPoints
  }

  /** False when the document is as its newest point. [LIFE-20] */
  async captureRecoveryPoint(id: string): Promise<boolean> {
    return ((await this.#json('POST', `${recoveryPath(id)}/capture`)) as { captured: boolean }).captured
  }

  async getRecoveryPoint(id: string, pointId: string): Promise<Record<string, unknown>> {
    return (await this.#json('GET', recoveryPath(id, pointId))) as Record<string, unknown>
  }

  /** Makes a new document of a point and deletes this one. [LIFE-22] */
  async restoreRecoveryPoint(id: string, pointId: string): Promise<RestoredDocument> {
    return (await this.#json('POST', `${recoveryPath(id, pointId)}/restore`)) as RestoredDocument
  }

  /** Stores bytes under their hash, which is the answer; durable when it resolves. [BLOB-3] */
  async uploadBlob(bytes: Uint8Array<ArrayBuffer>, mimeType = 'application/octet-stream'): Promise<string> {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
    const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
    await this.#send('POST', blobPath(hash), { type: mimeType, content: bytes })
    return hash
  }

  async downloadBlob(hash: string): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly mimeType: string }> {
    const response = await this.#send('GET', blobPath(hash))
    return { bytes: new Uint8Array(await response.arrayBuffer()), mimeType: response.headers.get('content-type') ?? '' }
  }

  /** `null` when the workspace has no such blob. [BLOB-8] */
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
