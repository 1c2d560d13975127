import { sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import type { StoredContents } from '../../verify/stored-contents.port.ts'
import { readableSteps } from './archive-layout.ts'
import { callProblems } from './inspect-calls.ts'
import { changedRows } from './inspect-rows.ts'
import { pendingSteps } from './migrations/migrate.ts'
import { validObject } from './blob-objects.ts'
import { inspectDocument } from './inspect-document.ts'
import { isAsWritten } from './row-checksums.ts'
import { sqliteLosses } from './sqlite-losses.ts'
import { originalText } from './stored-text.ts'
import type { Connection, Tables } from './tables.ts'

const PAGE_ROWS = 500
const MOST_PER_TABLE = 20

/** Tables whose rows belong to a document. */
const OF_A_DOCUMENT = [
  'log_heads',
  'bodies',
  'updates',
  'snapshots',
  'set_aside',
  'recovery_points',
  'point_refs',
  'blob_refs',
  'share_links',
  'call_records',
  'call_refs',
] as const satisfies readonly (keyof Tables)[]

/**
 * Opens the store that a `[storage] url` names, for reading only.
 *
 * @throws Error with a sentence for the operator
 */
export async function openStoredContents(url: string, log: Logger): Promise<StoredContents> {
  if (url.startsWith('sqlite:')) {
    const { openSqliteReader } = await import('./sqlite-reader.ts')
    const path = url.slice('sqlite:'.length)
    const { db, file, close } = openSqliteReader(path)
    const structure = () => [
      ...sqliteLosses(path).map(({ detail }) => detail),
      ...file
        .prepare('pragma integrity_check(100)')
        .all()
        .map((row) => String(row['integrity_check']))
        .filter((problem) => problem !== 'ok')
        .map((problem) => `the database file is damaged: ${problem}`),
    ]
    return storedContents({ db, structure, close, isServerLost: () => false })
  }
  const { isServerLost, openPostgres } = await import('./postgres.ts')
  const { reader, close } = await openPostgres(url, 0, log, { isTool: true })
  return storedContents({ db: reader, structure: () => [], close, isServerLost })
}

interface OpenedStore {
  readonly db: Connection
  /** Problems of the file as a whole. */
  readonly structure: () => readonly string[]
  readonly close: () => Promise<void>
  readonly isServerLost: (error: unknown) => boolean
}

async function storedContents(opened: OpenedStore): Promise<StoredContents> {
  const { db, close } = opened
  try {
    const { steps } = await readableSteps(db)
    const missing = pendingSteps(steps)
    if (missing.length > 0) throw new Error(`the store lacks the steps ${missing.join(', ')}: run \`relay migrate\` first`)
  } catch (error) {
    await close()
    throw error
  }
  return contentsOf(opened)
}

function contentsOf({ db, structure, close, isServerLost }: OpenedStore): StoredContents {
  return {
    async *problems() {
      yield* structure()
      yield* strayRows(db)
      yield* changedRows(db)
      yield* registryProblems(db)
      yield* callProblems(db)
    },
    async eachDocument(work) {
      for (let after = Number.MIN_SAFE_INTEGER; ; ) {
        const page = await db
          .selectFrom('documents')
          .select('key')
          .where('key', '>', after)
          .orderBy('key')
          .limit(PAGE_ROWS)
          .execute()
        for (const { key } of page) await atOneMoment(db, key, work)
        const last = page.at(-1)
        if (last === undefined) return
        after = last.key
      }
    },
    async *grants() {
      for (let after = ''; ; ) {
        const { rows } = await sql<{ hash: string }>`
          select distinct hash from blob_grants where hash > ${after} order by hash limit ${PAGE_ROWS}`.execute(db)
        const hashes = rows.map(({ hash }) => hash)
        if (hashes.length === 0) return
        const sizes = await db.selectFrom('blob_grants').select(['hash', 'size_bytes']).where('hash', 'in', hashes).execute()
        for (const hash of hashes) {
          const object = await validObject(db, hash)
          yield { hash, object, sizes: sizes.filter((row) => row.hash === hash).map((row) => row.size_bytes) }
        }
        after = hashes.at(-1) ?? ''
      }
    },
    async isStillGranted({ hash, object }) {
      const row = await db.selectFrom('blob_grants').select('hash').where('hash', '=', hash).executeTakeFirst()
      return row !== undefined && (await validObject(db, hash)) === object
    },
    async knowsObject(object, hash) {
      const named = await db.selectFrom('blob_objects').select('object').where('object', '=', object).executeTakeFirst()
      if (named !== undefined) return true
      if ((await validObject(db, hash)) !== object) return false
      for (const table of ['blob_grants', 'blob_uploads', 'blob_orphans'] as const) {
        const row = await db.selectFrom(table).select('hash').where('hash', '=', hash).limit(1).executeTakeFirst()
        if (row !== undefined) return true
      }
      return false
    },
    async setAsideCount() {
      const row = await db
        .selectFrom('set_aside')
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return row.count
    },
    isServerLost,
    [Symbol.asyncDispose]: close,
  }
}

/** Reads one document in one transaction. Writes of a running relay are seen completely or not at all, and no long transaction delays the relay. */
function atOneMoment(db: Connection, key: number, work: Parameters<StoredContents['eachDocument']>[0]): Promise<void> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (moment) => {
      const document = await inspectDocument(moment, key)
      if (document !== null) await work(document)
    })
}

