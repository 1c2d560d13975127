import type { BodyFacts } from '@docrelay/model/body-facts'
import type { DocumentHead, DocumentRef, StoredBody, Tombstone } from '../documents/document-store.port.ts'

export interface PointHead {
  /** `<createdAt ms>-v<serverVersion>`, unique per document. [REST-26] */
  readonly pointId: string
  readonly createdAtMs: number
  readonly version: number
  readonly sizeBytes: number
  readonly reason: CaptureReason
}

/** Members that a recovery point keeps besides the body. */
export type PointBeside = Pick<DocumentHead, 'collectionId' | 'sharedWith'>

export type PointRecord =
  /** `body` is the stored body, without the server's own members. */
  | {
      readonly kind: 'point'
      readonly head: PointHead
      readonly body: Uint8Array
      readonly facts: BodyFacts
      /** `null` when an older release took the point without these members. */
      readonly beside: PointBeside | null
    }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'absent' }

/** Why a point was taken. [LIFE-19] */
export const CAPTURE_REASONS = ['interval', 'last-leave', 'zeroing', 'removal', 'restore', 'demand'] as const
export type CaptureReason = (typeof CAPTURE_REASONS)[number]

export type CaptureOutcome =
  | { readonly kind: 'captured'; readonly point: PointHead }
  /**
   * The newest point has the same body, collection and shares; serverVersion, version, modifiedAt and lastModifiedBy*
   * are not compared. [LIFE-20]
   */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'gone' }
  /** The tenure of `epoch` is over; no point was taken. [LIFE-26] */
  | { readonly kind: 'fenced' }

export interface RestoreRequest {
  /** The source as the caller read it; another key or version is a conflict. */
  readonly source: DocumentHead
  /** True when the log of the source has a gap, so that no body can ever contain all of it. The log is then kept aside. [LIFE-5] */
  readonly hasGap?: boolean
  readonly newRef: DocumentRef
  /** The body of the new document: the point's content under the new id and title. */
  readonly body: StoredBody
  readonly nowMs: number
  /** The user who restores the document; reported to other nodes. [FEED-2] */
  readonly actor?: string
}

export type RestoreOutcome =
  | { readonly kind: 'restored'; readonly head: DocumentHead; readonly tombstone: Tombstone }
  | { readonly kind: 'conflict' }

/**
 * Keeps a limited number of earlier bodies for each document, with checksums.
 *
 * The document store itself takes the points with the reasons `interval` and `zeroing`, in the write that replaces a body: it keeps the state before
 * that write when no point is younger than the interval. [LIFE-18..LIFE-21] A change is durable when its promise resolves. Rejects with UNAVAILABLE
 * or NOT_PERSISTED.
 */
export interface RecoveryStore {
  /** Returns the points, newest first. */
  list(key: number): Promise<readonly PointHead[]>
  read(key: number, pointId: string): Promise<PointRecord>
  /**
   * Keeps the stored body as a point. The caller has stored the live document before. The owner of the document passes the `epoch` of its tenure, and
   * the store refuses an epoch that is over.
   */
  capture(key: number, reason: CaptureReason, nowMs: number, epoch?: number): Promise<CaptureOutcome>
  /**
   * Puts a new document in the place of the source, in one transaction: the stored body of the source becomes a point,
   * the new document gets the source's owner, sharedWith, collection and ring, the source gets a tombstone, and blobs
   * that only points referenced are granted again. The quota is not checked.
   *
   * A source whose body lacks edits of its log is a conflict, unless the log cannot be read: then the bytes of the log
   * are kept aside with the new document. [LIFE-22, LIFE-5, BLOB-16]
   */
  restore(request: RestoreRequest): Promise<RestoreOutcome>
}
