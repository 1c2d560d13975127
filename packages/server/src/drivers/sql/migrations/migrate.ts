import { type Kysely, sql } from 'kysely'
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration'
import type { Connection, Tables, Writer } from '../tables.ts'
import * as initial from './0001-initial.ts'
import * as workspace from './0002-workspace.ts'
import * as rememberedWrites from './0003-remembered-writes.ts'
import * as lineage from './0004-lineage.ts'
import * as instances from './0005-instances.ts'
import * as shareSizes from './0006-share-sizes.ts'
import * as callRecords from './0007-call-records.ts'
import * as removals from './0008-removals.ts'
import * as successors from './0009-successors.ts'
import * as recentUpdates from './0010-recent-updates.ts'
import * as nodes from './0011-nodes.ts'
import * as ownership from './0012-ownership.ts'
import * as seats from './0013-seats.ts'
import type { StepTypes } from './0013-seats.ts'
import * as feeds from './0014-feeds.ts'
import * as blobObjects from './0015-blob-objects.ts'
import * as callers from './0016-callers.ts'

/** The format of a store that only one relay at a time uses. */
const FORMAT_OF_ONE = 1
/** The format of a store that several nodes have used: a program that does not compare owners must not run beside them. [LIFE-26] */
const FORMAT_OF_SEVERAL = 2
/** The format of a store with a blob under a name from `blob_objects`: an older program would not find its bytes. [BLOB-24] */
const FORMAT_OF_NAMED_OBJECTS = 3
/** The newest format that this program knows. A change with which older programs could not work raises it by one. [LIFE-29] */
export const STORE_FORMAT = FORMAT_OF_NAMED_OBJECTS

export interface MigrationStep {
  up(db: Kysely<unknown>, types: StepTypes): Promise<void>
  /** Whether `relay serve` may run the step by itself: it is short, and the previous release can keep working on the store. */
  readonly safe: boolean
  /** Tables whose rows the step reads or writes one by one; their size determines the estimates. */
  readonly passesOver: readonly (keyof Tables)[]
  /** Bytes that the step writes for each byte of these tables; 0 when absent. */
  readonly writesPerByte?: number
}

/** The steps in the order of execution. A released step is never changed; a test pins its hash. */
export const MIGRATIONS: Readonly<Record<string, MigrationStep>> = {
  '0001-initial': { up: initial.up, safe: true, passesOver: [] },
  '0002-workspace': { up: workspace.up, safe: true, passesOver: ['bodies', 'recovery_points'], writesPerByte: 0.05 },
  '0003-remembered-writes': { up: rememberedWrites.up, safe: true, passesOver: [] },
  '0004-lineage': { up: lineage.up, safe: true, passesOver: [] },
  '0005-instances': { up: instances.up, safe: true, passesOver: [] },
  '0006-share-sizes': { up: shareSizes.up, safe: true, passesOver: [] },
  '0007-call-records': { up: callRecords.up, safe: true, passesOver: [] },
  '0008-removals': { up: removals.up, safe: true, passesOver: [] },
  '0009-successors': { up: successors.up, safe: true, passesOver: [] },
  '0010-recent-updates': { up: recentUpdates.up, safe: true, passesOver: [] },
  '0011-nodes': { up: nodes.up, safe: true, passesOver: [] },
  '0012-ownership': { up: ownership.up, safe: true, passesOver: [] },
  '0013-seats': { up: seats.up, safe: true, passesOver: [] },
  '0014-feeds': { up: feeds.up, safe: true, passesOver: [] },
  '0015-blob-objects': { up: blobObjects.up, safe: true, passesOver: [] },
  '0016-callers': { up: callers.up, safe: true, passesOver: [] },
}

export class StoreTooNewError extends Error {
  constructor(found: number) {
    super(
      `the store has format ${found}, newer than the ${STORE_FORMAT} this program knows: start a newer program or restore a backup`,
    )
    this.name = 'StoreTooNewError'
  }
}

/** A fact that is stored from the begin of a restore until all its rows are stored. [OPS-10] */
export const RESTORE_MARK = 'restore-unfinished'

/**
 * Brings the store to this program's format, with all steps in one transaction. A store made by a newer program is left untouched. `lock`
 * makes other processes that start at the same moment wait until the transaction ends. With `safe steps`, a step that may take long or stop
 * an older program from working is refused with an error that names `relay migrate`. `through` is the newest step to run.
 *
 * @throws StoreTooNewError, or Error with a sentence for the operator
 */
