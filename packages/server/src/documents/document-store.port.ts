import type { BodyFacts } from '@docrelay/model/body-facts'

/** A document of one workspace; the same id in two workspaces is two documents. */
export interface DocumentRef {
  readonly workspaceId: string
  readonly id: string
}

/** Everything about a stored document but its body. */
export interface DocumentHead extends DocumentRef {
  /** Names one life of the document from creation to deletion; never reused, also not when the id is. Log and snapshots hang on it. [YDOC-8] */
  readonly key: number
  /** serverVersion, 1 at creation. */
  readonly version: number
  /** `''` for a document without owner. */
  readonly ownerId: string
  readonly ownerName: string
  readonly collectionId: string | null
  /** sharedWith as it was given. */
  readonly sharedWith: readonly unknown[]
  readonly createdAtMs: number
  /** Time of the last version bump. */
  readonly updatedAtMs: number
  /** Time of the last title change made over REST or MCP; a live title that is older loses. [YDOC-7] */
  readonly titleChangedAtMs: number
  /** UTF-8 length of the stored body. [BODY-14] */
  readonly sizeBytes: number
  /** What lists and checks need of the body without reading it. */
  readonly facts: BodyFacts
  /** Newest sequence of the document's log, 0 before the first record. */
  readonly lastSeq: number
  /** The stored body contains at least the log up to here; `coveredSeq < lastSeq` means the body is behind the log. */
  readonly coveredSeq: number
  /** The stored body holds changes (creation, a cold write) that the log does not have yet; opening a room reconciles them. [LIFE-15] */
  readonly bodyAhead: boolean
}

export interface DocumentRecord {
  readonly head: DocumentHead
  /** Compact UTF-8 JSON of the open body in the form it was given, without the server's own members (see body.ts `storedBytes`). */
  readonly body: Uint8Array
}

export interface Tombstone extends DocumentRef {
  readonly deletedAtMs: number
  readonly lastServerVersion: number
  readonly ownerId: string
  /** sharedWith and roles are gone; readers of the time are told by DOC_EVENT before the row is written. */
}

export type DocumentState =
  | { readonly kind: 'document'; readonly head: DocumentHead }
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone }
  | { readonly kind: 'absent' }

/** What must still hold in the transaction; a lost race is answered, never thrown. */
export type WriteExpectation =
  | { readonly kind: 'document'; readonly key: number; readonly version: number }
  | { readonly kind: 'tombstone'; readonly lastServerVersion: number }
  | { readonly kind: 'absent' }

/** A body as it is stored, with what is kept beside it. */
export interface StoredBody {
  /** Compact UTF-8 JSON without the server's own members. */
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /** Hashes of the blobs it references, sorted, each once. [BLOB-2] */
  readonly blobReferences: readonly string[]
}

export interface DocumentWrite {
  readonly ref: DocumentRef
  readonly expect: WriteExpectation
  /** Given members replace; absent ones stay. A creation gives all but `collectionId` and `sharedWith`. */
  readonly set: {
    readonly ownerId?: string
    readonly ownerName?: string
    readonly collectionId?: string | null
    readonly sharedWith?: readonly unknown[]
    readonly titleChangedAtMs?: number
    readonly body?: StoredBody
  }
  /**
   * True adds 1 to the version and sets updatedAt; false is for a materialisation that changed nothing worth a version. [LIFE-12]
   * A creation has version 1, or lastServerVersion + 1 where a tombstone was. [REST-18]
   */
  readonly bump: boolean
  readonly nowMs: number
  /** `null`: not gated (materialisation, unlimited). Growth that lands above is refused in this very transaction. [LIFE-16, BLOB-14] */
  readonly quotaBytes: number | null
  /**
   * How the body relates to the log.
   * `cold`: the writer merged nothing: refused as `unsettled` when the log is ahead of the body; sets bodyAhead when `set.body` is given.
   * `live`: the room's body as of the end of the log once `append` is added to it in this same transaction; sets coveredSeq there, clears bodyAhead.
   * With `bodyLater` the records are added and the version is set, but the body and coveredSeq stay.
   * `none`: the body is not touched (sharing, collection, transfer).
   */
  readonly log: { readonly kind: 'cold' } | { readonly kind: 'none' } | LiveWrite
  /** Keeps the stored body from before this write as a recovery point, in the same transaction. [LIFE-18] */
  readonly capture?: { readonly reason: 'zeroing' }
  /** Done at most once under this name, and remembered in the same transaction. [TOOL-22] */
  readonly once?: OnceWrite
}

