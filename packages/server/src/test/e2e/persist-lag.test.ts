import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'

let relay: RelayUnderTest
beforeAll(async () => {
  relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0' } })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

async function lagSeconds(): Promise<number> {
  const text = await (await fetch(`${relay.baseUrl}/metrics`)).text()
  return Number(/^relay_persist_lag_seconds (\S+)$/m.exec(text)?.[1])
}

it('[OPS-4] relay_persist_lag_seconds returns to 0 after a PUT on a joined document that nobody edits', async () => {
  await relay.rest().putDocument('joined', { name: 'joined' })
  const client = relay.sync('joined')
  await saved(client)
  await until('the seeded body to be stored', async () => (await lagSeconds()) === 0)
  await relay.rest().putDocument('joined', { name: 'put over it' })
  // Workers report twice a second. One report shows the edit, and a later one shows it stored.
  await until('the lag to show', async () => (await lagSeconds()) > 0, 2_000).catch(() => undefined)
  await until('the lag to end', async () => (await lagSeconds()) === 0)
  expect(client.doc.getMap('metadata').get('title')).toBe('put over it')
})
