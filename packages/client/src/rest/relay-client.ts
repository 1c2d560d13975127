import type {
  BlobInfo,
  CollectionInput,
  CollectionRegistry,
  DocumentMetadata,
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
import { Tokens } from '../tokens.ts'
import { Blobs, type DownloadedBlob } from './blobs.ts'
import { RecoveryPoints, ShareLinks } from './document-history.ts'
import { type DocumentBody, Documents, type PutOptions } from './documents.ts'
import { Requests } from './request.ts'
import { Collections, StyleProfiles } from './workspace.ts'

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
 * A REST client without retries: every call is one request. Every method rejects with `RelayError` when the relay refuses. Applications use
 * `createRelay`.
 */
export class RelayClient {
  readonly #requests: Requests
  readonly #documents: Documents
  readonly #recovery: RecoveryPoints
  readonly #links: ShareLinks
  readonly #blobs: Blobs
  readonly #collections: Collections
  readonly #profiles: StyleProfiles

  constructor({ baseUrl, token, workspace, environment = platform }: RelayClientOptions) {
    this.#requests = new Requests({
      base: baseUrl,
      tokens: new Tokens(token, () => {}, environment),
      workspace,
      environment,
      attempts: 1,
    })
    this.#documents = new Documents(this.#requests)
    this.#recovery = new RecoveryPoints(this.#requests)
    this.#links = new ShareLinks(this.#requests)
    this.#blobs = new Blobs(this.#requests)
    this.#collections = new Collections(this.#requests)
    this.#profiles = new StyleProfiles(this.#requests)
  }

  async listDocuments(): Promise<readonly DocumentMetadata[]> {
    return (await this.#documents.list()).documents
  }

  getDocument(id: string): Promise<DocumentBody> {
    return this.#documents.get(id)
  }

  getMetadata(id: string): Promise<DocumentMetadata> {
    return this.#documents.metadata(id)
  }

  putDocument(id: string, body: DocumentBody, guard: PutOptions = {}): Promise<SavedDocument> {
    return this.#documents.put(id, body, guard)
  }

  deleteDocument(id: string): Promise<void> {
    return this.#documents.delete(id)
  }

  transferDocument(id: string, toUserId: string): Promise<void> {
    return this.#documents.transfer(id, toUserId)
  }

  setCollection(id: string, collectionId: string | null): Promise<void> {
    return this.#documents.setCollection(id, collectionId)
  }

  shareDocument(id: string, shares: readonly ShareInput[]): Promise<void> {
    return this.#documents.setShares(id, shares)
  }

  collections(): Promise<CollectionRegistry> {
    return this.#collections.get()
  }

  listCollection(id: string): Promise<readonly DocumentMetadata[]> {
    return this.#collections.documents(id)
  }

  putCollections(collections: readonly CollectionInput[], expectedVersion?: number): Promise<RegistrySaved> {
    return this.#collections.put(collections, expectedVersion === undefined ? {} : { expectedVersion })
  }

  styleProfiles(): Promise<StyleProfileRegistry> {
    return this.#profiles.get()
  }

  putStyleProfiles(profiles: readonly StyleProfile[], expectedVersion?: number): Promise<RegistrySaved> {
    return this.#profiles.put(profiles, expectedVersion === undefined ? {} : { expectedVersion })
  }

  usage(): Promise<Usage> {
    return this.#requests.json('GET', '/api/v1/usage')
  }

  issueShareLink(id: string, expiresAt: Date): Promise<IssuedShareLink> {
    return this.#links.issue(id, { expiresAt })
  }

  listShareLinks(id: string): Promise<readonly ListedShareLink[]> {
    return this.#links.list(id)
  }

  revokeShareLink(id: string, linkId: string): Promise<void> {
    return this.#links.revoke(id, linkId)
  }

  redeemShareLink(token: string): Promise<DocumentMetadata> {
    return this.#links.redeem(token)
  }

  recoveryPoints(id: string): Promise<readonly RecoveryPoint[]> {
    return this.#recovery.list(id)
  }

  captureRecoveryPoint(id: string): Promise<boolean> {
    return this.#recovery.capture(id)
  }

  getRecoveryPoint(id: string, pointId: string): Promise<DocumentBody> {
    return this.#recovery.get(id, pointId)
  }

  restoreRecoveryPoint(id: string, pointId: string): Promise<RestoredDocument> {
    return this.#recovery.restore(id, pointId)
  }

  uploadBlob(bytes: Uint8Array<ArrayBuffer>, mimeType = 'application/octet-stream'): Promise<string> {
    return this.#blobs.upload(bytes, { mimeType })
  }

  downloadBlob(hash: string): Promise<DownloadedBlob> {
    return this.#blobs.download(hash)
  }

  blobInfo(hash: string): Promise<BlobInfo | null> {
    return this.#blobs.info(hash)
  }
}
