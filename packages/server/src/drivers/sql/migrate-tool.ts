import { sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import { layoutOf } from './archive-layout.ts'
import { connect } from './database.ts'
import type { Database } from './engine.ts'
import { MIGRATIONS, migrateStore, pendingSteps } from './migrations/migrate.ts'
import { openSqliteReader } from './sqlite-reader.ts'
import type { Connection } from './tables.ts'

export interface PendingStep {
  readonly name: string
  /** `relay serve` does it by itself. */
  readonly safe: boolean
  /** Of the rows it passes over; what it takes grows with them. */
  readonly bytes: number
}

/** Steps that this program knows and the store has not run, beside whoever works on it. [CFG-11] */
export async function planMigration(url: string, log: Logger): Promise<readonly PendingStep[]> {
  if (url.startsWith('sqlite:')) {
    const { db, close } = openSqliteReader(url.slice('sqlite:'.length))
    try {
      return await pendingIn(db, pagesOfTable)
    } finally {
      await close()
    }
  }
  const { openPostgres } = await import('./postgres.ts')
  const { reader, close } = await openPostgres(url, 0, log)
  try {
    return await pendingIn(reader, relationSize)
  } finally {
    await close()
  }
}

/**
 * Runs every pending step, in one transaction, with the store kept from every other process.
 *
 * @throws Error with a sentence for the operator, e.g. when a relay is running on it
 */
export async function migrateAll(url: string, log: Logger): Promise<void> {
  const database: Database = await connect(url, { synchronous: 'FULL' }, log)
  const { engine, writer } = database
  try {
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction), undefined, 'all steps')
  } finally {
    await database.close()
  }
}

type SizeOf = (db: Connection, table: string) => Promise<number>

async function pendingIn(db: Connection, sizeOf: SizeOf): Promise<readonly PendingStep[]> {
  const { steps: done } = await layoutOf(db, async () => [])
  const steps: PendingStep[] = []
  for (const name of pendingSteps(done)) {
    const step = MIGRATIONS[name]
    let bytes = 0
    for (const table of step?.passesOver ?? []) bytes += await sizeOf(db, table)
    steps.push({ name, safe: step?.safe === true, bytes })
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
