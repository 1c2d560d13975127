import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { handOverTarget, RoomDepartures } from './room-departures.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomOpenings } from './room-openings.ts'
import { opened, RoomTable } from './room-table.ts'

const EDGES = [
  { edge: 2, members: 1 },
  { edge: 3, members: 9 },
  { edge: 4, members: 5 },
]
const target = (linked: readonly number[], draining: readonly number[] = []) =>
  handOverTarget(EDGES, linked, (node) => draining.includes(node))

it('[LIFE-28] a document goes to the linked node that has most connections in it', () => {
  expect([target([2, 3, 4]), target([2, 4]), target([])]).toEqual([3, 4, null])
})

it('[LIFE-28] an ending node gets a document only when every linked node is ending', () => {
  expect(target([2, 3, 4], [3])).toBe(4)
  expect(target([2, 3, 4, 5], [2, 3, 4])).toBe(5)
  expect(target([2, 3, 4], [2, 3, 4])).toBe(3)
})

it('[LIFE-28] a document goes to no node when no linked node has a connection in it', () => {
  expect(target([5])).toBeNull()
})

it('[LIFE-27] a node that gives up its documents also gives up those that it cannot store, so that another node can open them', async () => {
  const table = new RoomTable()
  const room = table.create({ workspaceId: 'w', id: 'doc' }, 1, 0, { ownerId: 'ann', shares: [] }, 0)
  opened(room)
  room.settleOpen('opened')
  const done: string[] = []
  const departures = new RoomDepartures({
    table,
    jobs: {
      run: async () => ({ kind: 'failed', code: 'UNAVAILABLE', message: 'busy' }),
      failAll: () => done.push('calls failed'),
    } as unknown as RoomJobs,
    openings: {
      release: async () => void done.push('given up'),
      endEdges: () => done.push('edges told'),
    } as unknown as RoomOpenings,
    store: { state: async () => ({ kind: 'absent' }) },
    post: (_, message) => void done.push(message.kind === 'job' ? message.task.kind : message.kind),
    links: null,
    isDraining: () => false,
    sweep: { [Symbol.dispose]: () => undefined },
    ...manualTime(),
    log: silentLogger,
  })
  await departures.release()
  expect(done).toEqual(['calls failed', 'edges told', 'drop', 'given up'])
  expect([...table.all()]).toEqual([])
})
