import type { BodyFacts } from '@docrelay/model/body-facts'
import type { CallWrite } from './call-store.port.ts'
import type { Tenure } from './tenure.ts'

/** Names a document of one workspace. The same id in two workspaces names two documents. */
export interface DocumentRef {
  readonly workspaceId: string
  readonly id: string
}

/** Everything about a stored document except its body. */
export interface DocumentHead extends DocumentRef {
  /**
   * Names one life of the document, from creation to deletion. A key is never used again, not even for the same id. Log
   * and snapshots belong to a key. [YDOC-8]
   */
  readonly key: number
  /**
   * Names the same life to clients, which may keep their copy for a long time: 16 characters, never used again. `''`
   * only for a document of an older release that could not get one because the store takes no writes. [WS-61]
   */
  readonly lineage: string
  /** serverVersion, 1 at creation. */
  readonly version: number
  /** `''` when the document has no owner. */
  readonly ownerId: string
  readonly ownerName: string
  readonly collectionId: string | null
  /** The share list as the caller sent it. */
  readonly sharedWith: readonly unknown[]
  readonly createdAtMs: number
  /** Time of the last new version. */
  readonly updatedAtMs: number
  /**
   * Time of the last title change over REST or MCP. A title of the live document that is older than this loses.
   * [YDOC-7]
   */
  readonly titleChangedAtMs: number
  /** UTF-8 length of the stored body, plus that of a share list that is not empty. [BODY-14] */
  readonly sizeBytes: number
  /** Facts of the body that lists and checks need, so that they do not have to read the body. */
  readonly facts: BodyFacts
  /** Newest sequence of the document's log, 0 before the first record. */
  readonly lastSeq: number
  /**
   * The stored body contains the log at least up to this sequence. When `coveredSeq < lastSeq`, the body lacks edits of
   * the log.
   */
  readonly coveredSeq: number
  /**
   * The stored body holds changes (of a creation or a cold write) that the log does not have yet. Opening a room
   * reconciles them. [LIFE-15]
   */
  readonly bodyAhead: boolean
  /** The owner of the document, alive or not; `null` when there is none, and always in a single relay. [LIFE-25] */
  readonly owner: Tenure | null
}

export interface DocumentRecord {
  readonly head: DocumentHead
  /** Compact UTF-8 JSON of the body in the form that the caller sent, without the server's own members, as `writeStoredBody` writes it. */
  readonly body: Uint8Array
}

export interface Tombstone extends DocumentRef {
  readonly deletedAtMs: number
  readonly lastServerVersion: number
  readonly ownerId: string
  /** Id of the document with which a restore replaced this one; absent after a deletion. [LIFE-22] */
  readonly successor?: string
  /** A tombstone has no share list. The DOC_EVENT of a deletion goes to the readers of the last head. */
}

export type DocumentState =
  | { readonly kind: 'document'; readonly head: DocumentHead }
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone }
  | { readonly kind: 'absent' }

/**
 * The state that a write expects in its transaction. In another state the write answers `conflict` or `unsettled`; it never throws for that.
 */
export type WriteExpectation =
  | { readonly kind: 'document'; readonly key: number; readonly version: number }
  | { readonly kind: 'tombstone'; readonly lastServerVersion: number }
  | { readonly kind: 'absent' }

/** A body as it is stored, with what the store derives from it. */
export interface StoredBody {
  /** Compact UTF-8 JSON without the server's own members. */
  readonly bytes: Uint8Array
  readonly facts: BodyFacts
  /** SHA-256 of every blob that the body references, sorted, each once. [BLOB-2] */
  readonly blobReferences: readonly string[]
}

