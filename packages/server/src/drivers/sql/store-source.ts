import type { StoreSource } from '../../backup/store-archive.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { sqliteSource } from './sqlite-reader.ts'

/**
 * The store a `[storage] url` names, to be copied while others work on it.
 *
 * @throws Error with a sentence for the operator; no secret is in it
 */
export async function openStoreSource(url: string, log: Logger): Promise<StoreSource> {
  if (url.startsWith('sqlite:')) return sqliteSource(url.slice('sqlite:'.length))
  // Not loaded by those who run on one file.
  const { postgresSource } = await import('./postgres-source.ts')
  return postgresSource(url, log)
}
