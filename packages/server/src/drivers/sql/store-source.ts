import type { StoreSource } from '../../backup/store-archive.port.ts'
import type { Logger } from '../../kernel/log.ts'
import { sqliteLosses } from './sqlite-losses.ts'
import { sqliteSource } from './sqlite-reader.ts'
import { type StoreLoss, StoreLossError } from './store-loss.ts'

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

/** Acknowledged writes that the store shows to be gone; always none on a database server, which answers for its own log. [LIFE-5] */
export function lossesOf(url: string): readonly StoreLoss[] {
  return url.startsWith('sqlite:') ? sqliteLosses(url.slice('sqlite:'.length)) : []
}

/** @throws StoreLossError when the store has lost acknowledged writes */
export function refuseLosses(url: string): void {
  const losses = lossesOf(url)
  if (losses.length > 0) throw new StoreLossError(url.slice('sqlite:'.length), losses)
}
