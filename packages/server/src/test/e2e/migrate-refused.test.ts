import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../drivers/sql/migrations/migrate.ts'
import { relayCommandHere } from '../relay-command.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

const stores = await storesUnderTest()

/** Changes a store into one that a relay of an older release is running on. */
async function forgetNewestStep(dataDir: string, storageUrl: string | undefined): Promise<void> {
  const statement = `delete from kysely_migration where name = '${Object.keys(MIGRATIONS).at(-1)}'`
  if (storageUrl === undefined) {
    const db = new DatabaseSync(join(dataDir, 'relay.db'))
    db.exec(statement)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: storageUrl })
  await client.connect()
  await client.query(statement)
  await client.end()
}

describe.each(stores)('commands beside a running relay, on $name', ({ env, remove }) => {
  afterAll(remove)

  it('[LIFE-29] [OPS-11] migrate is refused and leaves no backup, and verify counts a document once', async () => {
    await using relay = await startRelayUnderTest({ env })
    await relay.rest().putDocument('only', { name: 'Only' })
    const verified = await relayCommandHere(relay.dataDir, ['verify'], env)
    expect(verified.out).toMatch(/^read: 1 document, 0 recovery points, 0 blobs; found: damage 0/)
    await forgetNewestStep(relay.dataDir, env['RELAY_STORAGE_URL'])
    const { code, out, err } = await relayCommandHere(relay.dataDir, ['migrate'], env)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain('in use by another process')
    expect(readdirSync(relay.dataDir).filter((name) => name.startsWith('backup-'))).toEqual([])
    expect((await relay.rest().getDocument('only')).name).toBe('Only')
  })
})
