import { expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { createSessions } from './sessions.ts'

const FACTS = { version: '2025-11-25', clientName: null }
const HOUR = 3_600_000

function opened(limits?: { sessions: number; closedIds: number }) {
  const time = manualTime()
  return { time, sessions: createSessions(time.clock, systemRandom, limits) }
}

it('[MCP-34] a session that is idle for 24 h is forgotten, which is not closed; use keeps it', async () => {
  const { time, sessions } = opened()
  const [idle, used] = [sessions.open('a', FACTS), sessions.open('a', FACTS)]
  await time.advance(23 * HOUR)
  expect(sessions.find(used.id, 'a').kind).toBe('live')
  await time.advance(HOUR)
  expect([sessions.find(idle.id, 'a').kind, sessions.find(used.id, 'a').kind, sessions.size]).toEqual(['none', 'live', 1])
})

it('[MCP-34] the session with an open stream is not idle, however quiet it is', async () => {
  const { time, sessions } = opened()
  const session = sessions.open('a', FACTS)
  session.stream = { watch: { add() {}, remove() {}, close() {} }, close() {} }
  await time.advance(48 * HOUR)
  sessions.open('a', FACTS)
  expect(sessions.find(session.id, 'a').kind).toBe('live')
})

it('[MCP-34] above the bound the oldest is forgotten, its stream with it', () => {
  const { sessions } = opened({ sessions: 3, closedIds: 10 })
  const first = sessions.open('a', FACTS)
  let closed = 0
  first.stream = { watch: { add() {}, remove() {}, close() {} }, close: () => void closed++ }
  const rest = [1, 2, 3].map(() => sessions.open('a', FACTS))
  expect([sessions.find(first.id, 'a').kind, sessions.size, closed]).toEqual(['none', 3, 1])
  for (const { id } of rest) expect(sessions.find(id, 'a').kind).toBe('live')
})

it('[MCP-34] 10,000 sessions are kept', () => {
  const { sessions } = opened()
  const ids = Array.from({ length: 10_001 }, () => sessions.open('a', FACTS).id)
  expect(sessions.size).toBe(10_000)
  expect([ids[0], ids[1], ids[10_000]].map((id) => sessions.find(id, 'a').kind)).toEqual(['none', 'live', 'live'])
})

it('[MCP-33] [MCP-34] a closed id is known for an hour at least; an unknown one is never closed', async () => {
  const { time, sessions } = opened()
  const { id } = sessions.open('a', FACTS)
  sessions.close('unknown', 'a')
  sessions.close(id, 'somebody else')
  expect(sessions.find(id, 'a').kind).toBe('live')
  sessions.close(id, 'a')
  await time.advance(HOUR - 1)
  sessions.close(sessions.open('a', FACTS).id, 'a')
  expect([sessions.find(id, 'a').kind, sessions.find(id, 'somebody else').kind, sessions.find('unknown', 'a').kind]).toEqual([
    'closed',
    'closed',
    'none',
  ])
})
