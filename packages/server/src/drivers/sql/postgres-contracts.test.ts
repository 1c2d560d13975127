import { afterAll, describe } from 'vitest'
import { emptyPostgres } from './testing/emptied-postgres.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { describeStoreContracts } from './testing/store-contracts.ts'
import { inProcess, reopenable } from './testing/store-under-test.ts'

const postgres = await openPostgresUnderTest()
if (typeof postgres === 'string') {
  process.stderr.write(`skipped: ${postgres}\n`)
  describe.skip(`PostgreSQL (${postgres})`, () => undefined)
} else {
  afterAll(() => postgres[Symbol.asyncDispose]())
  describeStoreContracts('PostgreSQL', async () => {
    await emptyPostgres(postgres.url)
    return reopenable(postgres.url, inProcess, () => undefined)
  })
}
