import type { BodyFacts } from '@docrelay/model/body-facts'
import type { DocumentHead, DocumentRef, StoredBody, Tombstone } from '../documents/document-store.port.ts'

export interface PointHead {
  /** `<createdAt ms>-v<serverVersion>`, unique per document. [REST-26] */
  readonly pointId: string
  readonly createdAtMs: number
  readonly version: number
  readonly sizeBytes: number
}

export type PointRecord =
  /** `body` as it was stored, without the server's own members. */
  | { readonly kind: 'point'; readonly head: PointHead; readonly body: Uint8Array; readonly facts: BodyFacts }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'absent' }

/** Why a point was taken; recorded for the operator. [LIFE-19] */
export type CaptureReason = 'interval' | 'last-leave' | 'zeroing' | 'restore' | 'demand'

export type CaptureOutcome =
  | { readonly kind: 'captured'; readonly point: PointHead }
  /** The newest point says the same, serverVersion, version, modifiedAt and lastModifiedBy* left aside. [LIFE-20] */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'gone' }

export interface RestoreRequest {
  /** The source as it was seen; another key or version is a conflict. */
  readonly source: DocumentHead
  readonly newRef: DocumentRef
  /** The body of the new document: the point's content under the new id and title. */
  readonly body: StoredBody
  readonly nowMs: number
}

export type RestoreOutcome =
  | { readonly kind: 'restored'; readonly head: DocumentHead; readonly tombstone: Tombstone }
  | { readonly kind: 'conflict' }

/**
 * A bounded ring of earlier bodies per document, checksummed. Points of interval and zeroing are taken by the document store within the write
 * that replaces a body: the state before it is kept when no point is younger than the interval. [LIFE-18..LIFE-21]
 * What a promise says is durable when it resolves. Rejects with UNAVAILABLE or NOT_PERSISTED.
 */
export interface RecoveryStore {
  /** Newest first. */
  list(key: number): Promise<readonly PointHead[]>
  read(key: number, pointId: string): Promise<PointRecord>
  /** Keeps the stored body; the caller has materialised a live document before. */
  capture(key: number, reason: CaptureReason, nowMs: number): Promise<CaptureOutcome>
  /**
   * One transaction: the stored body of the source is captured, the new document gets the source's owner, sharedWith, collection and ring, the
   * source is tombstoned, blobs that only points referenced are granted again. No quota is asked. A source with edits that its body lacks is
   * a conflict, unless its log cannot be read: the bytes of that log are then kept aside with the new document. [LIFE-22, LIFE-5, BLOB-16]
   */
  restore(request: RestoreRequest): Promise<RestoreOutcome>
}
