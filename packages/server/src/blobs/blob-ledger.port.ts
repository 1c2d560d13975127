/** One blob as one workspace holds it; what other workspaces hold never shows in it. [BLOB-5] */
export interface BlobGrant {
  readonly workspaceId: string
  /** SHA-256, 64 lowercase hex digits. */
  readonly hash: string
  readonly sizeBytes: number
  /** As stored: lower-cased, without parameters. [BLOB-4] */
  readonly mimeType: string
  readonly createdAtMs: number
}

/** Where the bytes came from; recorded and not interpreted. [BLOB-17] */
export interface Provenance {
  readonly source: string
  readonly tags: readonly string[]
}

/** Bytes that an upload under way may come to need. They count against the quota until the reservation ends. [Q2] */
export interface Reservation {
  /** Minted by the caller; for a presigned upload the staging key. */
  readonly id: string
  readonly workspaceId: string
  readonly hash: string | null
  readonly bytes: number
  /** From then on it counts no more. */
  readonly expiresAtMs: number
  /** `stream`: ends with its process. `presigned`: lives on over a restart, and is a staged object to be removed at `removeAtMs`. [BLOB-12] */
  readonly upload: { readonly kind: 'stream' } | { readonly kind: 'presigned'; readonly sub: string; readonly removeAtMs: number }
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
  /** The workspace holds the hash already: nothing is reserved and nothing is added, whatever the quota. [Q3] */
  | { readonly kind: 'held'; readonly grant: BlobGrant }
  | { readonly kind: 'over-quota'; readonly usedBytes: number; readonly addedBytes: number }

export interface GrantRequest {
  /** Ended by the grant; `null` when nothing was reserved. */
  readonly reservationId: string | null
  readonly workspaceId: string
  readonly hash: string
  readonly sizeBytes: number
  readonly mimeType: string
  /** Who uploaded. [BLOB-6] */
  readonly sub: string
  readonly provenance: Provenance | null
  readonly quotaBytes: number | null
  readonly nowMs: number
}

export type GrantOutcome =
  /** `added`: false when the workspace held it already; its record stays as it was, the uploader is added. */
  | { readonly kind: 'granted'; readonly grant: BlobGrant; readonly added: boolean }
  | { readonly kind: 'over-quota'; readonly usedBytes: number; readonly addedBytes: number }

/**
 * Which workspace holds which blob, and what uploads under way have reserved. Writing verbs are durable when they resolve; quota is compared
 * in the transaction that writes, together with documents and reservations. [BLOB-14, Q1] They reject with UNAVAILABLE or NOT_PERSISTED.
 */
export interface BlobLedger {
  /** A grant, also of a blob that only recovery points reference; `null` when the workspace has none. [BLOB-16] */
  find(workspaceId: string, hash: string): Promise<BlobGrant | null>
  /** Whether `sub` has uploaded this hash into the workspace. */
  uploadedBy(workspaceId: string, hash: string, sub: string): Promise<boolean>
  /** Reserves, or changes the bytes and the deadline of a reservation that exists. A refusal changes nothing. */
  reserve(reservation: Reservation, quotaBytes: number | null, nowMs: number): Promise<Admission>
  /** Ends a reservation; unknown ones are no error. The hash becomes an orphan when nobody holds it. */
  release(reservationId: string): Promise<void>
  /** Records the grant, the uploader and the end of the reservation in one transaction. */
  grant(request: GrantRequest): Promise<GrantOutcome>
  /** Presigned uploads of a workspace for one hash, newest first. */
  staged(workspaceId: string, hash: string): Promise<readonly StagedUpload[]>
  /** Staged objects whose time is over, at most `limit`; each is to be removed and then released. [BLOB-12] */
  overdueStaged(nowMs: number, limit: number): Promise<readonly StagedUpload[]>
  /**
   * Ends at most `limit` grants that no document has referenced since `beforeMs`: gone, or kept unmetered while a recovery point references
   * them. References are compared in the same transaction, and a workspace with edits that its bodies lack is left out. [BLOB-15, BLOB-16]
   * A hash that no workspace holds any more becomes an orphan.
   */
  releaseUnreferenced(beforeMs: number, limit: number, nowMs: number): Promise<number>
  /** At most `limit` documents with edits that their bodies lack, of workspaces where grants are due: they hold up `releaseUnreferenced`. */
  unsettled(beforeMs: number, limit: number): Promise<readonly { readonly workspaceId: string; readonly id: string }[]>
  /** Hashes whose bytes may lie in the blob store though no workspace holds them and no upload of them runs. */
  orphans(limit: number): Promise<readonly string[]>
  /** After the bytes were removed. `held` (and nothing is forgotten) when somebody got a grant or began an upload meanwhile. */
  forgetOrphan(hash: string): Promise<'forgotten' | 'held'>
  /** Sum of the metered grants. [interface, Limits rule 3] */
  meteredBytes(workspaceId: string): Promise<number>
}
