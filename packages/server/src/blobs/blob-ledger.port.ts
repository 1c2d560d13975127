/** One blob as one workspace holds it. A grant never shows what other workspaces hold. [BLOB-5] */
export interface BlobGrant {
  readonly workspaceId: string
  /** SHA-256, 64 lowercase hex digits. */
  readonly hash: string
  readonly sizeBytes: number
  /** The stored type: in lower case and without parameters. [BLOB-4] */
  readonly mimeType: string
  readonly createdAtMs: number
  /** The name of the bytes in the blob store; see `newObject`. For blobs from older releases the name is the hash. [BLOB-24] */
  readonly object: string
}

/** Where the bytes came from; recorded and not interpreted. [BLOB-17] */
export interface Provenance {
  readonly source: string
  readonly tags: readonly string[]
}

/**
 * Bytes that a running upload may need, and its place among the uploads of its workspace. A reservation counts against
 * the quota until it ends. Of several reservations for one hash in a workspace only the largest counts; a reservation
 * for a hash that the workspace already holds does not count. [Q2]
 */
export interface Reservation {
  /** Chosen by the caller; for a presigned upload it is the staging key. */
  readonly id: string
  readonly workspaceId: string
  readonly hash: string | null
  readonly bytes: number
  /** The reservation stops counting at this time. */
  readonly expiresAtMs: number
  /**
   * True when the upload replaces bytes that the workspace holds and that are missing or damaged. The reservation is
   * recorded and counts nothing.
   */
  readonly heals?: true
  /**
   * `stream`: the bytes pass through a relay. On a store with a single process the reservation ends with the process, on
   * other stores when it expires. `most` is how many such uploads the workspace may have at once on all nodes, this one
   * included; `null` for no limit. [REST-12] `presigned`: the reservation survives a restart, and its staged object is
   * removed at `removeAtMs`. [BLOB-12]
   */
  readonly upload:
    | { readonly kind: 'stream'; readonly most: number | null }
    | { readonly kind: 'presigned'; readonly sub: string; readonly removeAtMs: number }
}

export interface StagedUpload {
  readonly id: string
  readonly workspaceId: string
  readonly hash: string
  readonly bytes: number
  readonly sub: string
}

export type Admission =
  | { readonly kind: 'admitted' }
  /**
   * The workspace holds the hash already. Nothing is added, whatever the quota. [Q3] A stream still takes a place among
   * the uploads; for an upload URL that does not replace damaged bytes nothing is recorded.
   */
  | { readonly kind: 'held'; readonly grant: BlobGrant }
  /** The workspace already has its maximum number of streams. [REST-12] */
  | { readonly kind: 'too-many' }
  | { readonly kind: 'over-quota'; readonly usedBytes: number; readonly addedBytes: number }

export interface GrantRequest {
  /** The reservation that the grant ends; `null` when nothing was reserved. */
  readonly reservationId: string | null
  readonly workspaceId: string
  readonly hash: string
  /** The announced object, which holds all the bytes. */
  readonly object: string
  /** The object that this grant replaces is kept until this time, for reads and links that began before the grant. */
  readonly replacedUntilMs: number
  readonly sizeBytes: number
  readonly mimeType: string
  /** `sub` of the uploader. [BLOB-6] */
  readonly sub: string
  readonly provenance: Provenance | null
  readonly quotaBytes: number | null
  readonly nowMs: number
}

export type GrantOutcome =
  /**
   * `added` is false when the workspace held the blob already: its record stays as it was, and the uploader is added.
   */
  | { readonly kind: 'granted'; readonly grant: BlobGrant; readonly added: boolean }
  | { readonly kind: 'over-quota'; readonly usedBytes: number; readonly addedBytes: number }
  /** The upload took longer than it had announced, so its object is being removed. Nothing was granted. */
  | { readonly kind: 'struck' }

/**
 * Records which workspace holds which blob, and what running uploads have reserved. A writing verb is durable when it
 * resolves. The quota is compared in the transaction that writes, together with documents and reservations. [BLOB-14,
 * Q1] Every verb rejects with UNAVAILABLE or NOT_PERSISTED.
 */
export interface BlobLedger {
  /**
   * Returns the grant of a blob, also of one that only recovery points reference; `null` when the workspace has none.
   * [BLOB-16]
   */
  find(workspaceId: string, hash: string): Promise<BlobGrant | null>
  /** Whether `sub` has uploaded this hash into the workspace. */
  uploadedBy(workspaceId: string, hash: string, sub: string): Promise<boolean>
  /** Reserves bytes, or changes the bytes and the deadline of an existing reservation. A refusal changes nothing. */
  reserve(reservation: Reservation, quotaBytes: number | null, nowMs: number): Promise<Admission>
  /** Ends a reservation; an unknown id is no error. The hash becomes an orphan when no workspace holds it. */
  release(reservationId: string): Promise<void>
  /**
   * Records that an upload is about to store bytes as `object`, a name that was never used before. The object may be
   * granted until `untilMs`; later it counts as abandoned. [BLOB-24]
   */
  announce(object: string, untilMs: number): Promise<void>
  /**
   * Records the grant and the uploader, ends the reservation, and makes the object the valid one of its hash for all
   * workspaces, in one transaction.
   */
  grant(request: GrantRequest): Promise<GrantOutcome>
  /** Returns the presigned uploads of a workspace for one hash, newest first. */
  staged(workspaceId: string, hash: string): Promise<readonly StagedUpload[]>
  /**
   * Returns at most `limit` staged objects that are overdue at `nowMs`, oldest first and without the first `skip`. The caller removes each object and
   * then releases its reservation; with `skip` it passes over objects that it could not remove. [BLOB-12]
   */
  overdueStaged(nowMs: number, limit: number, skip?: number): Promise<readonly StagedUpload[]>
  /**
   * Ends at most `limit` grants that no document has referenced since `beforeMs`. A grant is deleted, or kept without
   * counting while a recovery point references it. References are compared in the same transaction. A workspace in
   * which a document has edits that its stored body lacks is skipped. [BLOB-15, BLOB-16] A hash that no workspace holds
   * any more becomes an orphan. Announced objects past their `untilMs` are struck.
   */
  releaseUnreferenced(beforeMs: number, limit: number, nowMs: number): Promise<number>
  /**
   * Returns at most `limit` documents whose stored bodies lack edits, without the first `skip`, always in the same order. Only workspaces with grants
   * to end are searched: `releaseUnreferenced` skips these workspaces because of such documents.
   */
  unsettled(
    beforeMs: number,
    limit: number,
    skip?: number,
  ): Promise<readonly { readonly workspaceId: string; readonly id: string }[]>
  /** Returns at most `limit` hashes that no workspace holds and nobody uploads, but whose bytes may still be in the blob store. */
  orphans(limit: number): Promise<readonly string[]>
  /**
   * Strikes the object of an orphan: from then on no grant on any node can name the object. Returns `held`, and changes nothing, when the hash is no
   * longer an orphan. [BLOB-24, Q6]
   */
  strike(hash: string, nowMs: number): Promise<'struck' | 'held'>
  /**
   * Returns at most `limit` struck objects whose bytes may be removed at `nowMs`, always in the same order and without the first `skip`, which are
   * those that the caller could not remove.
   */
  struck(nowMs: number, limit: number, skip?: number): Promise<readonly string[]>
  /** Removes the row of a struck object after its bytes were removed; does nothing for other objects. */
  forget(object: string): Promise<void>
  /** Sum of the bytes of the grants that count. [interface, Limits rule 3] */
  meteredBytes(workspaceId: string): Promise<number>
}
