import type { Logger } from '../../kernel/log.ts'
import { endAllStreams } from './blob-release.ts'
import type { Database } from './engine.ts'
import { migrateStore, StoreTooNewError } from './migrations/migrate.ts'
import { openSqlite, type SqliteOptions } from './sqlite.ts'

export interface DatabaseOptions extends SqliteOptions {
  /** How long to wait for a server that does not answer yet. */
  readonly serverWaitMs?: number
}

/**
 * Opens the store a `[storage] url` names, checks it and brings it to this program's format.
 *
 * @throws Error with a sentence for the operator: unknown scheme, in use, damaged, newer than the program, unreachable. No secret is in it.
 */
export async function openDatabase(url: string, options: DatabaseOptions, log: Logger): Promise<Database> {
  const database = await connect(url, options, log)
  const { engine, writer } = database
  try {
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction))
    if (engine.soleProcess) await writer.transaction().execute((transaction) => endAllStreams(transaction, engine))
    return database
  } catch (error) {
    await database.close()
    if (error instanceof StoreTooNewError) throw error
    throw new Error(`cannot prepare the store: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

/** Opens the store as it is, whatever its format; a file that is missing is made. */
export async function connect(url: string, options: DatabaseOptions, log: Logger): Promise<Database> {
  const scheme = url.slice(0, url.indexOf(':') + 1)
  switch (scheme) {
    case 'sqlite:':
      return openSqlite(url.slice(scheme.length), options)
    case 'postgres:':
    case 'postgresql:': {
      // Not loaded by those who run on one file.
      const { openPostgres } = await import('./postgres.ts')
      return openPostgres(url, options.serverWaitMs ?? 0, log)
    }
    default:
      throw new Error(`[storage].url: unknown scheme ${JSON.stringify(scheme)} (allowed sqlite:, postgres:)`)
  }
}
