import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStoreFaults, type StoreFaults } from '../store-faults.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'

const stores = await storesUnderTest()

describe.each(stores)('a log record that the store refuses, on $name', ({ env, remove }) => {
  let relay: RelayUnderTest
  let faults: StoreFaults
  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_WRITES_PER_SEC: '0', ...env } })
    faults = await openStoreFaults(relay, env['RELAY_STORAGE_URL'])
  })
  afterAll(async () => {
    await faults?.[Symbol.asyncDispose]()
    await relay?.[Symbol.asyncDispose]()
    await remove()
  })

  it('[LIFE-5] [LIFE-6] after a refused append a document accepts later edits again', async () => {
    await relay.rest().putDocument('typed', { name: 'typed' })
    const ann = relay.sync('typed', { sub: 'user-1' })
    const ben = relay.sync('typed', { sub: 'user-1' })
    await saved(ann, ben)
    const type = async (key: string): Promise<void> => {
      ann.doc.getMap('fields').set(key, { name: key, value: key })
      // A broadcast is sent before the commit, so the record of this edit is on its way to the store.
      await until(`the broadcast of ${key}`, () => ben.doc.getMap('fields').has(key))
    }
    await faults.refuseRecordsWith('refused')
    await faults.hold()
    await type('refused')
    await type('second')
    await type('third')
    await faults.release()
    const failure = () => relay.logLines.find((line) => line.includes('room.append_failed'))
    await until('the reset of the room', () => failure() !== undefined)
    expect((JSON.parse(failure() ?? '{}') as { error?: string }).error).toMatch(/[a-z]{3}/i)
    expect(failure()).not.toContain('[object Object]')
    await faults.refuseNothing()
    ben.destroy()
    const headers = { authorization: `Bearer ${relay.token()}` }
    expect((await relay.fetch('/api/docs/typed', { headers })).status).toBe(200)
    await saved(ann)
    const reader = relay.sync('typed')
    await saved(reader)
    expect([...reader.doc.getMap('fields').keys()].sort()).toEqual(['refused', 'second', 'third'])
  })
})
