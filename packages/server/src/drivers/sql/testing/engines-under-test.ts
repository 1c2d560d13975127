import { openPostgresUnderTest } from './postgres-under-test.ts'
import { temporaryStore } from './store-under-test.ts'

interface EngineUnderTest {
  readonly name: string
  /** Creates an empty store for one test. */
  open(): Promise<{ readonly url: string; remove(): Promise<void> | void }>
}

/** Returns SQLite, and PostgreSQL when this machine has a server; otherwise prints the reason. */
export async function enginesUnderTest(): Promise<readonly EngineUnderTest[]> {
  const sqlite = { name: 'SQLite', open: () => Promise.resolve(temporaryStore()) }
  const probe = await openPostgresUnderTest()
  if (typeof probe === 'string') {
    process.stderr.write(`skipped on PostgreSQL: ${probe}\n`)
    return [sqlite]
  }
  await probe[Symbol.asyncDispose]()
  const open = async () => {
    const database = await openPostgresUnderTest()
    if (typeof database === 'string') throw new Error(database)
    return { url: database.url, remove: async () => database[Symbol.asyncDispose]() }
  }
  return [sqlite, { name: 'PostgreSQL', open }]
}
