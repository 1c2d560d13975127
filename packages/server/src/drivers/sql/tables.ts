import type { Generated, Kysely, Transaction } from 'kysely'

/**
 * Columns of every table. Texts from foreign systems pass through `storedText`, because PostgreSQL keeps neither NUL nor lone surrogates.
 * Booleans are 0 and 1.
 */
export interface Tables {
  store_facts: { name: string; value: string }
  documents: {
    key: Generated<number>
    workspace_id: string
    id: string
    version: number
    owner_id: string
    owner_name: string
    collection_id: string | null
    /** JSON array. */
    shared_with: string
    created_at_ms: number
    updated_at_ms: number
    title_changed_at_ms: number
    size_bytes: number
    /** JSON of `BodyFacts`. */
    facts: string
    crc32: number
    /**
     * Null until the document is first read or the background job reaches it; never changes afterwards except when the lineage ends.
     * [WS-61]
     */
    lineage: string | null
    lineage_crc32: number | null
  }
  /** A table of its own, so that appending an edit rewrites only some thirty bytes. [LIFE-7] */
  log_heads: {
    key: number
    last_seq: number
    covered_seq: number
    body_ahead: number
    /** Checksum of the two columns above; null until a release with checksums changes one of them. */
    flags_crc32: number | null
    /** The node that owns the document; null when none does. [LIFE-26] */
    owner: number | null
    /** Counts the acquisitions of the document; null before the first. */
    epoch: number | null
  }
  /** Counts how often a document was taken from a node that had not released it. */
  takeovers: { key: number; times: number; taken_at_ms: number }
  bodies: { key: number; body: Uint8Array; crc32: number }
  updates: { key: number; seq: number; actor: string; at_ms: number; crc32: number; bytes: Uint8Array }
  /** Notes of rooms about blocks that they removed in the last minutes, each for a record of the log. [AG-110] */
  removals: { key: number; seq: number; at_ms: number; notes: string; crc32: number }
  snapshots: { key: number; through_seq: number; crc32: number; state_vector: Uint8Array; bytes: Uint8Array }
  /** Unreadable log bytes, kept for later inspection. [YDOC-11] */
  set_aside: {
    entry: Generated<number>
    key: number
    kind: 'update' | 'snapshot'
    seq: number
    detail: string
    bytes: Uint8Array
  }
  recovery_points: {
    point: Generated<number>
    key: number
    reason: string
    created_at_ms: number
    version: number
    facts: string
    crc32: number
    body: Uint8Array
    /** Digest of the content without the members that every save sets; null in points from releases without digests. [LIFE-20] */
    digest: string | null
  }
  point_refs: { key: number; point: number; hash: string }
  /** Blobs that the stored body references. [BLOB-2] */
  blob_refs: { key: number; hash: string }
  blob_grants: {
    workspace_id: string
    hash: string
    size_bytes: number
    mime_type: string
    created_at_ms: number
    /** 0 while only recovery points reference the blob. [BLOB-16] */
    metered: number
    /** Time since which no document references the blob; null while one does, or while only a recovery point does. */
    unreferenced_at_ms: number | null
    /** JSON of `Provenance`. */
    provenance: string | null
    crc32: number
  }
  blob_uploaders: { workspace_id: string; hash: string; sub: string; crc32: number }
  /** Quota reservations of running uploads. */
  blob_uploads: {
    id: string
    workspace_id: string
    hash: string | null
    bytes: number
    kind: 'stream' | 'presigned'
    sub: string | null
    expires_at_ms: number
    remove_at_ms: number | null
    crc32: number
  }
  blob_orphans: { hash: string }
  /**
   * Objects of the blob store that uploads announced. `arriving`: the upload may grant the object until `until_ms`. `valid`: the
   * object has the bytes of its hash. `struck`: no grant can name the object any more, and its bytes may be removed from
   * `until_ms` on. [BLOB-24]
   */
  blob_objects: { object: string; hash: string; state: 'arriving' | 'valid' | 'struck'; until_ms: number }
  registries: { workspace_id: string; kind: string; version: number; size_bytes: number; value: string; crc32: number }
  share_links: {
    id: string
    token_hash: string
    key: number
    created_at_ms: number
    created_by: string
    expires_at_ms: number
    crc32: number
  }
  /** Nodes that use the store together; always empty on SQLite. All times are by the clock of the database. [LIFE-26] */
  nodes: {
    inc: Generated<number>
    node_id: string
    mode: string
    link_url: string | null
    program: string
    state: string
    /** Grows by one with each heartbeat. */
    beat: number
    /** The time of the last heartbeat plus `LEASE_MS`. */
    lease_until_ms: number
    /** Number of documents that other nodes have taken from the node. */
    robbed: number
  }
  /** The relay that uses the store; always empty on SQLite. [CFG-10] */
  instances: { holder: string; place: string; beat: number; at_ms: number }
  /**
   * Sockets of nodes that use the store together. The rows of a node count while its lease lasts. A row with an empty workspace
   * shows that the node has written its rows since the table was last emptied. [WS-17]
   */
  seats: { workspace_id: string; inc: number; connection: string; editor: number }
  /** Answers of writes that callers may repeat. [TOOL-22] */
  remembered_writes: {
    workspace_id: string
    request: string
    digest: string
    answer: string
    version: number
    at_ms: number
    crc32: number
  }
  /** The changes that the writes of tools made. [AG-66] */
  call_records: {
    key: number
    version: number
    call: string
    workspace_id: string
    at_ms: number
    sub: string
    client: string | null
    /** A digest; null in rows of older releases and of people. Not in the checksum: older programs would call such rows damaged. */
    caller: string | null
    tool: string
    changed: number
    removed: number
    size_bytes: number
    undone_by: string | null
    answer: string | null
    /** Null when the record is null: the call cannot be undone then. */
    record_crc32: number | null
    /** Covers all columns except the record, so that marking a call as undone need not read the record. */
    crc32: number
    record: Uint8Array | null
  }
  /** Blobs that call records reference. [BLOB-16] */
  call_refs: { key: number; version: number; hash: string }
  /** Sum of the bytes of the call records of a workspace. */
  call_bytes: { workspace_id: string; bytes: number }
  /** `crc32` of `tombstones` and `former_clients` is null in rows from releases without checksums. */
  tombstones: {
    workspace_id: string
    id: string
    deleted_at_ms: number
    last_server_version: number
    owner_id: string
    crc32: number | null
    /** Id of the document with which a restore replaced the deleted one. */
    successor: string | null
  }
  /** Y clients that wrote in earlier lineages of an id, as JSON, newest first. [WS-62] */
  former_clients: { workspace_id: string; id: string; until_ms: number; clients: string; crc32: number }
  revocations: { jti: string; revoked_at_ms: number; crc32: number | null }
  /** Changes of stored documents, for several nodes; `at_ms` is by the clock of the database. [FEED-2] */
  change_feed: {
    id: Generated<number>
    at_ms: number
    workspace_id: string
    key: number
    kind: string
    actor: string
    seq: number
    /** Identifies the process that wrote the row. */
    origin: string
    /** JSON of `ChangePayload`. */
    payload: Uint8Array
  }
  /** A row without jti shows that a push or a poll was received completely. [AUTH-14, AUTH-15] */
  revocation_feed: { id: Generated<number>; at_ms: number; jti: string | null; revoked_at_ms: number | null }
  /** The node that runs a job which only one node needs to run, and until when. [LIFE-30] */
  job_leases: { job: string; holder: string; until_ms: number }
}

/** A connection outside or inside a transaction. */
export type Connection = Kysely<Tables>
export type Writer = Transaction<Tables>
