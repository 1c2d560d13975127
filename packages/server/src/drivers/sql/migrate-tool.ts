import { sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import { readableSteps } from './archive-layout.ts'
import { connect } from './database.ts'
import type { Database } from './engine.ts'
import { MIGRATIONS, migrateStore, pendingSteps } from './migrations/migrate.ts'
import { refuseBesideRelay } from './postgres-place.ts'
import { openSqliteReader } from './sqlite-reader.ts'
import type { Connection } from './tables.ts'

export interface PendingStep {
  readonly name: string
  /** Whether `relay serve` runs the step by itself. */
  readonly safe: boolean
  /** Bytes of the rows that the step reads or writes; the duration of the step grows with them. */
  readonly bytes: number
  /** Estimated duration in seconds, at least 1. */
  readonly seconds: number
  /** Estimated growth of the store in bytes, in its log and in its main file together. */
  readonly spaceBytes: number
}

/** The pending steps of a store. The numbers are estimates from the sizes of tables. */
export interface MigrationPlan {
  readonly steps: readonly PendingStep[]
  /** Size of the whole database, which is about the size of a backup. */
  readonly storeBytes: number
}

/** Bytes of rows that a step processes in a second on two shared cores. A faster machine needs less time. */
const BYTES_PER_SECOND = 20_000_000
/** Growth for the pages of new tables and indexes. */
const STEP_BYTES = 65_536

/** Lists the steps that this program knows and that have not run on the store. May be called while a relay runs. [CFG-11] */
export async function planMigration(url: string, log: Logger): Promise<MigrationPlan> {
  if (url.startsWith('sqlite:')) {
    const { db, close } = openSqliteReader(url.slice('sqlite:'.length))
    try {
      return { steps: await pendingIn(db, pagesOfTable), storeBytes: await fileSize(db) }
    } finally {
      await close()
    }
  }
  const { openPostgres } = await import('./postgres.ts')
  const { reader, close } = await openPostgres(url, 0, log, { isTool: true })
  try {
    return { steps: await pendingIn(reader, relationSize), storeBytes: await databaseSize(reader) }
  } finally {
    await close()
  }
}

/**
 * Runs every pending step in one transaction and keeps all other processes out of the store.
 *
 * @throws Error with a sentence for the operator, for example when a relay runs on the store
 */
export async function migrateAll(url: string, log: Logger): Promise<void> {
  const database: Database = await connect(url, { synchronous: 'FULL' }, log)
  const { engine, writer } = database
  try {
    if (!engine.soleProcess) await refuseBesideRelay(writer)
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction), undefined, 'all steps')
    await database.mark()
  } finally {
    await database.close()
  }
}

type SizeOf = (db: Connection, table: string) => Promise<number>

async function pendingIn(db: Connection, sizeOf: SizeOf): Promise<readonly PendingStep[]> {
  const { steps: done } = await readableSteps(db)
  const steps: PendingStep[] = []
  for (const name of pendingSteps(done)) {
    const step = MIGRATIONS[name]
    let bytes = 0
    for (const table of step?.passesOver ?? []) bytes += await sizeOf(db, table)
    steps.push({
      name,
      safe: step?.safe === true,
      bytes,
      seconds: Math.max(1, Math.ceil(bytes / BYTES_PER_SECOND)),
      spaceBytes: STEP_BYTES + Math.ceil(bytes * (step?.writesPerByte ?? 0)),
    })
  }
  return steps
}

const pagesOfTable: SizeOf = async (db, table) => {
  const { rows } = await sql<{ bytes: number | null }>`select sum(pgsize) as bytes from dbstat where name = ${table}`.execute(db)
  return rows[0]?.bytes ?? 0
}

const relationSize: SizeOf = async (db, table) => {
  const { rows } = await sql<{ bytes: number }>`select pg_total_relation_size(to_regclass(${table})) as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}

async function fileSize(db: Connection): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db)
  return rows[0]?.bytes ?? 0
}

async function databaseSize(db: Connection): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db)
  return rows[0]?.bytes ?? 0
}
