import { join } from 'node:path'

/** The relay as an operator runs it. */
export const RELAY_SOURCES = join(import.meta.dirname, '../main.ts')

/** The same program in few files, of which a start takes a third of the processor time; made for a run of tests by scripts/relay-bundle.ts. */
export const RELAY_PROGRAM = process.env['DOCRELAY_TEST_RELAY'] ?? RELAY_SOURCES