export interface DocumentWrite {
  readonly ref: DocumentRef
  readonly expect: WriteExpectation
  /**
   * Members that are given replace the stored ones; absent members stay. A creation gives all members except
   * `collectionId` and `sharedWith`.
   */
  readonly set: {
    readonly ownerId?: string
    readonly ownerName?: string
    readonly collectionId?: string | null
    readonly sharedWith?: readonly unknown[]
    readonly titleChangedAtMs?: number
    readonly body?: StoredBody
  }
  /**
   * True adds 1 to the version and sets updatedAt. False is for storing a live document whose body did not change in a
   * way that deserves a version. [LIFE-12] A creation has version 1, or lastServerVersion + 1 where a tombstone was.
   * [REST-18]
   */
  readonly bump: boolean
  readonly nowMs: number
  /**
   * Quota of the workspace in bytes. A write that grows the document and ends above the quota is refused in this
   * transaction. `null`: no check (unlimited, or storing a live document). [LIFE-16, BLOB-14]
   */
  readonly quotaBytes: number | null
  /**
   * How the body relates to the log.
   * - `cold`: the writer did not merge the log. The write is refused as `unsettled` when the body lacks edits of the
   *   log, and as `owned` when another node owns the document. The write sets bodyAhead when `set.body` is given.
   * - `live`: the body of the room at the end of the log, including the records of `append`, which this transaction
   *   adds. It sets coveredSeq to that end and clears bodyAhead. With `bodyLater` only the records are added and the
   *   version is set; body and coveredSeq do not change.
   * - `none`: the body does not change (sharing, collection, transfer).
   */
  readonly log: { readonly kind: 'cold' } | { readonly kind: 'none' } | LiveWrite
  /**
   * Keeps the stored body as it was before this write as a recovery point, in the same transaction. Before a removal only when the newest
   * point is older than a minute or somebody other than `sub` changed the document since it. [LIFE-18, AG-31]
   */
  readonly capture?: { readonly reason: 'zeroing' } | { readonly reason: 'removal'; readonly sub: string }
  /** Makes sure that this write is done at most once: the request is remembered in the same transaction. [TOOL-22] */
  readonly once?: OnceWrite
  /** The tool call that makes this write; it is stored in the same transaction. [AG-66] */
  readonly call?: CallWrite
  /**
   * What other nodes learn of the write. Absent for a write that changes nothing that a reader sees, for example one that only
   * clears `bodyAhead`. [WS-51, FEED-2]
   */
  readonly told?: ToldWrite
}

/** What other nodes learn of a write, in addition to its contents. */
export interface ToldWrite {
  /** Who made the change; empty when the relay itself did. */
  readonly actor: string
  /** The write stores edits of a live document that its connections already have, so the write causes no event. [WS-52] */
  readonly isMaterialisation?: true
}

/** Makes a write safe to repeat, for a caller that did not get the answer. */
export interface OnceWrite {
  /** Names the caller, the tool and the request id; unique in the workspace. */
  readonly request: string
  /** Digest of the arguments. */
  readonly digest: string
  /** The answer to the caller as JSON, without the version. */
  readonly answer: string
  /** A request that was remembered at this time or before has expired: this write is done and takes its place. */
  readonly sinceMs: number
}

/** The first write that was done under a request. */
export interface RememberedWrite extends Pick<OnceWrite, 'digest' | 'answer'> {
  readonly version: number
}

export interface LiveWrite {
  readonly kind: 'live'
  /** Sequence at which the log must end before `append`; otherwise the write is a conflict. */
  readonly lastSeq: number
  /** `removals`: as in a record of the log. */
  readonly append: readonly { readonly actor: string; readonly update: Uint8Array; readonly removals?: string }[]
  /**
   * The body holds what could be read of a log with a gap, so coveredSeq stays: only a body that holds all of a log may
   * replace it. [LIFE-5]
   */
  readonly coversNoMore?: true
  /**
   * The version covers the log including `append`; the room stores the body for it later, without another version.
   * `grownBytes`: by how much that body is larger than the stored one, for the quota. Not together with `set.body`.
   * [LIFE-12, LIFE-16]
   */
  readonly bodyLater?: { readonly grownBytes: number }
  /**
   * The epoch of this node's tenure. The write is `fenced` when that tenure is over. Absent in a single relay, where nothing
   * is compared. [LIFE-26]
   */
  readonly epoch?: number
}

export type WriteOutcome =
  | { readonly kind: 'written'; readonly head: DocumentHead }
  /** The expectation did not hold; `current` is the stored state. */
  | { readonly kind: 'conflict'; readonly current: DocumentState }
  /**
   * A cold write found that the body lacks edits of the log, or that the owner of the document is dead. The caller settles
   * the document through its room, for which this node acquires the document, and tries again.
   */
  | { readonly kind: 'unsettled'; readonly current: DocumentHead }
  /** A cold write found that another live node owns the document. The caller passes the write to the owner. [LIFE-25] */
  | { readonly kind: 'owned'; readonly by: Tenure; readonly current: DocumentHead }
  /** A live write came from a former owner. No write of that tenure will be stored any more. [LIFE-26] */
  | { readonly kind: 'fenced'; readonly current: DocumentHead }
  /** A call that the write undoes was undone before, or is not stored any more. The same write can never succeed. [AG-72] */
  | { readonly kind: 'not-undoable' }
  /** The write was done before, under the same request. */
  | { readonly kind: 'repeated'; readonly first: RememberedWrite }
  | OverQuota

export interface OverQuota {
  readonly kind: 'over-quota'
  readonly usedBytes: number
  readonly addedBytes: number
}

/** The growth of a write, for the quota. */
export interface DocumentGrowth {
  readonly workspaceId: string
  /** Growth of body and share list in bytes, compared with the stored ones. */
  readonly grownBytes: number
  /** References of the new body. */
  readonly blobReferences: readonly string[]
  /** `null`: no check. */
  readonly quotaBytes: number | null
  readonly nowMs: number
}

