import type { DocumentRef } from '../documents/document-store.port.ts'

export interface ShareLink {
  readonly id: string
  readonly createdAtMs: number
  /** sub of the issuer. */
  readonly createdBy: string
  readonly expiresAtMs: number
}

/** Links into documents, by the hash of their token; they end with the document. [SHARE-2, SHARE-5] A write is durable when it resolves. */
export interface ShareLinkStore {
  /** `full`: the document has `maxLive` links that have not expired. `gone`: there is no such document any more. [SHARE-1] */
  issue(
    link: ShareLink & { readonly key: number; readonly tokenHash: string; readonly maxLive: number },
  ): Promise<'issued' | 'full' | 'gone'>
  /** Links that have not expired, newest first. [SHARE-3] */
  list(key: number, nowMs: number): Promise<readonly ShareLink[]>
  /** A link that has expired is unknown, whether it is still stored or not. [SHARE-3] */
  revoke(key: number, linkId: string, nowMs: number): Promise<'revoked' | 'unknown'>
  /** The document that a live link of this workspace leads to. [SHARE-4] */
  find(
    workspaceId: string,
    tokenHash: string,
    nowMs: number,
  ): Promise<{ readonly ref: DocumentRef; readonly key: number; readonly linkId: string } | null>
  /** Deletes at most `limit` expired links; answers how many. [LIFE-30] */
  purgeExpired(nowMs: number, limit: number): Promise<number>
}
