import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The relay as an operator runs it. */
const RELAY_SOURCES = join(import.meta.dirname, '../main.ts')

/** The same program in few files, of which a start takes a third of the processor time; made for a run of tests by scripts/relay-bundle.ts. */
export const RELAY_PROGRAM = process.env['DOCRELAY_TEST_RELAY'] ?? RELAY_SOURCES

/** The thread of the store as that program starts it. */
export const STORAGE_THREAD =
  RELAY_PROGRAM === RELAY_SOURCES
    ? new URL('../drivers/sql/storage-thread.ts', import.meta.url)
    : new URL('./storage-thread.mjs', pathToFileURL(RELAY_PROGRAM))