/** The state in which a document may be removed: its stored version and the sequence number of its last record. */
export type RemovedState = Pick<DocumentHead, 'version' | 'lastSeq'>

export type RemoveOutcome =
  | { readonly kind: 'removed'; readonly tombstone: Tombstone }
  | { readonly kind: 'gone' }
  | { readonly kind: 'changed' }

/**
 * Stores bodies, versions and tombstones. When a promise of a writing verb resolves, the whole write (body, version,
 * log rows, tombstone, point) is durable in one transaction. [LIFE-1, D4] Storage faults reject with RelayError
 * UNAVAILABLE (nothing was written) or NOT_PERSISTED (the outcome is not known).
 */
export interface DocumentStore {
  state(ref: DocumentRef): Promise<DocumentState>
  /** Returns the heads of those of `ids` that are stored, in no order, by one statement. Rejects when one of them is damaged. */
  heads(workspaceId: string, ids: readonly string[]): Promise<readonly DocumentHead[]>
  /** Returns head and body of the same moment; `null` when the document is absent or deleted. */
  read(ref: DocumentRef): Promise<DocumentRecord | null>
  write(write: DocumentWrite): Promise<WriteOutcome>
  /**
   * Returns the write that was done under a request. `null` when none was done since then, or when the workspace has
   * had more requests than are remembered. [TOOL-22]
   */
  remembered(workspaceId: string, request: Pick<OnceWrite, 'request' | 'sinceMs'>): Promise<RememberedWrite | null>
  /**
   * Returns how far a write of this growth would exceed the quota now; `null` when it fits. Writes nothing. [TOOL-21]
   */
  overQuota(growth: DocumentGrowth): Promise<OverQuota | null>
  /**
   * Removes body, log, snapshots and points, and writes the tombstone. Answers `gone` when the id has another key. Answers `changed`
   * when `only` is given and the document has another version or another last record by now. In both cases nothing is removed.
   * `actor`: who deletes the document, for other nodes. [LIFE-23, FEED-2, REST-22]
   */
  remove(ref: DocumentRef, key: number, deletedAtMs: number, actor?: string, only?: RemovedState): Promise<RemoveOutcome>
  /** Returns the heads of a workspace, ordered by updatedAt descending, then id ascending. [REST-21] */
  list(workspaceId: string): Promise<readonly DocumentHead[]>
  /** Returns the documents whose stored body references a blob. [BLOB-6, BLOB-13] */
  referencing(workspaceId: string, hash: string): Promise<readonly DocumentHead[]>
  /** Sum of the sizes of the stored bodies of existing documents. [interface, Limits rule 3] */
  usedBytes(workspaceId: string): Promise<number>
  /**
   * Returns the Y client ids that wrote in former lives of this id. A client without a lineage may still hold such
   * content. [WS-62]
   */
  formerClients(ref: DocumentRef, nowMs: number): Promise<readonly number[]>
  /**
   * Gives a lineage to each of the next `limit` documents, by key, that an older release left without one. The next
   * call passes `lastKey` as `afterKey`: at once when there are `more`, otherwise when documents may have been added.
   * [WS-61]
   */
  giveLineages(afterKey: number, limit: number): Promise<{ readonly lastKey: number; readonly more: boolean }>
  /** Deletes at most `limit` tombstones older than `beforeMs` and returns how many it deleted. [LIFE-24, LIFE-30] */
  purgeTombstones(beforeMs: number, limit: number): Promise<number>
  /** Deletes at most `limit` expired former client ids and remembered writes, and returns how many. */
  purgeFormerClients(beforeMs: number, limit: number): Promise<number>
  purgeRemembered(beforeMs: number, limit: number): Promise<number>
  /**
   * Returns those of the next `limit` documents, by key, whose bodies lack edits of their logs, except documents whose owner
   * is another live node: that node stores them itself. `nextKey` is the key to continue with, `null` at the end.
   */
  behind(
    afterKey: number,
    limit: number,
  ): Promise<{
    readonly documents: readonly (DocumentRef & { readonly key: number })[]
    readonly nextKey: number | null
  }>
}

/**
 * Bytes that a share list adds to the size of its document: the length of its compact JSON, 0 for an empty list. The
 * list is stored beside the body and counts in `sizeBytes`, `max_doc_bytes` and the quota. [BODY-14]
 */
export function sharedBytes(sharedWith: readonly unknown[]): number {
  return sharedWith.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(sharedWith))
}

/** Bytes of the stored body without the share list. */
export function bodyBytes(head: Pick<DocumentHead, 'sizeBytes' | 'sharedWith'>): number {
  return head.sizeBytes - sharedBytes(head.sharedWith)
}
