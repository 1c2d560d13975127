import type {
  DocumentMetadata,
  IssuedShareLink,
  ListedShareLink,
  RecoveryPoint,
  RestoredDocument,
  ToolCall,
  UndoneCall,
} from '@docrelay/protocol/rest'
import { type DocumentBody, documentPath } from './documents.ts'
import type { CallOptions, Requests } from './request.ts'

/** Former states of documents. */
export class RecoveryPoints {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Returns the recovery points, newest first. */
  async list(id: string, options: CallOptions = {}): Promise<readonly RecoveryPoint[]> {
    return (await this.#requests.json<{ recoveryPoints: RecoveryPoint[] }>('GET', path(id), options)).recoveryPoints
  }

  /** Takes a recovery point. Returns false when the document is the same as its newest point. [LIFE-20] */
  async capture(id: string, options: CallOptions = {}): Promise<boolean> {
    return (await this.#requests.json<{ captured: boolean }>('POST', `${path(id)}/capture`, options)).captured
  }

  /** Returns the document as it was at a recovery point. */
  get(id: string, pointId: string, options: CallOptions = {}): Promise<DocumentBody> {
    return this.#requests.json('GET', path(id, pointId), options)
  }

  /** Makes a new document from a recovery point and deletes this one. [LIFE-22] */
  restore(id: string, pointId: string, options: CallOptions = {}): Promise<RestoredDocument> {
    return this.#requests.json('POST', `${path(id, pointId)}/restore`, options)
  }
}

function path(id: string, pointId?: string): string {
  return `${documentPath(id)}/recovery${pointId === undefined ? '' : `/${encodeURIComponent(pointId)}`}`
}

export interface CallPage {
  readonly calls: readonly ToolCall[]
  /** The `cursor` of the next page; `null` when this is the last one. */
  readonly next: string | null
}

/** The calls of tools that wrote documents. [AG-73] */
export class Calls {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Returns the calls that wrote a document, newest first. */
  async list(
    id: string,
    { limit, cursor, signal }: CallOptions & { readonly limit?: number; readonly cursor?: string | null } = {},
  ): Promise<CallPage> {
    const query = { limit, cursor: cursor ?? undefined }
    const answer = await this.#requests.json<{ calls: ToolCall[]; nextCursor?: string }>('GET', callsPath(id), { query, signal })
    return { calls: answer.calls, next: answer.nextCursor ?? null }
  }

  /** Undoes the changes of a call, except where somebody has changed the same place since. [AG-72] */
  undo(
    id: string,
    callId: string,
    { expectedVersion, signal }: CallOptions & { readonly expectedVersion?: number } = {},
  ): Promise<UndoneCall> {
    const body = { expectedVersion }
    return this.#requests.json('POST', `${callsPath(id)}/${encodeURIComponent(callId)}/undo`, { body, signal })
  }
}

function callsPath(id: string): string {
  return `/api/v1/docs/${encodeURIComponent(id)}/calls`
}

/** Links that give people of the workspace the right to read a document. */
export class ShareLinks {
  readonly #requests: Requests

  constructor(requests: Requests) {
    this.#requests = requests
  }

  /** Issues a share link. Only this answer contains the token. [SHARE-1] */
  issue(id: string, { expiresAt, signal }: CallOptions & { readonly expiresAt: Date }): Promise<IssuedShareLink> {
    return this.#requests.json('POST', linksPath(id), { body: { expires_at: expiresAt.toISOString() }, signal })
  }

  async list(id: string, options: CallOptions = {}): Promise<readonly ListedShareLink[]> {
    return (await this.#requests.json<{ shareLinks: ListedShareLink[] }>('GET', linksPath(id), options)).shareLinks
  }

  revoke(id: string, linkId: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.json('DELETE', `${linksPath(id)}/${encodeURIComponent(linkId)}`, options)
  }

  /** Redeems the token of a share link and returns the document, which the caller may read from now on. [SHARE-4] */
  redeem(token: string, options: CallOptions = {}): Promise<DocumentMetadata> {
    return this.#requests.json('POST', '/api/v1/share-links/redeem', { ...options, body: { token } })
  }
}

function linksPath(id: string): string {
  return `/api/v1/docs/${encodeURIComponent(id)}/share-links`
}
