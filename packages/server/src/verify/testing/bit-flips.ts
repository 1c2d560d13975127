import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openFsBlobs } from '../../drivers/fs-blobs.ts'
import { openStoredContents } from '../../drivers/sql/inspect-store.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type Finding, verify } from '../verify.ts'

/**
 * Columns in which a changed bit must be found, because they have a checksum or are stored twice. Bytes of damaged logs that were set aside
 * are not included.
 */
const FLIPPED: Readonly<Record<string, readonly string[]>> = {
  documents: [
    ...['key', 'workspace_id', 'id', 'version', 'owner_id', 'owner_name', 'collection_id', 'shared_with', 'created_at_ms'],
    ...['updated_at_ms', 'title_changed_at_ms', 'size_bytes', 'facts', 'crc32'],
  ],
  log_heads: ['key', 'last_seq', 'covered_seq', 'body_ahead', 'flags_crc32'],
  bodies: ['key', 'crc32', 'body'],
  updates_settled: ['key', 'seq', 'actor', 'at_ms', 'crc32', 'bytes'],
  updates_recent: ['key', 'seq', 'actor', 'at_ms', 'crc32', 'bytes'],
  removals: ['key', 'seq', 'at_ms', 'notes', 'crc32'],
  snapshots: ['key', 'through_seq', 'crc32', 'state_vector', 'bytes'],
  recovery_points: ['point', 'key', 'reason', 'created_at_ms', 'version', 'facts', 'crc32', 'body', 'digest'],
  point_refs: ['hash', 'point'],
  blob_refs: ['hash'],
  blob_grants: [
    ...[
      'workspace_id',
      'hash',
      'size_bytes',
      'mime_type',
      'created_at_ms',
      'metered',
      'unreferenced_at_ms',
      'provenance',
      'crc32',
    ],
  ],
  blob_objects: ['object', 'hash', 'state'],
  blob_uploaders: ['workspace_id', 'hash', 'sub', 'crc32'],
  blob_uploads: ['id', 'workspace_id', 'hash', 'bytes', 'kind', 'sub', 'expires_at_ms', 'remove_at_ms', 'crc32'],
  registries: ['workspace_id', 'kind', 'version', 'size_bytes', 'value', 'crc32'],
  share_links: ['id', 'token_hash', 'key', 'created_at_ms', 'created_by', 'expires_at_ms', 'crc32'],
  tombstones: ['workspace_id', 'id', 'deleted_at_ms', 'last_server_version', 'owner_id', 'crc32'],
  remembered_writes: ['workspace_id', 'request', 'digest', 'answer', 'version', 'at_ms', 'crc32'],
  revocations: ['jti', 'revoked_at_ms', 'crc32'],
}

export type Place = 'row' | 'page' | 'blob'

export interface Flip {
  readonly place: Place
  readonly where: string
  readonly found: readonly string[]
}

/** Returns all findings of verify about the store in a data directory. */
export async function findingsIn(dataDir: string): Promise<readonly Finding[]> {
  const found: Finding[] = []
  await using store = await openStoredContents(`sqlite:${join(dataDir, 'relay.db')}`, silentLogger)
  const blobs = await openFsBlobs({ root: join(dataDir, 'blobs'), maxTempBytes: 0, random: systemRandom, log: silentLogger })
  await verify({ store, blobs, random: systemRandom, report: (finding) => found.push(finding) })
  return found
}

/** Changes one bit in a copy of a stopped relay's data directory, at a place that `random` chooses. Returns the findings of verify. */
export async function flipOneBit(dataDir: string, random: () => number): Promise<Flip> {
  const copy = mkdtempSync(join(tmpdir(), 'relay-flip-'))
  try {
    cpSync(dataDir, copy, { recursive: true })
    const { place, where } = flipIn(copy, random)
    const found = await findingsIn(copy).catch((error: Error) => [
      { level: 'damage', what: 'store', detail: error.message } as const,
    ])
    return { place, where, found: found.filter(({ level }) => level === 'damage').map(({ detail }) => detail) }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function flipIn(dataDir: string, random: () => number): { readonly place: Place; readonly where: string } {
  const choice = random()
  if (choice < 0.6) return { place: 'row', where: flipCell(join(dataDir, 'relay.db'), random) }
  if (choice < 0.85) return { place: 'page', where: flipPage(join(dataDir, 'relay.db'), random) }
  return { place: 'blob', where: flipBlob(join(dataDir, 'blobs'), random) }
}

/** Changes one bit of one value, without the checks of the database engine. */
function flipCell(path: string, random: () => number): string {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  try {
    const { table, column, rowid, value } = randomCell(db, random)
    const other = typeof value === 'number' ? flippedNumber(value, random) : flippedBytes(bytesOf(value), random)
    const sql = typeof value === 'string' ? 'cast(? as text)' : '?'
    try {
      db.prepare(`update ${table} set ${column} = ${sql} where rowid = ?`).run(other, rowid)
    } catch {
      // The changed value would equal a unique value of another row, which the engine refuses. So another place is chosen.
      return flipCell(path, random)
    }
    return `${table}.${column} of row ${rowid}`
  } finally {
    db.close()
  }
}

function randomCell(db: DatabaseSync, random: () => number) {
  for (;;) {
    const table = pick(Object.keys(FLIPPED), random)
    const column = pick(FLIPPED[table] ?? [], random)
    const rows = db
      .prepare(`select rowid, ${column} as value from ${table} where ${column} is not null and length(${column}) > 0`)
      .all()
    if (rows.length === 0) continue
    const { rowid, value } = pick(rows, random) as { rowid: number; value: string | number | Uint8Array }
    return { table, column, rowid, value }
  }
}

/** Changes one bit of the file inside the bytes of a value, because other parts of a page may be unused. */
function flipPage(path: string, random: () => number): string {
  const file = readFileSync(path)
  for (;;) {
    const db = new DatabaseSync(path, { readOnly: true })
    const { table, column, value } = randomCell(db, random)
    db.close()
    const bytes = typeof value === 'number' ? new Uint8Array(0) : bytesOf(value)
    const start = Math.floor(random() * Math.max(1, bytes.length - 16))
    const slice = bytes.subarray(start, start + 16)
    const at = slice.length < 16 ? -1 : file.indexOf(slice)
    // Bytes that occur twice in the file may be an old copy that is never read.
    if (at < 0 || file.indexOf(slice, at + 1) >= 0) continue
    const offset = at + Math.floor(random() * slice.length)
    file[offset] = (file[offset] ?? 0) ^ (1 << Math.floor(random() * 8))
    writeFileSync(path, file)
    return `byte ${offset} of the file, in ${table}.${column}`
  }
}

function flipBlob(root: string, random: () => number): string {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const { parentPath, name } = pick(files, random)
  const path = join(parentPath, name)
  writeFileSync(path, flippedBytes(readFileSync(path), random))
  return `blob ${name}`
}

function flippedNumber(value: number, random: () => number): number {
  const bit = 2 ** Math.floor(random() * 31)
  return Math.floor(value / bit) % 2 === 0 ? value + bit : value - bit
}

function flippedBytes(bytes: Uint8Array, random: () => number): Uint8Array {
  const flipped = new Uint8Array(bytes)
  const at = Math.floor(random() * flipped.length)
  flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8))
  return flipped
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? Buffer.from(value) : value
}

function pick<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)] as T
}