/**
 * Yields a sentence for each row whose document or point does not exist. Each statement sees a single moment, and each write of the relay is a single
 * transaction, so a running relay causes no false findings.
 */
async function* strayRows(db: Connection): AsyncGenerator<string> {
  for (const table of OF_A_DOCUMENT) {
    const { rows } = await sql<{ key: number }>`
      select distinct ${sql.ref(`${table}.key`)} as key from ${sql.table(table)}
      where not exists (select 1 from documents where documents.key = ${sql.ref(`${table}.key`)}) limit ${MOST_PER_TABLE}`.execute(
      db,
    )
    for (const { key } of rows) yield `${table} has rows of document key ${key}, which does not exist`
  }
  const points = await sql<{ point: number }>`
    select distinct point_refs.point as point from point_refs where not exists (
      select 1 from recovery_points where recovery_points.point = point_refs.point and recovery_points.key = point_refs.key)
    limit ${MOST_PER_TABLE}`.execute(db)
  for (const { point } of points.rows) yield `point_refs has rows of recovery point ${point}, which its document does not have`
  const both = await sql<{ id: string }>`
    select documents.id as id from documents join tombstones
      on tombstones.workspace_id = documents.workspace_id and tombstones.id = documents.id limit ${MOST_PER_TABLE}`.execute(db)
  for (const { id } of both.rows) yield `document ${JSON.stringify(id)} exists and is said to be deleted`
}

async function* registryProblems(db: Connection): AsyncGenerator<string> {
  const all = await db.selectFrom('registries').select(['workspace_id', 'kind']).execute()
  for (const { workspace_id, kind } of all) {
    const row = await db
      .selectFrom('registries')
      .selectAll()
      .where('workspace_id', '=', workspace_id)
      .where('kind', '=', kind)
      .executeTakeFirst()
    const name = `the registry ${JSON.stringify(kind)} of workspace ${JSON.stringify(workspace_id)}`
    // Registries are never removed. So when a listed name finds no row, the stored name is no longer valid text.
    if (row === undefined) {
      yield `${name} is not found under its name`
      continue
    }
    const text = originalTextOrNull(row.value)
    if (!isAsWritten('registries', row)) yield `${name} does not have its checksum`
    else if (text === null) yield `${name} cannot be read`
    else if (Buffer.byteLength(text) !== row.size_bytes)
      yield `${name} has ${Buffer.byteLength(text)} bytes where its row says ${row.size_bytes}`
  }
}

function originalTextOrNull(stored: string): string | null {
  try {
    const text = originalText(stored)
    JSON.parse(text)
    return text
  } catch {
    return null
  }
}
