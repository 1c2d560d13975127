import type { StoreSource } from '../../backup/store-archive.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { sqliteLosses } from './sqlite-losses.ts'
import { sqliteSource } from './sqlite-reader.ts'
import { type StoreLoss, StoreLossError } from './store-loss.ts'

/**
 * Opens the store that a `[storage] url` names for copying, while other processes may use it.
 *
 * @throws Error with a sentence for the operator, without secrets
 */
export async function openStoreSource(url: string, log: Logger): Promise<StoreSource> {
  if (url.startsWith('sqlite:')) return sqliteSource(url.slice('sqlite:'.length))
  // Loaded only here, so that relays on SQLite do not load it.
  const { postgresSource } = await import('./postgres-source.ts')
  return postgresSource(url, log)
}

/** Lists acknowledged writes that the store has visibly lost; always empty for a database server, which checks its own log. [LIFE-5] */
export function lossesOf(url: string): readonly StoreLoss[] {
  return url.startsWith('sqlite:') ? sqliteLosses(url.slice('sqlite:'.length)) : []
}

/** Checks a store for losses. @throws StoreLossError when the store has lost acknowledged writes */
export function refuseLosses(url: string): void {
  const losses = lossesOf(url)
  if (losses.length > 0) throw new StoreLossError(url.slice('sqlite:'.length), losses)
}
