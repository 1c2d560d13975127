import type { Logger } from '../../kernel/log.ts'
import { endAllStreams } from './blob-release.ts'
import type { Database, OccupyOptions, OwnNode } from './engine.ts'
import { migrateStore, StoreTooNewError } from './migrations/migrate.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'

export interface DatabaseOptions extends SqliteOptions {
  /** How long in ms to wait for a database server that does not answer yet. */
  readonly serverWaitMs?: number
  /** Claims the store for this relay. Absent for tools, which work beside a relay. */
  readonly occupy?: OccupyOptions
  /** Present for one of several nodes. `occupy` is then not called. [LIFE-26] */
  readonly node?: OwnNode
}

/**
 * Opens the store that a `[storage] url` names, checks it and brings it to this program's format.
 *
 * @throws Error with a sentence for the operator, without secrets: unknown scheme, in use, damaged, newer than the
 * program, unreachable
 */
export async function openDatabase(url: string, options: DatabaseOptions, log: Logger): Promise<Database> {
  const database = await connect(url, options, log)
  const { engine, writer } = database
  try {
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction))
    if (engine.soleProcess) await writer.transaction().execute((transaction) => endAllStreams(transaction, engine))
    await database.mark()
    if (options.occupy !== undefined) await database.occupy(options.occupy)
    return database
  } catch (error) {
    await database.close()
    if (error instanceof StoreTooNewError) throw error
    const file = url.startsWith('sqlite:') ? ` ${url.slice('sqlite:'.length)}` : ''
    throw new Error(`cannot prepare the store${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

/** Opens the store in its present format, without migrating it; creates a missing file. */
export async function connect(url: string, options: DatabaseOptions, log: Logger): Promise<Database> {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  switch (scheme) {
    case 'sqlite:':
      return openSqlite(url.slice(scheme.length), options, log)
    case 'postgres:':
    case 'postgresql:': {
      // Relays on SQLite do not load this module.
      const { openPostgres } = await import('./postgres.ts')
      const { node, occupy, serverWaitMs = 0 } = options
      return openPostgres(url, serverWaitMs, log, node === undefined ? { isTool: occupy === undefined } : { node })
    }
    default:
      throw new Error(`[storage].url: unknown scheme ${JSON.stringify(scheme)} (allowed sqlite:, postgres:)`)
  }
}
