import type { ArchivedTable, StoreLayout } from '../../backup/store-archive.port.ts'
import { appliedSteps, isUnfinished, STORE_FORMAT, storedFormat } from './migrations/migrate.ts'
import type { Connection } from './tables.ts'

/** Facts about one table that only the engine knows. */
export interface TableFacts {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly isBinary: boolean; readonly isIdentity: boolean }[]
  /** Highest value that the identity column has ever assigned. */
  readonly lastIdentity: number
}

/**
 * Returns the layout of a store to be copied or read. Its tables are in the order in which they were made, so none
 * comes before a table that it refers to. Kysely's own tables are left out; the names of the steps replace them.
 *
 * @throws Error with a sentence for the operator
 */
export async function layoutOf(db: Connection, factsOf: () => Promise<readonly TableFacts[]>): Promise<StoreLayout> {
  const format = await storedFormat(db)
  if (await isUnfinished(db)) throw new Error('a restore into the store was not finished: run `relay restore` again')
  if (format === null) throw new Error('the database holds no store of a relay')
  if (format > STORE_FORMAT)
    throw new Error(`the store has format ${format}, newer than the ${STORE_FORMAT} this program knows: use a newer program`)
  const tables = await factsOf()
  return { format, steps: await appliedSteps(db), tables: tables.filter(({ name }) => isCopied(name)).map(archived) }
}

/**
 * Tables that a copy leaves out: processes that use the store, their messages to each other, and the names of objects, because
 * the blob store goes on changing after the copy. [FEED-3, BLOB-24]
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

/** Whether a copy includes the table. Search indexes are not copied. [AG-64] */
function isCopied(name: string): boolean {
  return !name.startsWith('kysely_') && !name.startsWith('search_') && !NOT_COPIED.has(name)
}

/**
 * In a restored store no document has an owner, so owners are not copied. Epochs are copied, so that they go on rising. [LIFE-26]
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
