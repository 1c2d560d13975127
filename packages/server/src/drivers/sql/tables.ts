import type { Generated, Kysely, Transaction } from 'kysely'

/** Texts that foreign systems chose pass `storedText`, as PostgreSQL keeps neither NUL nor lone surrogates. Booleans are 0 and 1. */
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
    /** Null until the document is first read, or its turn comes; then it stays. [WS-61] */
    lineage: string | null
    lineage_crc32: number | null
  }
  /** Apart from `documents`, so that appending an edit rewrites some thirty bytes. [LIFE-7] */
  log_heads: {
    key: number
    last_seq: number
    covered_seq: number
    body_ahead: number
    /** Of the two before; null until a program that keeps it changes one. */
    flags_crc32: number | null
  }
  bodies: { key: number; body: Uint8Array; crc32: number }
  updates: { key: number; seq: number; actor: string; at_ms: number; crc32: number; bytes: Uint8Array }
  snapshots: { key: number; through_seq: number; crc32: number; state_vector: Uint8Array; bytes: Uint8Array }
  /** Unreadable log bytes kept for a person to look at. [YDOC-11] */
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
    /** Of the content, without what every save sets; null in points taken before it was kept. [LIFE-20] */
    digest: string | null
  }
  point_refs: { key: number; point: number; hash: string }
  /** What the stored body references. [BLOB-2] */
  blob_refs: { key: number; hash: string }
  blob_grants: {
    workspace_id: string
    hash: string
    size_bytes: number
    mime_type: string
    created_at_ms: number
    /** 0 while only recovery points reference it. [BLOB-16] */
    metered: number
    /** Since when no document has referenced it; null while one does, or a point alone keeps it. */
    unreferenced_at_ms: number | null
    /** JSON of `Provenance`. */
    provenance: string | null
    crc32: number
  }
  blob_uploaders: { workspace_id: string; hash: string; sub: string; crc32: number }
  /** Reservations of uploads under way. */
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
  /** The relay that uses the store; always empty on SQLite. [CFG-10] */
  instances: { holder: string; place: string; beat: number; at_ms: number }
  /** What callers may ask for again. [TOOL-22] */
  remembered_writes: {
    workspace_id: string
    request: string
    digest: string
    answer: string
    version: number
    at_ms: number
    crc32: number
  }
  /** The checksums of these two are null in rows of before they were kept. */
  tombstones: {
    workspace_id: string
    id: string
    deleted_at_ms: number
    last_server_version: number
    owner_id: string
    crc32: number | null
  }
  /** Y clients that wrote in former lives of an id, as JSON, newest first. [WS-62] */
  former_clients: { workspace_id: string; id: string; until_ms: number; clients: string; crc32: number }
  revocations: { jti: string; revoked_at_ms: number; crc32: number | null }
}

/** A connection outside or inside a transaction. */
export type Connection = Kysely<Tables>
export type Writer = Transaction<Tables>
