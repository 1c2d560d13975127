import type { ArchivedTable, StoreLayout } from '../../backup/store-archive.port.ts'
import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import {
  applySteps,
  appliedSteps,
  isUnfinished,
  MIGRATIONS,
  STORE_FORMAT,
  storedFormat,
  tableNames,
} from './migrations/migrate.ts'
import { adapter, SQLITE_TYPES, TransactionalSqlite } from './sqlite.ts'
import type { Connection, Tables } from './tables.ts'

/** Facts about one table that only the database engine knows. */
export interface TableFacts {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly isBinary: boolean; readonly isIdentity: boolean }[]
  /** Highest value that the identity column has ever assigned. */
  readonly lastIdentity: number
}

export interface CopiedLayout {
  readonly layout: StoreLayout
  /** Names of tables in the database that no relay has created. */
  readonly others: readonly string[]
}

/**
 * Returns the layout of a store that is to be copied. Its tables are in the order of their creation, so no table comes before one that it references.
 * Kysely's own tables are left out; the names of the steps replace them. Tables of other programs are left out too: a restore could not create them,
 * and their columns may have any type. [OPS-9, OPS-10]
 *
 * `factsOf` is called with a function that says whether a table is copied, and returns the facts of all tables. Of tables that are not copied only
 * the names matter.
 *
 * @throws Error with a sentence for the operator
 */
export async function layoutOf(
  db: Connection,
  factsOf: (isCopied: (table: string) => boolean) => Promise<readonly TableFacts[]>,
): Promise<CopiedLayout> {
  const { format, steps } = await readableSteps(db)
  const made = await tablesMadeBy(steps)
  const isOfOthers = (name: string) => made !== null && !made.has(name) && !isInternal(name)
  const isCopied = (name: string) => !isInternal(name) && !NOT_COPIED.has(name) && !isOfOthers(name)
  const tables = await factsOf(isCopied)
  return {
    layout: { format, steps, tables: tables.filter(({ name }) => isCopied(name)).map(archived) },
    others: tables.map(({ name }) => name).filter(isOfOthers),
  }
}

/**
 * Returns the names of the tables that these steps create, by running the steps on an empty store. Returns `null` when a newer program has run a step
 * that this one does not know: then the tables of that step cannot be told from those of other programs.
 */
async function tablesMadeBy(steps: readonly string[]): Promise<ReadonlySet<string> | null> {
  if (steps.some((step) => !(step in MIGRATIONS))) return null
  const db = new Kysely<Tables>({ dialect: new TransactionalSqlite({ database: adapter(new DatabaseSync(':memory:')) }) })
  try {
    // A copy contains the log as one table.
    const types = { ...SQLITE_TYPES, recentApart: false }
    return await db.transaction().execute(async (writer) => {
      await applySteps(writer, types, steps)
      return new Set(await tableNames(writer))
    })
  } finally {
    await db.destroy()
  }
}

/**
 * Returns the format and the applied steps of a store. Throws for a store that this program cannot read.
 *
 * @throws Error with a sentence for the operator
 */
export async function readableSteps(db: Connection): Promise<Pick<StoreLayout, 'format' | 'steps'>> {
  const format = await storedFormat(db)
  if (await isUnfinished(db)) throw new Error('a restore into the store was not finished: run `relay restore` again')
  if (format === null) throw new Error('the database holds no store of a relay')
  if (format > STORE_FORMAT)
    throw new Error(`the store has format ${format}, newer than the ${STORE_FORMAT} this program knows: use a newer program`)
  return { format, steps: await appliedSteps(db) }
}

/**
 * Tables that a copy leaves out: processes that use the store, their messages to each other, and the names of objects, because the blob store changes
 * after the copy. [FEED-3, BLOB-24]
 */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'instances',
  'nodes',
  'takeovers',
  'seats',
  'change_feed',
  'revocation_feed',
  'job_leases',
  'blob_objects',
])

/** Whether a table belongs to the relay although no step creates it. Search indexes are not copied. [AG-64] */
function isInternal(name: string): boolean {
  return name.startsWith('kysely_') || name.startsWith('search_')
}

/**
 * Whether a column is copied. Owners are not, because in a restored store no document has an owner. Epochs are, so that they keep rising. [LIFE-26]
 */
function isColumnCopied(table: string, column: string): boolean {
  return table !== 'log_heads' || column !== 'owner'
}

function archived({ name, columns: all, lastIdentity }: TableFacts): ArchivedTable {
  const columns = all.filter((column) => isColumnCopied(name, column.name))
  const identity = columns.find(({ isIdentity }) => isIdentity)
  return {
    name,
    columns: columns.map((column) => column.name),
    binary: columns.filter(({ isBinary }) => isBinary).map((column) => column.name),
    identity: identity === undefined ? null : { column: identity.name, last: lastIdentity },
  }
}
