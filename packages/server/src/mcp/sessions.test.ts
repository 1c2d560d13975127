import { expect, it } from 'vitest'
import { systemRandom } from '../kernel/ids.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import type { SessionLimits } from './session-room.ts'
import { createSessions, type Session } from './sessions.ts'

const FACTS = { version: '2025-11-25', clientName: null }
const HOUR = 3_600_000

function opened(limits?: SessionLimits) {
  const time = manualTime()
  const kept = createSessions(time.clock, systemRandom, limits)
  const of = (key: string, workspaceId = 'w') => ({ key, principalKey: key, workspaceId })
  const open = (key: string, workspaceId?: string) => kept.open(of(key, workspaceId), FACTS)
  const sessions = {
    find: (id: string | undefined, key: string) => kept.find(id, of(key)),
    close: (id: string, key: string) => kept.close(id, of(key)),
    get size() {
      return kept.size
    },
  }
  return { time, sessions, open }
}

/** Gives the session a listening stream. */
function listened(session: Session, close: () => void = () => {}): void {
  session.stream = { watch: { add() {}, remove() {}, close() {} }, close }
}

it('[MCP-34] a session idle for 24 h is forgotten but not closed, and each use extends its life', async () => {
  const { time, sessions, open } = opened()
  const [idle, used] = [open('a'), open('a')]
  await time.advance(23 * HOUR)
  expect(sessions.find(used.id, 'a').kind).toBe('live')
  await time.advance(HOUR)
  expect([sessions.find(idle.id, 'a').kind, sessions.find(used.id, 'a').kind, sessions.size]).toEqual(['none', 'live', 1])
})

it('[MCP-34] a session with an open stream is never idle', async () => {
  const { time, sessions, open } = opened()
  const session = open('a')
  session.stream = { watch: { add() {}, remove() {}, close() {} }, close() {} }
  await time.advance(48 * HOUR)
  open('a')
  expect(sessions.find(session.id, 'a').kind).toBe('live')
})

it('[MCP-34] above the limit of one principal its oldest idle session is forgotten', () => {
  const { sessions, open } = opened({ sessions: 10, perPrincipal: 3, closedIds: 10 })
  const [first, second] = [open('a'), open('a')]
  let closed = 0
  listened(first, () => void closed++)
  const others = [open('b'), open('b')]
  const rest = [open('a'), open('a')]
  expect([sessions.find(first.id, 'a').kind, sessions.find(second.id, 'a').kind, closed]).toEqual(['live', 'none', 0])
  for (const { id } of rest) expect(sessions.find(id, 'a').kind).toBe('live')
  for (const { id } of others) expect(sessions.find(id, 'b').kind).toBe('live')
})

it('[MCP-34] above the total limit the oldest idle session of the principal with most sessions is forgotten', () => {
  const { sessions, open } = opened({ sessions: 6, perPrincipal: 10, closedIds: 10 })
  const quiet = open('quiet', 'small')
  const noisy = [1, 2, 3].map(() => open('noisy'))
  const beside = [open('beside'), open('beside')]
  listened(noisy[0] as Session)
  const late = open('late', 'small')
  expect(noisy.map(({ id }) => sessions.find(id, 'noisy').kind)).toEqual(['live', 'none', 'live'])
  expect([quiet, late].map(({ id, owner }) => sessions.find(id, owner).kind)).toEqual(['live', 'live'])
  expect(beside.map(({ id }) => sessions.find(id, 'beside').kind)).toEqual(['live', 'live'])
})

it('[MCP-34] by default a principal has 1,000 sessions and the node 10,000', () => {
  const { sessions, open } = opened()
  for (let i = 0; i < 1_001; i++) open('a')
  expect(sessions.size).toBe(1_000)
  for (let i = 0; i < 9_001; i++) open(`other-${i}`)
  expect(sessions.size).toBe(10_000)
})

it('[MCP-34] many principals of one workspace displace no session of another workspace', () => {
  const { sessions, open } = opened({ sessions: 5, perPrincipal: 10, closedIds: 10 })
  const quiet = [open('ann', 'quiet'), open('ann', 'quiet')]
  for (let i = 0; i < 20; i++) open(`eve-${i}`, 'noisy')
  expect(quiet.map(({ id }) => sessions.find(id, 'ann').kind)).toEqual(['live', 'live'])
  expect(sessions.size).toBe(5)
})

it('[MCP-34] sessions with open streams are never forgotten', () => {
  const { sessions, open } = opened({ sessions: 2, perPrincipal: 10, closedIds: 10 })
  const all = ['a', 'b', 'c'].map((key) => {
    const session = open(key)
    listened(session)
    return session
  })
  expect(all.map(({ id, owner }) => sessions.find(id, owner).kind)).toEqual(['live', 'live', 'live'])
})

it('[MCP-34] up to 1,000 sessions of a principal and 10,000 in all are kept', () => {
  const { sessions, open } = opened()
  const ids = Array.from({ length: 1_001 }, () => open('0').id)
  expect([ids[0], ids[1], ids[1_000]].map((id) => sessions.find(id, '0').kind)).toEqual(['none', 'live', 'live'])
  for (let i = 1_000; i < 10_500; i++) open(String(Math.floor(i / 1_000)))
  expect(sessions.size).toBe(10_000)
})

it('[MCP-33] [MCP-34] a closed id is remembered for at least an hour, and an unknown id never counts as closed', async () => {
  const { time, sessions, open } = opened()
  const { id } = open('a')
  sessions.close('unknown', 'a')
  sessions.close(id, 'somebody else')
  expect(sessions.find(id, 'a').kind).toBe('live')
  sessions.close(id, 'a')
  await time.advance(HOUR - 1)
  sessions.close(open('a').id, 'a')
  expect([sessions.find(id, 'a').kind, sessions.find(id, 'somebody else').kind, sessions.find('unknown', 'a').kind]).toEqual([
    'closed',
    'closed',
    'none',
  ])
})
