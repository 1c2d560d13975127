import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { relayCommandHere } from './relay-command.ts'

const FIXTURES = join(import.meta.dirname, 'fixtures/log-gap')

/**
 * Returns a data directory with the store that the program of commit 926e332 left after a refused log record. The logs of `one-gap` and
 * `two-gaps` lack the shapes `lost-0` (and `lost-1`), which the shapes `after-0` (and `after-1`) follow; document `whole` is complete. The body
 * of each has the shapes `before-*`; the shapes `behind-*` are only in the log.
 */
export function gapStore(): string {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-gap-'))
  writeFileSync(join(folder, 'relay.db'), gunzipSync(readFileSync(join(FIXTURES, 'relay.db.gz'))))
  return folder
}

/** Puts the same store into an empty PostgreSQL database. Returns the directory of the blobs and tokens. */
export async function gapStoreOnPostgres(storageUrl: string): Promise<string> {
  const from = gapStore()
  const backup = join(mkdtempSync(join(tmpdir(), 'docrelay-gap-backup-')), 'backup')
  const taken = await relayCommandHere(from, ['migrate'])
  const copied = await relayCommandHere(from, ['backup', backup])
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-gap-pg-'))
  const restored = await relayCommandHere(folder, ['restore', backup], {
    RELAY_STORAGE_URL: storageUrl,
    RELAY_CLUSTER_SINGLE_NODE: 'true',
  })
  for (const run of [taken, copied, restored]) if (run.code !== 0) throw new Error(`the store was not copied: ${run.err}`)
  return folder
}

/** Returns the state of the client whose record was refused. With it the log is complete. */
export function clientState(document: 'one-gap' | 'two-gaps'): Uint8Array {
  return new Uint8Array(readFileSync(join(FIXTURES, `${document}-0.bin`)))
}