/** A write that its caller asks for again when it does not learn whether it was done. */
export interface OnceWrite {
  /** Names the caller, what it called and its request id; one per workspace. */
  readonly request: string
  /** Of the arguments. */
  readonly digest: string
  /** What the caller is told, as JSON, but for the version. */
  readonly answer: string
  /** What was remembered at that time or before is over, and replaced. */
  readonly sinceMs: number
}

/** How the first write under a request went. */
export interface RememberedWrite extends Pick<OnceWrite, 'digest' | 'answer'> {
  readonly version: number
}

export interface LiveWrite {
  readonly kind: 'live'
  /** Sequence expected before `append`; another one is a conflict. */
  readonly lastSeq: number
  readonly append: readonly { readonly actor: string; readonly update: Uint8Array }[]
  /**
   * The version stands for what the log says once `append` is added to it, and the room stores the body of it later, without another version.
   * `grownBytes`: what that body has more than the stored one, for the quota. Not together with `set.body`. [LIFE-12, LIFE-16]
   */
  readonly bodyLater?: { readonly grownBytes: number }
}

export type WriteOutcome =
  | { readonly kind: 'written'; readonly head: DocumentHead }
  /** The expectation did not hold; `current` is what is stored now. */
  | { readonly kind: 'conflict'; readonly current: DocumentState }
  /** A cold write met a log that is ahead of the body; settle the document through its room and try again. */
  | { readonly kind: 'unsettled'; readonly current: DocumentHead }
  /** It was done before: `once` is remembered. */
  | { readonly kind: 'repeated'; readonly first: RememberedWrite }
  | OverQuota

export interface OverQuota {
  readonly kind: 'over-quota'
  readonly usedBytes: number
  readonly addedBytes: number
}

/** What a write would add, as the quota sees it. */
export interface DocumentGrowth {
  readonly workspaceId: string
  /** Of the body, against the stored one. */
  readonly grownBytes: number
  /** Of the body as it would be. */
  readonly blobReferences: readonly string[]
  /** `null`: not gated. */
  readonly quotaBytes: number | null
  readonly nowMs: number
}

/**
 * Bodies, versions and tombstones. When a promise of a writing verb resolves, the whole write (body, version, log rows, tombstone, point)
 * is durable in one transaction. [LIFE-1, D4] Storage faults reject with RelayError UNAVAILABLE (nothing was written) or
 * NOT_PERSISTED (the outcome is not known).
 */
export interface DocumentStore {
  state(ref: DocumentRef): Promise<DocumentState>
  /** Head and body of one moment; `null` when absent or deleted. */
  read(ref: DocumentRef): Promise<DocumentRecord | null>
  write(write: DocumentWrite): Promise<WriteOutcome>
  /** What was written under a request; `null`: nothing since then, or more was in this workspace than is remembered. [TOOL-22] */
  remembered(workspaceId: string, request: Pick<OnceWrite, 'request' | 'sinceMs'>): Promise<RememberedWrite | null>
  /** What the quota would say to a write of this growth now, `null`: nothing. Writes nothing. [TOOL-21] */
  overQuota(growth: DocumentGrowth): Promise<OverQuota | null>
  /** Removes body, log, snapshots and points and writes the tombstone. Needs the expected key; the version may have moved. [LIFE-23] */
  remove(
    ref: DocumentRef,
    key: number,
    deletedAtMs: number,
  ): Promise<{ readonly kind: 'removed'; readonly tombstone: Tombstone } | { readonly kind: 'gone' }>
  /** Heads of a workspace, updatedAt descending, then id ascending. [REST-21] */
  list(workspaceId: string): Promise<readonly DocumentHead[]>
  /** Documents whose stored body references a blob. [BLOB-6, BLOB-13] */
  referencing(workspaceId: string, hash: string): Promise<readonly DocumentHead[]>
  /** Live sum of the stored body sizes. [interface, Limits rule 3] */
  usedBytes(workspaceId: string): Promise<number>
  /** Deletes at most `limit` tombstones older than `beforeMs`; answers how many. [LIFE-24, LIFE-30] */
  purgeTombstones(beforeMs: number, limit: number): Promise<number>
  /** The same for remembered writes. */
  purgeRemembered(beforeMs: number, limit: number): Promise<number>
  /** Those of the next `limit` documents by key whose bodies lack edits of their logs; `nextKey` is where to go on, `null` at the end. */
  behind(
    afterKey: number,
    limit: number,
  ): Promise<{
    readonly documents: readonly (DocumentRef & { readonly key: number })[]
    readonly nextKey: number | null
  }>
}
