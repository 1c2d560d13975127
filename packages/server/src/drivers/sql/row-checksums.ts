import { crc32 } from 'node:zlib'
import { type RawBuilder, sql } from 'kysely'
import { RelayError } from '../../kernel/errors.ts'
import type { Tables } from './tables.ts'

/** For each table, the columns that the checksum covers. They include the key, so that swapped rows are found as damage too. [OPS-11] */
const SUMMED = {
  tombstones: ['workspace_id', 'id', 'deleted_at_ms', 'last_server_version', 'owner_id'],
  revocations: ['jti', 'revoked_at_ms'],
  share_links: ['id', 'token_hash', 'key', 'created_at_ms', 'created_by', 'expires_at_ms'],
  blob_grants: ['workspace_id', 'hash', 'size_bytes', 'mime_type', 'created_at_ms', 'provenance'],
  blob_uploaders: ['workspace_id', 'hash', 'sub'],
  blob_uploads: ['id', 'workspace_id', 'hash', 'bytes', 'kind', 'sub', 'expires_at_ms', 'remove_at_ms'],
  registries: ['workspace_id', 'kind', 'version', 'size_bytes', 'value'],
  former_clients: ['workspace_id', 'id', 'until_ms', 'clients'],
  // `caller` is left out: a call with a damaged caller can still be undone by its id, and programs without that column accept the rows.
  call_records: [
    ...(['key', 'version', 'call', 'workspace_id', 'at_ms', 'sub', 'client', 'tool', 'changed', 'removed'] as const),
    ...(['size_bytes', 'undone_by', 'answer', 'record_crc32'] as const),
  ],
  removals: ['key', 'seq', 'at_ms', 'notes'],
  remembered_writes: ['workspace_id', 'request', 'digest', 'answer', 'version', 'at_ms'],
} as const satisfies { readonly [T in keyof Tables]?: readonly (keyof Tables[T])[] }

export type SummedTable = keyof typeof SUMMED
type Unsummed<T extends SummedTable> = Omit<Tables[T], 'crc32'>

/** Thrown for a row that fails its checksum. Requests that need the row are answered with 503. */
export class DamagedRowError extends RelayError {
  constructor(what: string) {
    super('UNAVAILABLE', `${what} is damaged in the store: its row does not have its checksum`)
    this.name = 'DamagedRowError'
  }
}

/** Returns the row with its checksum, for an insert. */
export function withChecksum<T extends SummedTable>(table: T, row: Unsummed<T>): Unsummed<T> & { readonly crc32: number } {
  return { ...row, crc32: checksumOf(table, row) }
}

/** Whether the row is as it was written. Rows from releases without checksums have none and count as unchanged. [LIFE-29] */
export function isAsWritten<T extends SummedTable>(table: T, row: Unsummed<T> & { readonly crc32: number | null }): boolean {
  return row.crc32 === null || row.crc32 === checksumOf(table, row)
}

function checksumOf<T extends SummedTable>(table: T, row: Unsummed<T>): number {
  const columns: readonly string[] = [...SUMMED[table], ...addedColumns(table, row)]
  const values = columns.map((column) => row[column as unknown as keyof Unsummed<T>])
  const sum = crc32(JSON.stringify([table, values]))
  return table === 'blob_grants' ? sum + stateSum(row as unknown as GrantState) : sum
}

/** Returns the columns that a later release added. A checksum covers them only when they are set, so that checksums of older rows stay valid. */
function addedColumns<T extends SummedTable>(table: T, row: Unsummed<T>): readonly string[] {
  return table === 'tombstones' && (row as unknown as Unsummed<'tombstones'>).successor !== null ? ['successor'] : []
}

/** The columns of a grant that change during its life. */
type GrantState = Pick<Tables['blob_grants'], 'metered' | 'unreferenced_at_ms'>

const METERED = 7
const UNREFERENCED = 3

/** Checksum of the columns that change. It is a summand of the checksum of the row, so it can be changed without reading the row. */
function stateSum({ metered, unreferenced_at_ms }: GrantState): number {
  return METERED * metered + UNREFERENCED * (unreferenced_at_ms ?? -1)
}

/** Returns column values for an update of grants. The checksum changes by the difference, so a damaged grant stays damaged. */
export function grantState(state: {
  readonly metered?: 0 | 1
  readonly unreferenced_at_ms: number | null
}): typeof state & { readonly crc32: RawBuilder<number> } {
  const { metered, unreferenced_at_ms } = state
  const sum = stateSum({ metered: metered ?? 0, unreferenced_at_ms })
  const replaced = metered === undefined ? sql`` : sql` - ${sql.lit(METERED)} * metered`
  return {
    ...state,
    crc32: sql<number>`crc32 + cast(${sum} as bigint) - ${sql.lit(UNREFERENCED)} * coalesce(unreferenced_at_ms, -1)${replaced}`,
  }
}

/** Checksum of the columns in a log's head that describe the body. Written when these change, and not at every append. [LIFE-7] */
export function flagsChecksum(key: number, coveredSeq: number, bodyAhead: number): number {
  return crc32(`log_heads ${key} ${coveredSeq} ${bodyAhead}`)
}

/** Returns the columns of a log's head that change together with their checksum. */
export function headFlags(
  key: number,
  coveredSeq: number,
  bodyAhead: 0 | 1,
): Pick<Tables['log_heads'], 'covered_seq' | 'body_ahead' | 'flags_crc32'> {
  return { covered_seq: coveredSeq, body_ahead: bodyAhead, flags_crc32: flagsChecksum(key, coveredSeq, bodyAhead) }
}
