import { expect, it } from 'vitest'
import { LeavingRooms } from './leaving-rooms.ts'

it.each([
  ['evict', { kind: 'evicted' }, true],
  ['evict', { kind: 'gone' }, true],
  ['evict', { kind: 'busy' }, false],
  ['evict', { kind: 'failed', code: 'UNAVAILABLE', message: 'no storage' }, false],
] as const)('[C6] after the job %s with the outcome %o the room is closed: %s', (kind, outcome, isClosed) => {
  const rooms = new LeavingRooms()
  rooms.sent({ kind: 'job', job: 7, room: 3, task: { kind } })
  expect(rooms.closedBy({ kind: 'done', job: 8, outcome: { kind: 'evicted' } })).toBe(null)
  expect(rooms.closedBy({ kind: 'done', job: 7, outcome })).toBe(isClosed ? 3 : null)
  expect(rooms.closedBy({ kind: 'done', job: 7, outcome })).toBe(null)
})
