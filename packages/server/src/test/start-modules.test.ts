import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { COMPILED_CODE } from './compiled-code.ts'

const SRC = join(import.meta.dirname, '..')
/** A program that prints the addresses of all modules that an import of its first argument loads. */
const LOADED = `
import { registerHooks } from 'node:module'
registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) })
await import(process.argv[1])
process.exit()`

async function loadedBy(entry: string): Promise<readonly string[]> {
  const args = ['--input-type=module', '--eval', LOADED, join(SRC, entry)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: COMPILED_CODE, maxBuffer: 16 << 20 })
  return stdout.trim().split('\n')
}

// The SQL library is a quarter of the modules of a start, in each thread that loads it.
describe('modules loaded at the start', () => {
  const sql = (urls: readonly string[]) => urls.filter((url) => url.includes('/node_modules/kysely/'))

  it.each(['compose.ts', 'compose-worker.ts'])(
    '[C1] [C3] the thread of %s, which runs no SQL, does not load the SQL library',
    async (entry) => {
      expect(sql(await loadedBy(entry))).toEqual([])
    },
  )

  it('[C3] the storage thread loads the SQL library', async () => {
    expect(sql(await loadedBy('drivers/sql/storage-thread.ts'))).not.toEqual([])
  })
})
