import type { DocumentRef } from '../documents/document-store.port.ts'

export interface ShareLink {
  readonly id: string
  readonly createdAtMs: number
  /** `sub` of the person who issued the link. */
  readonly createdBy: string
  readonly expiresAtMs: number
}

/**
 * Share links of documents, each stored under the hash of its token. A link is deleted with its document. [SHARE-2,
 * SHARE-5] A write is durable when it resolves.
 */
export interface ShareLinkStore {
  /**
   * Stores a link. `full`: the document already has `maxLive` links that have not expired. `gone`: the document does
   * not exist any more. [SHARE-1]
   */
  issue(
    link: ShareLink & { readonly key: number; readonly tokenHash: string; readonly maxLive: number },
  ): Promise<'issued' | 'full' | 'gone'>
  /** Returns the links that have not expired, newest first. [SHARE-3] */
  list(key: number, nowMs: number): Promise<readonly ShareLink[]>
  /** Deletes a link. An expired link counts as unknown, even while it is still stored. [SHARE-3] */
  revoke(key: number, linkId: string, nowMs: number): Promise<'revoked' | 'unknown'>
  /** Returns the document that a live link of this workspace opens. [SHARE-4] */
  find(
    workspaceId: string,
    tokenHash: string,
    nowMs: number,
  ): Promise<{ readonly ref: DocumentRef; readonly key: number; readonly linkId: string } | null>
  /** Deletes at most `limit` expired links and returns how many it deleted. [LIFE-30] */
  purgeExpired(nowMs: number, limit: number): Promise<number>
}
