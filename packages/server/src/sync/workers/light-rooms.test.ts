import { describe, expect, it } from 'vitest'
import { LightRooms } from './light-rooms.ts'

const REF = { workspaceId: 'ws', id: 'doc' }

function opened(...numbers: readonly number[]): LightRooms {
  const rooms = new LightRooms()
  for (const room of numbers) rooms.sent({ kind: 'open', room, ref: { workspaceId: 'ws', id: `doc-${room}` }, key: room }, 0)
  return rooms
}

const edit = (room: number) => ({ kind: 'sync', room, connection: 1, join: 1, ordinal: 1, payload: new Uint8Array() }) as const
const join = (room: number, connection: number) =>
  ({ kind: 'join', room, connection, join: 1, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true }) as const

describe('light rooms', () => {
  it('[C8] a document that left the main loop is not opened there again for 60 s', () => {
    const rooms = new LightRooms()
    rooms.sent({ kind: 'open', room: 1, ref: REF, key: 1 }, 0)
    expect(rooms.received({ kind: 'heavy', room: 1 }, 1_000)).toBe(1)
    expect(rooms.isAway(REF, 60_999)).toBe(true)
    expect(rooms.isAway(REF, 61_000)).toBe(false)
    expect(rooms.isAway({ workspaceId: 'other', id: 'doc' }, 1_000)).toBe(false)
  })

  it('[C8] a document that was too large for the main loop is not opened there again, and its room is forgotten', () => {
    const rooms = opened(1)
    expect(rooms.received({ kind: 'opened', room: 1, outcome: 'elsewhere' }, 0)).toBeNull()
    expect(rooms.isAway({ workspaceId: 'ws', id: 'doc-1' }, 1)).toBe(true)
    expect(rooms.count).toBe(0)
  })

  it('[C8] the busiest room has to move when it gets more than 400 messages a second, and quieter rooms stay', () => {
    const rooms = opened(1, 2, 3)
    const rates: [number, number][] = [
      [1, 360],
      [2, 520],
      [3, 640],
    ]
    const type = (some: typeof rates, fromMs: number, toMs: number) => {
      for (let ms = fromMs; ms < toMs; ms += 100)
        for (const [room, perSecond] of some) for (let i = 0; i < perSecond / 10; i++) rooms.sent(edit(room), ms)
    }
    type(rates, 0, 10_000)
    expect(rooms.busiest(false, 10_000)).toBe(3)
    type(rates.slice(0, 1), 10_000, 30_000)
    expect(rooms.busiest(false, 30_000)).toBeNull()
    expect(rooms.busiest(true, 30_000)).toBe(1)
  })

  it('[C8] a room of 49 connections has to move, even when they send nothing', () => {
    const rooms = opened(1)
    for (let connection = 1; connection <= 49; connection++) rooms.sent(join(1, connection), 0)
    expect(rooms.busiest(false, 0)).toBe(1)
    rooms.sent({ kind: 'leave', room: 1, connection: 1 }, 0)
    expect(rooms.busiest(false, 0)).toBeNull()
  })

  it('[C8] a dropped room is forgotten at once, together with its connections', () => {
    const rooms = opened(1)
    for (let connection = 1; connection <= 60; connection++) rooms.sent(join(1, connection), 0)
    rooms.sent({ kind: 'job', job: 1, room: 1, task: { kind: 'drop' } }, 0)
    expect(rooms.count).toBe(0)
    expect(rooms.busiest(true, 0)).toBeNull()
  })

  it('[C8] a connection that joins a room again counts once', () => {
    const rooms = opened(1)
    for (let time = 0; time < 60; time++) rooms.sent(join(1, 7), time)
    expect(rooms.busiest(false, 60)).toBeNull()
    rooms.sent({ kind: 'leave', room: 1, connection: 7 }, 60)
    expect(rooms.busiest(true, 60)).toBeNull()
  })

  it.each([
    ['that was evicted is forgotten', { kind: 'evicted' }, 0],
    ['that is too busy to be evicted stays', { kind: 'busy' }, 1],
    ['that could not be stored for its eviction stays', { kind: 'failed', code: 'UNAVAILABLE', message: 'no' }, 1],
  ] as const)('[LIFE-17] a room %s', (_, outcome, count) => {
    const rooms = opened(1)
    rooms.sent({ kind: 'job', job: 7, room: 1, task: { kind: 'evict' } }, 0)
    rooms.received({ kind: 'done', job: 7, outcome }, 0)
    expect(rooms.count).toBe(count)
  })
})
