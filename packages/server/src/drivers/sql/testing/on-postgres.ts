import { afterAll, describe } from 'vitest'
import { openPostgresUnderTest } from './postgres-under-test.ts'

/** Registers tests on a separate database, which is dropped after them. Without a server the tests are skipped with the reason. */
export async function onPostgres(register: (url: string) => void): Promise<void> {
  const postgres = await openPostgresUnderTest()
  if (typeof postgres === 'string') {
    process.stderr.write(`skipped: ${postgres}\n`)
    describe.skip(`PostgreSQL (${postgres})`, () => undefined)
    return
  }
  afterAll(() => postgres[Symbol.asyncDispose]())
  register(postgres.url)
}
