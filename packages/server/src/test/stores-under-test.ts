import { openPostgresUnderTest } from '../drivers/sql/testing/postgres-under-test.ts'

/** A store on which the whole relay is tested. `remove` deletes the data of the tests from a server. */
export interface StoreUnderTest {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** The variables to add to the environment of the relay. */
  readonly env: Readonly<Record<string, string>>
  remove(): Promise<void>
}

/** Returns SQLite, and PostgreSQL where there is a server (see `openPostgresUnderTest`). Prints the reason when PostgreSQL is left out. */
export async function storesUnderTest(): Promise<readonly StoreUnderTest[]> {
  const sqlite: StoreUnderTest = { name: 'SQLite', env: {}, remove: async () => undefined }
  const server = await openPostgresUnderTest()
  if (typeof server === 'string') {
    process.stderr.write(`skipped on PostgreSQL: ${server}\n`)
    return [sqlite]
  }
  const env = { RELAY_STORAGE_URL: server.url, RELAY_CLUSTER_SINGLE_NODE: 'true' }
  return [sqlite, { name: 'PostgreSQL', env, remove: async () => server[Symbol.asyncDispose]() }]
}
