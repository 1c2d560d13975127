import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../drivers/sql/database.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

const server = await openPostgresUnderTest()
if (typeof server === 'string') process.stderr.write(`skipped: ${server}\n`)

describe.skipIf(typeof server === 'string')('a database server that came back without its last commits', () => {
  const { url } = server as PostgresUnderTest
  let relay: RelayUnderTest
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_STORAGE_URL: url, RELAY_CLUSTER_SINGLE_NODE: 'true' } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await (server as PostgresUnderTest)[Symbol.asyncDispose]()
  })

  it('[LIFE-5] [AUTH-14] the relay then applies the revocations in the store', async () => {
    const jti = 'revoked-in-the-store'
    const token = relay.token({ jti })
    const status = async () =>
      (await fetch(`${relay.baseUrl}/api/docs`, { headers: { authorization: `Bearer ${token}` } })).status
    expect(await status()).toBe(200)
    {
      await using host = await openHost(url)
      await host.revocations.add([{ jti, revokedAtMs: Date.now() }], { keep: 100 })
    }
    expect(await status()).toBe(200)
    const database = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
    await database.writer.deleteFrom('instances').execute()
    await database.close()
    await expect.poll(status, { timeout: 10_000 }).toBe(401)
    expect((await (await fetch(`${relay.baseUrl}/metrics`)).text()).includes('relay_store_losses_total{kind="tail"} 1')).toBe(
      true,
    )
  })
})
