import type { DocumentMetadata, ErrorBody, SavedDocument } from '../rest.ts'
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

  async #json(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers: Record<string, string> = { authorization: `Bearer ${await this.#options.token()}` }
    if (this.#options.workspace !== undefined) headers['x-workspace-id'] = this.#options.workspace
    if (body !== undefined) headers['content-type'] = 'application/json'
    const init: RequestInit = { method, headers }
    if (body !== undefined) init.body = JSON.stringify(body)
    const response = await this.#environment.fetch(this.#options.baseUrl + path, init)
    const text = await response.text()
    if (!response.ok) throw new RelayRequestError(response.status, errorBody(text), response.statusText)
    return text === '' ? undefined : JSON.parse(text)
  }
}

function documentPath(id: string): string {
  return `/api/docs/${encodeURIComponent(id)}`
}

function errorBody(text: string): ErrorBody | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && 'errorCode' in value ? (value as ErrorBody) : null
  } catch {
    return null
  }
}
