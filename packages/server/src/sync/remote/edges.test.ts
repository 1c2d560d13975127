import { expect, it } from 'vitest'
import { isGivenUp } from '../../kernel/given-up.ts'
import { edgeOwner, opening } from '../testing/edge-owner.ts'
import type { RoomTask } from '../worker-messages.ts'
import type { ToEdge } from './link-messages.ts'

const ROOM = 3
const RENAME = { kind: 'edit', request: { edit: 'rename_document' } } as unknown as Extract<RoomTask, { kind: 'edit' }>

const updatesIn = (sent: readonly ToEdge[]) => sent.filter((message) => message.kind === 'updates')

it('[MCP-15] an edit whose caller gives up while the owner is opening the document reaches the room as given up', async () => {
  const { tell, opens, tasks } = edgeOwner()
  tell(opening(ROOM))
  tell({ kind: 'job', job: 1, room: ROOM, task: RENAME, mayGiveUp: true })
  tell({ kind: 'job', job: 2, room: ROOM, task: RENAME, mayGiveUp: true })
  tell({ kind: 'give-up', job: 1 })
  await opens()
  const given = tasks.map(({ task }) => (task.kind === 'edit' ? isGivenUp(task.givenUp) : null))
  expect(given).toEqual([true, false])
})

it('[LIFE-25] updates that an edge missed are sent in parts of at most 1 MiB, and only the last part has a durable sequence', async () => {
  const { tell, opens, answers, sent } = edgeOwner()
  tell(opening(ROOM, { since: 4 }))
  await opens()
  const updates = Array.from({ length: 5 }, () => new Uint8Array(400 * 1024))
  await answers({ kind: 'missed', throughSeq: 9, updates })
  expect(updatesIn(sent).map(({ updates: part, durableSeq }) => [part.length, durableSeq])).toEqual([
    [2, undefined],
    [2, undefined],
    [1, 9],
  ])
})

it('[LIFE-25] an edge that missed nothing gets the sequence through which the log is durable', async () => {
  const { tell, opens, answers, sent } = edgeOwner()
  tell(opening(ROOM, { since: 4 }))
  await opens()
  await answers({ kind: 'missed', throughSeq: 4, updates: [] })
  expect(updatesIn(sent)).toMatchObject([{ updates: [], durableSeq: 4 }])
})

it('[LIFE-25] an edge for which more than 8 MiB of updates wait is told to open the room again', async () => {
  const { tell, opens, answers, sent, edge, time } = edgeOwner()
  tell(opening(ROOM, { since: 4 }))
  await opens()
  const update = new Uint8Array(1024 * 1024)
  for (let n = 0; n < 12; n++) edge().updates({ kind: 'updates', room: 0, updates: [update], senders: [0] })
  await answers({ kind: 'missed', throughSeq: 9, updates: [update] })
  expect(updatesIn(sent)).toEqual([])
  await time.advance(5_000)
  expect(sent.at(-1)).toMatchObject({ kind: 'reload', room: ROOM })
})
