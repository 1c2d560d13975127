import { expect, it } from 'vitest'
import { isGivenUp } from '../../kernel/given-up.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import type { Hosted, HostedRooms, RoomEdge } from '../gateway/room-edge.ts'
import { opened, type Room, RoomTable } from '../gateway/room-table.ts'
import type { NodeLinks, NodeMessage } from '../node-links.port.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'
import { serveEdges } from './edges.ts'
import type { ToEdge, ToOwner } from './link-messages.ts'

const EDGE = 7
const REF = { workspaceId: 'w', id: 'doc' }
const ROOM = 3
const RENAME = { kind: 'edit', request: { edit: 'rename_document' } } as unknown as Extract<RoomTask, { kind: 'edit' }>

/**
 * An owner to which one edge is linked. Its rooms open when the test calls `opens`, and its tasks end when the test calls
 * `answers`.
 */
function owner() {
  const time = manualTime()
  const sent: ToEdge[] = []
  const tasks: { readonly task: RoomTask; readonly answer: (outcome: TaskOutcome) => void }[] = []
  const hosts: ((hosted: Hosted) => void)[] = []
  const table = new RoomTable()
  const room = table.create(REF, 1, 0, { ownerId: 'ann', shares: [] }, 0)
  opened(room)
  let edge: RoomEdge | null = null
  let receive: (peer: number, message: NodeMessage) => void = () => undefined
  const links: NodeLinks = {
    peers: () => [EDGE],
    post: (_, message) => void sent.push(message as ToEdge),
    onMessage: (listener) => (receive = listener),
    onUp: () => undefined,
    onDown: () => undefined,
    isFull: () => false,
    onDrained: () => undefined,
  }
  const rooms: HostedRooms = {
    serve: () => undefined,
    host: () => new Promise((resolve) => void hosts.push(resolve)),
    addEdge: (_, added) => {
      edge = added
      return true
    },
    removeEdge: () => undefined,
    post: () => undefined,
    edgeWatches: () => undefined,
    run: (_, task) => new Promise((answer) => void tasks.push({ task, answer })),
    settleOwned: async () => true,
    dropDeleted: async () => undefined,
  }
  serveEdges({ links, rooms, timers: time.timers, nextConnection: () => 1 })
  return {
    time,
    sent,
    tasks,
    tell: (message: ToOwner) => receive(EDGE, message),
    async opens() {
      hosts.shift()?.({ kind: 'open', room: room as Room })
      await settled()
    },
    edge: () => edge as RoomEdge,
    answers: async (outcome: TaskOutcome) => {
      tasks.shift()?.answer(outcome)
      await settled()
    },
  }
}

const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))
const updatesIn = (sent: readonly ToEdge[]) => sent.filter((message) => message.kind === 'updates')

it('[MCP-15] an edit whose caller gives up while the owner still opens the document is given up when it begins', async () => {
  const { tell, opens, tasks } = owner()
  tell({ kind: 'open', room: ROOM, ref: REF, key: 1 })
  tell({ kind: 'job', job: 1, room: ROOM, task: RENAME, mayGiveUp: true })
  tell({ kind: 'job', job: 2, room: ROOM, task: RENAME, mayGiveUp: true })
  tell({ kind: 'give-up', job: 1 })
  await opens()
  const given = tasks.map(({ task }) => (task.kind === 'edit' ? isGivenUp(task.givenUp) : null))
  expect(given).toEqual([true, false])
})

it('[LIFE-25] updates that an edge missed are sent in parts of at most 1 MiB, and only the last part says how far the log is durable', async () => {
  const { tell, opens, answers, sent } = owner()
  tell({ kind: 'open', room: ROOM, ref: REF, key: 1, since: 4 })
  await opens()
  const updates = Array.from({ length: 5 }, () => new Uint8Array(400 * 1024))
  await answers({ kind: 'missed', throughSeq: 9, updates })
  expect(updatesIn(sent).map(({ updates: part, durableSeq }) => [part.length, durableSeq])).toEqual([
    [2, undefined],
    [2, undefined],
    [1, 9],
  ])
})

it('[LIFE-25] an edge that missed nothing is told how far the log is durable', async () => {
  const { tell, opens, answers, sent } = owner()
  tell({ kind: 'open', room: ROOM, ref: REF, key: 1, since: 4 })
  await opens()
  await answers({ kind: 'missed', throughSeq: 4, updates: [] })
  expect(updatesIn(sent)).toMatchObject([{ updates: [], durableSeq: 4 }])
})

it('[LIFE-25] an edge for which more than 8 MiB of updates wait is told to open the room again', async () => {
  const { tell, opens, answers, sent, edge, time } = owner()
  tell({ kind: 'open', room: ROOM, ref: REF, key: 1, since: 4 })
  await opens()
  const update = new Uint8Array(1024 * 1024)
  for (let n = 0; n < 12; n++) edge().updates({ kind: 'updates', room: 0, updates: [update], senders: [0] })
  await answers({ kind: 'missed', throughSeq: 9, updates: [update] })
  expect(updatesIn(sent)).toEqual([])
  await time.advance(5_000)
  expect(sent.at(-1)).toMatchObject({ kind: 'reload', room: ROOM })
})
