import { describe, expect, it } from 'vitest'
import { LightRooms } from './light-rooms.ts'

const REF = { workspaceId: 'ws', id: 'doc' }

function opened(...numbers: readonly number[]): LightRooms {
  const rooms = new LightRooms()
  for (const room of numbers) rooms.sent({ kind: 'open', room, ref: { workspaceId: 'ws', id: `doc-${room}` }, key: room })
  return rooms
}

const edit = (room: number) => ({ kind: 'sync', room, connection: 1, join: 1, ordinal: 1, payload: new Uint8Array() }) as const
const join = (room: number, connection: number) =>
  ({ kind: 'join', room, connection, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true }) as const

describe('light rooms', () => {
  it('[C8] a document that left the main loop stays away for 60 s', () => {
    const rooms = new LightRooms()
    rooms.sent({ kind: 'open', room: 1, ref: REF, key: 1 })
    expect(rooms.received({ kind: 'heavy', room: 1 }, 1_000)).toBe(1)
    expect(rooms.isAway(REF, 60_999)).toBe(true)
    expect(rooms.isAway(REF, 61_000)).toBe(false)
    expect(rooms.isAway({ workspaceId: 'other', id: 'doc' }, 1_000)).toBe(false)
  })

  it('[C8] a document that was too large to be opened stays away as well, and its room is forgotten', () => {
    const rooms = opened(1)
    expect(rooms.received({ kind: 'opened', room: 1, outcome: 'elsewhere' }, 0)).toBeNull()
    expect(rooms.isAway({ workspaceId: 'ws', id: 'doc-1' }, 1)).toBe(true)
    expect(rooms.count).toBe(0)
  })

  it('[C8] the busiest room above 100 messages a second is the one to move; quiet ones are none', () => {
    const rooms = opened(1, 2, 3)
    const typing = (room: number, perSecond: number) => {
      for (let i = 0; i < perSecond / 2; i++) rooms.sent(edit(room))
    }
    for (let half = 0; half < 20; half++) {
      typing(1, 90)
      typing(2, 130)
      typing(3, 160)
      rooms.decay(500)
    }
    expect(rooms.busiest(false)).toBe(3)
    for (let half = 0; half < 40; half++) {
      typing(1, 90)
      rooms.decay(500)
    }
    expect(rooms.busiest(false)).toBeNull()
    expect(rooms.busiest(true)).toBe(1)
  })

  it('[C8] a room of many connections moves, however little they send', () => {
    const rooms = opened(1)
    for (let connection = 1; connection <= 49; connection++) rooms.sent(join(1, connection))
    expect(rooms.busiest(false)).toBe(1)
    rooms.sent({ kind: 'leave', room: 1, connection: 1 })
    expect(rooms.busiest(false)).toBeNull()
  })

  it.each([
    ['is evicted', { kind: 'evicted' }, 0],
    ['is busy', { kind: 'busy' }, 1],
  ] as const)('[LIFE-17] a room whose eviction %s', (_, outcome, count) => {
    const rooms = opened(1)
    rooms.sent({ kind: 'job', job: 7, room: 1, task: { kind: 'evict' } })
    rooms.received({ kind: 'done', job: 7, outcome }, 0)
    expect(rooms.count).toBe(count)
  })
})
