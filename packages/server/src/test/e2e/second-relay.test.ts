import { afterAll, describe, expect, it } from 'vitest'
import { relayCommandHere } from '../relay-command.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const store = (await storesUnderTest()).find(({ name }) => name === 'PostgreSQL')

describe.skipIf(store === undefined)('a second relay on one PostgreSQL store', () => {
  const env = { ...store?.env, RELAY_WRITES_PER_SEC: '0' }
  const running: RelayUnderTest[] = []
  afterAll(async () => {
    for (const relay of running) await relay[Symbol.asyncDispose]()
    await store?.remove()
  })
  const start = async () => {
    const relay = await startRelayUnderTest({ env })
    running.push(relay)
    return relay
  }

  it(
    '[CFG-10] a second relay exits with an explanation, and the first continues',
    async () => {
      const first = await start()
      await expect(start()).rejects.toThrow(/in use by another process/)
      await first.rest().putDocument('kept', { name: 'Kept' })
      expect((await relayCommandHere(first.dataDir, ['verify'], env)).code).toBe(0)
    },
    patience(40_000),
  )

  it(
    '[CFG-10] [LIFE-3] a second relay starts after the first was killed, without manual steps',
    async () => {
      const [first] = running
      await first?.kill()
      await first?.restart()
      expect(await first?.rest().getDocument('kept')).toMatchObject({ name: 'Kept' })
    },
    patience(40_000),
  )

  it(
    '[CFG-10] [LIFE-26] a second relay takes over from a paused one, which ends when it resumes and writes nothing',
    async () => {
      const first = running[0] as RelayUnderTest
      await first.rest().putDocument('typed', { name: 'Typed', pages: [{ id: 'p', name: 'P', shapes: [] }] })
      const client = first.sync('typed')
      await saved(client)
      // Pauses the relay while it writes, so that a transaction may be open.
      for (let i = 0; i < 50; i++) client.doc.getMap('shapes:p').set(`s${i}`, { id: `s${i}`, type: 'ellipse' })
      process.kill(first.pid, 'SIGSTOP')
      const second = await start()
      for (let i = 50; i < 60; i++) client.doc.getMap('shapes:p').set(`s${i}`, { id: `s${i}`, type: 'ellipse' })
      await second.rest().putDocument('kept', { name: 'By the second' })
      process.kill(first.pid, 'SIGCONT')
      await until('the first relay to end', () => first.logLines.some((line) => line.includes('relay.failed')))
      expect(first.logLines.findLast((line) => line.includes('relay.failed'))).toContain('has taken the place')
      expect(client.state.saved).not.toBe('saved')
      client.destroy()
      expect(await second.rest().getDocument('kept')).toMatchObject({ name: 'By the second' })
      expect((await fetch(`${second.baseUrl}/readyz`)).status).toBe(200)
    },
    patience(60_000),
  )
})
