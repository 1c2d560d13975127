import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { headOf } from '../testing/gateway-bench.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'
import type { RoomJobs } from './room-jobs.ts'
import type { RoomMoves } from './room-moves.ts'
import { opened, type Room, RoomTable } from './room-table.ts'
import { RoomTasks } from './room-tasks.ts'

const OWNER = 2
const SETTLE: RoomTask = { kind: 'settle' }

/**
 * Creates rooms whose owner is another node. The owner answers the first task with the first function of `answers`, the second with the
 * second, and so on.
 */
function tasksOver(answers: readonly ((room: Room, table: RoomTable) => TaskOutcome)[]) {
  const table = new RoomTable()
  const head = headOf('doc', { lastSeq: 2, coveredSeq: 1 })
  const asked: number[] = []
  const dropped: string[] = []
  const openRoom = (): Room => {
    const room = table.create(head, head.key, homeOfNode(OWNER), { ownerId: 'ann', shares: [] }, 0)
    room.placings = 1
    opened(room)
    room.settleOpen('opened')
    return room
  }
  const jobs = {
    run: async (room: Room) => {
      asked.push(room.number)
      return answers[asked.length - 1]?.(room, table) ?? { kind: 'settled', version: 1 }
    },
  }
  const tasks = new RoomTasks({
    table,
    jobs: jobs as unknown as RoomJobs,
    moves: {} as RoomMoves,
    store: { state: async () => ({ kind: 'document', head }) },
    clock: systemClock,
    timers: systemTimers,
    enter: async () => ({ kind: 'open', room: table.of(head) ?? openRoom() }),
    drop: async ({ id }) => void dropped.push(id),
    taken: () => undefined,
  })
  openRoom()
  return { tasks, head, asked, dropped }
}

/** Evicts the room while a task is under way, and answers that the owner could not do the task. */
function evicted(room: Room, table: RoomTable): TaskOutcome {
  table.forget(room)
  room.turning = Promise.resolve('gone')
  return { kind: 'failed', code: 'UNAVAILABLE', message: 'The live document ended.' }
}

it('[LIFE-11] when a room is evicted before it was settled for a reader, the next room of the document is settled', async () => {
  const { tasks, head, asked } = tasksOver([evicted])
  expect(await tasks.runOpened(head, SETTLE, () => true)).toEqual({ kind: 'settled', version: 1 })
  expect(asked).toEqual([1, 2])
})

it('[LIFE-11] when a closed room answers a reader that the document has moved, the next room of the document is settled', async () => {
  const { tasks, head, asked } = tasksOver([
    (room, table) => {
      evicted(room, table)
      return { kind: 'moved' }
    },
  ])
  expect(await tasks.runOpened(head, SETTLE, () => true)).toEqual({ kind: 'settled', version: 1 })
  expect(asked).toEqual([1, 2])
})

it('[LIFE-11] a reader of a document that cannot be opened again gets UNAVAILABLE and is not told that the document does not exist', async () => {
  const unavailable = (room: Room, table: RoomTable): TaskOutcome => {
    const outcome = evicted(room, table)
    room.turning = Promise.resolve('unavailable')
    return outcome
  }
  const { tasks, head } = tasksOver([unavailable, unavailable, unavailable])
  await expect(tasks.runOpened(head, SETTLE, () => true)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('[WS-22] a write that finds its room closed removes nobody from the next room of the document', async () => {
  const { tasks, head, dropped } = tasksOver([evicted])
  expect(await tasks.runWrite(head, { kind: 'body-changed', version: 2 })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
  expect(dropped).toEqual([])
})