export function migrateStore(
  db: Kysely<Tables>,
  types: StepTypes,
  lock: (writer: Writer) => Promise<void>,
  through = Object.keys(MIGRATIONS).at(-1) ?? '',
  allowed: 'safe steps' | 'all steps' = 'safe steps',
): Promise<void> {
  return db.transaction().execute(async (writer) => {
    await lock(writer)
    // The names of the tables are read only once: this query reads the columns of every table and takes longer than all others here.
    const tables = await tableNames(writer)
    const found = await storedFormat(writer, tables)
    if (found !== null && found > STORE_FORMAT) throw new StoreTooNewError(found)
    if (await isUnfinished(writer, tables)) throw new Error('a restore into it was not finished: run `relay restore` again')
    const done = await appliedSteps(writer, tables)
    if (done.some((name) => !(name in MIGRATIONS))) return
    const pending = pendingSteps(done).filter((name) => name <= through)
    const unsafe = pending.filter((name) => MIGRATIONS[name]?.safe === false)
    if (done.length > 0 && allowed === 'safe steps' && unsafe.length > 0)
      throw new Error(`it needs the steps ${unsafe.join(', ')}: stop the relay and run \`relay migrate\``)
    if (pending.length > 0) await applySteps(writer, types, [...done, ...pending])
    await raiseFormat(writer, found, FORMAT_OF_ONE)
  })
}

/** Raises the format, so that programs that do not know owners of documents refuse the store. Called by each of several nodes. [LIFE-29] */
export async function raiseForSeveral(writer: Writer): Promise<void> {
  await raiseFormat(writer, await storedFormat(writer, ['store_facts']), FORMAT_OF_SEVERAL)
}

/** Raises the format, so that programs that look for a blob only under its hash refuse the store. Called at the first other name. [LIFE-29] */
export async function raiseForNamedObjects(writer: Writer): Promise<void> {
  await raiseFormat(writer, await storedFormat(writer, ['store_facts']), FORMAT_OF_NAMED_OBJECTS)
}

/** Whether several nodes may have used the store together. */
export async function wasOfSeveral(db: Connection): Promise<boolean> {
  return ((await storedFormat(db, ['store_facts'])) ?? 0) >= FORMAT_OF_SEVERAL
}

async function raiseFormat(writer: Writer, found: number | null, format: number): Promise<void> {
  if (found !== null && found >= format) return
  const value = String(format)
  await writer
    .insertInto('store_facts')
    .values({ name: 'format', value })
    .onConflict((conflict) =>
      // Another process may have raised the format further since the format was read.
      conflict.column('name').doUpdateSet({ value }).where(sql<boolean>`cast(store_facts.value as bigint) < ${format}`),
    )
    .execute()
}

/** Runs the steps of `names` that have not run yet, in the transaction of `writer`. */
export async function applySteps(writer: Writer, types: StepTypes, names: readonly string[]): Promise<void> {
  const migrations: Record<string, Migration> = {}
  for (const name of names) {
    const step = MIGRATIONS[name]
    if (step !== undefined) migrations[name] = { up: (connection) => step.up(connection, types) }
  }
  const migrator = new Migrator({ db: writer, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw error instanceof Error ? error : new Error(String(error))
}

/**
 * Returns the names of the steps that have run, in their order. A newer program with the same format may have run steps that this program does not
 * know; their names are included.
 */
export async function appliedSteps(db: Connection, tables?: readonly string[]): Promise<readonly string[]> {
  if (!(tables ?? (await tableNames(db))).includes(DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)} order by name`.execute(db)
  return rows.map(({ name }) => name)
}

export function pendingSteps(done: readonly string[]): readonly string[] {
  return Object.keys(MIGRATIONS).filter((name) => !done.includes(name))
}

export async function tableNames(db: Connection): Promise<readonly string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name)
}

export async function storedFormat(db: Connection, tables?: readonly string[]): Promise<number | null> {
  const value = await fact(db, 'format', tables)
  if (value === null) return null
  const format = Number(value)
  if (!Number.isSafeInteger(format)) throw new Error(`the store names its format as ${JSON.stringify(value)}`)
  return format
}

export async function isUnfinished(db: Connection, tables?: readonly string[]): Promise<boolean> {
  return (await fact(db, RESTORE_MARK, tables)) !== null
}

/** Returns the value of a fact; `null` when the store has none. `tables`: the tables of the store, when the caller knows them. */
export async function fact(db: Connection, name: string, tables?: readonly string[]): Promise<string | null> {
  if (!(tables ?? (await tableNames(db))).includes('store_facts')) return null
  const row = await db.selectFrom('store_facts').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value ?? null
}

export async function setFact(writer: Connection, name: string, value: string): Promise<void> {
  await writer
    .insertInto('store_facts')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Rejects when the store cannot be read; used by the readiness probe. */
export async function answers(db: Kysely<Tables>): Promise<void> {
  await sql`select 1 from store_facts where name = 'format'`.execute(db)
}
