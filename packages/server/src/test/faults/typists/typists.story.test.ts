import { expect, it } from 'vitest'
import { startRelayUnderTest } from '../../relay-under-test.ts'
import { createPlan, play } from './play-typists.ts'

it('[AG-25] [AG-110] no acknowledged word of people is missing while agents write with ids that they were shown, and all views agree after a restart', async () => {
  const env = { RELAY_LOG_LEVEL: 'error', RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' }
  await using relay = await startRelayUnderTest({ env, mcp: 'local' })
  await createPlan(relay)
  const plan = { seed: 231123, secs: 10, typists: 6, agents: 3, keystrokesPerSec: 4, calls: 'careful' } as const
  expect(await play(relay, plan, env)).toBe(true)
})
