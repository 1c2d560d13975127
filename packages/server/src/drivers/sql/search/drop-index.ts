import { rmSync } from 'node:fs'
import type { Logger } from '../../../kernel/log.ts'
import { indexFolder } from './sqlite-index-file.ts'

/**
 * Removes the search index of the store that a `[storage] url` names. A running relay then builds the index again. [AG-64]
 *
 * @throws Error with a sentence for the operator when the database server does not answer
 */
export async function dropSearchIndex(url: string, log: Logger): Promise<void> {
  if (url.startsWith('sqlite:')) {
    rmSync(indexFolder(url.slice('sqlite:'.length)), { recursive: true, force: true })
    return
  }
  const [{ openPostgres }, { dropTables }] = await Promise.all([import('../postgres.ts'), import('./postgres-index-tables.ts')])
  const { writer, close } = await openPostgres(url, 0, log, { isTool: true })
  try {
    await dropTables(writer)
  } finally {
    await close()
  }
}
