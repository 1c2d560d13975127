import { expect, it } from 'vitest'
import { headOf } from '../testing/gateway-bench.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import { RoomHosting } from './room-hosting.ts'
import { beginOpening, opened, type Room, RoomTable } from './room-table.ts'
import type { RoomTasks } from './room-tasks.ts'

const OTHER = 2

/**
 * Creates a node with a room that is being opened at `home`. `placed` is called when the node searches for the owner of the document
 * again.
 */
function hosting(home: number, placed: (room: Room) => void) {
  const table = new RoomTable()
  const head = headOf('doc')
  const room = table.create(head, head.key, home, { ownerId: 'ann', shares: [] }, 0)
  beginOpening(room)
  const asked: string[] = []
  const rooms = new RoomHosting({
    table,
    store: { state: async () => ({ kind: 'document', head }) },
    clock: { nowMs: () => 0, monotonicMs: () => 0 },
    tasks: {} as RoomTasks,
    enter: async () => {
      asked.push('enter')
      return { kind: 'unavailable' }
    },
    resident: (ref) => table.of(ref),
    placeAgain: (again) => {
      asked.push('place again')
      placed(again)
    },
    post: () => undefined,
    drop: async () => undefined,
    isLeaving: () => false,
    release: async () => undefined,
    watch: () => undefined,
  })
  return { rooms, room, head, asked }
}

function open(room: Room): void {
  opened(room)
  room.settleOpen('opened')
}

it('[LIFE-28] when two nodes ask each other for a document, the asked node looks for the owner again', async () => {
  const { rooms, room, head, asked } = hosting(homeOfNode(OTHER), (placed) => {
    placed.home = 0
    open(placed)
  })
  expect(await rooms.host(head, head.key)).toEqual({ kind: 'open', room })
  expect(asked).toEqual(['place again'])
})

it('[LIFE-6] a node that is asked for a document which it is opening answers once the document is open', async () => {
  const { rooms, room, head, asked } = hosting(0, () => undefined)
  const hosted = rooms.host(head, head.key)
  open(room)
  expect(await hosted).toEqual({ kind: 'open', room })
  expect(asked).toEqual([])
})
