import { type BodyFacts, boundedFacts } from '@docrelay/model/body-facts'
import {
  type DocumentHead,
  type DocumentRef,
  type DocumentState,
  type Tombstone,
  sharedBytes,
} from '../../documents/document-store.port.ts'
import { DamageError, type DamagedPart } from '../../kernel/damage.ts'
import { headChecksum, type HeadColumns } from './checksum.ts'
import { compiledOnce } from './compiled-query.ts'
import { isLineageIntact } from './lineage.ts'
import { flagsChecksum, isAsWritten } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection } from './tables.ts'
import { type TenureColumns, tenureOf } from './tenure-columns.ts'

/** The columns of a head, for every query that returns heads. */
export const HEAD_COLUMNS = [
  'documents.key as key',
  'documents.workspace_id as workspace_id',
  'documents.id as id',
  'documents.version as version',
  'documents.owner_id as owner_id',
  'documents.owner_name as owner_name',
  'documents.collection_id as collection_id',
  'documents.shared_with as shared_with',
  'documents.created_at_ms as created_at_ms',
  'documents.updated_at_ms as updated_at_ms',
  'documents.title_changed_at_ms as title_changed_at_ms',
  'documents.size_bytes as size_bytes',
  'documents.facts as facts',
  'documents.crc32 as crc32',
  'documents.lineage as lineage',
  'documents.lineage_crc32 as lineage_crc32',
  'log_heads.last_seq as last_seq',
  'log_heads.covered_seq as covered_seq',
  'log_heads.body_ahead as body_ahead',
  'log_heads.flags_crc32 as flags_crc32',
  'log_heads.owner as owner',
  'log_heads.epoch as epoch',
] as const

export interface HeadRow extends HeadColumns, TenureColumns {
  readonly key: number
  readonly crc32: number
  readonly lineage: string | null
  readonly lineage_crc32: number | null
  readonly last_seq: number | null
  readonly covered_seq: number | null
  readonly body_ahead: number | null
  readonly flags_crc32: number | null
}

/** Thrown for a damaged document; callers answer 503 for this document alone. [LIFE-5] */
export class DamagedDocumentError extends DamageError {
  /** Description of the damage for the log. */
  readonly detail: string
  /** `null` when only the key of its rows is known. */
  readonly ref: DocumentRef | null

  constructor(part: DamagedPart, detail: string, ref: DocumentRef | null = null) {
    super(part, ref?.id ?? null)
    this.name = 'DamagedDocumentError'
    this.detail = detail
    this.ref = ref
  }
}

/** Returns the head in a row. @throws DamagedDocumentError */
export function headOf(row: HeadRow): DocumentHead {
  const damaged = (detail: string) =>
    new DamagedDocumentError('row', detail, { workspaceId: originalText(row.workspace_id), id: row.id })
  if (row.last_seq === null || row.covered_seq === null || row.body_ahead === null) throw damaged('its log has no head')
  if (headChecksum(row) !== row.crc32) throw damaged('its row does not have its checksum')
  if (row.flags_crc32 !== null && flagsChecksum(row.key, row.covered_seq, row.body_ahead) !== row.flags_crc32)
    throw damaged('the head of its log does not have its checksum')
  if (!isLineageIntact(row)) throw damaged('its lineage does not have its checksum')
  const sharedWith = JSON.parse(row.shared_with) as unknown[]
  return {
    key: row.key,
    workspaceId: originalText(row.workspace_id),
    id: row.id,
    lineage: row.lineage ?? '',
    version: row.version,
    ownerId: originalText(row.owner_id),
    ownerName: originalText(row.owner_name),
    collectionId: row.collection_id === null ? null : originalText(row.collection_id),
    sharedWith,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    titleChangedAtMs: row.title_changed_at_ms,
    sizeBytes: row.size_bytes + sharedBytes(sharedWith),
    facts: boundedFacts(JSON.parse(row.facts) as BodyFacts),
    lastSeq: row.last_seq,
    coveredSeq: row.covered_seq,
    bodyAhead: row.body_ahead === 1,
    owner: tenureOf(row),
  }
}

/** Selects heads with left joins, because a missing part is damage and does not mean an unknown id. */
export function selectHeads(db: Connection) {
  return db.selectFrom('documents').leftJoin('log_heads', 'log_heads.key', 'documents.key').select(HEAD_COLUMNS)
}

const stateRow = compiledOnce((db, { workspaceId, id }: { readonly workspaceId: string; readonly id: string }) =>
  db
    .selectFrom(db.selectNoFrom((e) => e.lit(1).as('one')).as('always'))
    .leftJoin('documents', (join) => join.on('documents.workspace_id', '=', workspaceId).on('documents.id', '=', id))
    .leftJoin('log_heads', 'log_heads.key', 'documents.key')
    .leftJoin('tombstones', (join) => join.on('tombstones.workspace_id', '=', workspaceId).on('tombstones.id', '=', id))
    .select(HEAD_COLUMNS)
    .select(['tombstones.deleted_at_ms', 'tombstones.last_server_version', 'tombstones.owner_id as deleted_owner_id'])
    .select(['tombstones.crc32 as tombstone_crc32', 'tombstones.successor']),
)

/** Reads the state of an id in one statement, so that a concurrent change from document to tombstone cannot look like neither. */
export async function readState(db: Connection, ref: DocumentRef): Promise<DocumentState> {
  const workspaceId = storedText(ref.workspaceId)
  const [row] = await stateRow(db, { workspaceId, id: ref.id })
  if (row === undefined) return { kind: 'absent' }
  if (row.key !== null) return { kind: 'document', head: headOf(row as HeadRow) }
  if (row.deleted_at_ms === null || row.last_server_version === null || row.deleted_owner_id === null) return { kind: 'absent' }
  const { deleted_at_ms, last_server_version, deleted_owner_id: owner_id, tombstone_crc32: sum, successor } = row
  const stone = { workspace_id: workspaceId, id: ref.id, deleted_at_ms, last_server_version, owner_id, successor, crc32: sum }
  if (!isAsWritten('tombstones', stone)) throw new DamagedDocumentError('row', 'its tombstone does not have its checksum', ref)
  const tombstone: Tombstone = {
    workspaceId: ref.workspaceId,
    id: ref.id,
    deletedAtMs: deleted_at_ms,
    lastServerVersion: last_server_version,
    ownerId: originalText(owner_id),
    ...(successor !== null && { successor }),
  }
  return { kind: 'tombstone', tombstone }
}
