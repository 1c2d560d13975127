import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The main module of the relay's sources. */
const RELAY_SOURCES = join(import.meta.dirname, '../main.ts')

/**
 * The program that tests start. It is the bundle of scripts/relay-bundle.ts when the run has made one, because a start of the bundle takes a
 * third of the processor time.
 */
export const RELAY_PROGRAM = process.env['DOCRELAY_TEST_RELAY'] ?? RELAY_SOURCES

/** The module of the storage thread that this program starts. */
export const STORAGE_THREAD =
  RELAY_PROGRAM === RELAY_SOURCES
    ? new URL('../drivers/sql/storage-thread.ts', import.meta.url)
    : new URL('./storage-thread.mjs', pathToFileURL(RELAY_PROGRAM))
