import { expect, it } from 'vitest'
import { edgeOwner, opening } from '../testing/edge-owner.ts'
import type { ToOwner } from './link-messages.ts'

const ROOM = 3
const OTHER_ROOM = 4
/** The number of Ann's connection at its edge. The numbers at the owner start at 1. */
const ANN = 70
const BOB = 71

function joining(connection: number, { room = ROOM, join = 1 } = {}): ToOwner {
  return { kind: 'join', room, connection, join, sub: 'ann', canWrite: true, maxDocBytes: null, knowsLineage: true }
}

const settles = (connection: number, join = 1) => ({ kind: 'settled', connection, join, ordinal: 1 }) as const

it.each(['was lost', 'was told to open the room again'])(
  '[LIFE-25] a connection of an edge that %s stays a member when the link breaks again before the room is open',
  async (how) => {
    const { tell, opens, answers, linkGoesDown, linkComesUp, time, members, delivers } = edgeOwner()
    tell(opening(ROOM, { since: 4 }), joining(ANN), joining(BOB))
    await opens()
    if (how === 'was lost') {
      linkGoesDown()
      await time.advance(300)
      linkComesUp()
    } else {
      await answers({ kind: 'busy' })
      await time.advance(300)
    }
    tell(opening(ROOM), joining(ANN))
    linkGoesDown()
    await time.advance(300)
    linkComesUp()
    tell(opening(ROOM), joining(ANN))
    await opens()
    expect(members()).toEqual([1, 2])
    await time.advance(1_400)
    // Bob's connection has not joined again within 2 s.
    expect(members()).toEqual([1])
    expect(delivers(settles(1))).toEqual([settles(ANN)])
    await time.advance(10_000)
    expect(members()).toEqual([1])
  },
)

it('[LIFE-25] a connection of an edge that has joined several times is out of the room as soon as it leaves', async () => {
  const { tell, opens, linkGoesDown, linkComesUp, members } = edgeOwner()
  tell(opening(ROOM), joining(ANN))
  await opens()
  for (let losses = 0; losses < 2; losses++) {
    linkGoesDown()
    linkComesUp()
    tell(opening(ROOM), joining(ANN))
  }
  await opens()
  expect(members()).toEqual([1])
  tell({ kind: 'leave', room: ROOM, connection: ANN })
  expect(members()).toEqual([])
})

it('[C6] [LIFE-25] messages that an edge repeats for a left document do not affect the next document', async () => {
  const { tell, opens, members, delivers, edge, sent } = edgeOwner()
  tell(opening(ROOM), joining(ANN))
  await opens()
  tell({ kind: 'leave', room: ROOM, connection: ANN })
  tell(opening(OTHER_ROOM, { ref: { workspaceId: 'w', id: 'other' } }), joining(ANN, { room: OTHER_ROOM, join: 2 }))
  await opens()
  const other = edge()
  tell(opening(ROOM), joining(ANN))
  await opens()
  expect([members('doc'), members('other')]).toEqual([[1], [1]])
  expect([delivers(settles(1, 1)), delivers(settles(1, 2))]).toEqual([[settles(ANN, 1)], [settles(ANN, 2)]])
  tell({ kind: 'leave', room: ROOM, connection: ANN })
  expect([members('doc'), members('other')]).toEqual([[], [1]])
  expect(delivers(settles(1, 2))).toEqual([settles(ANN, 2)])
  expect(delivers({ kind: 'expel', connection: 1, code: 1003, word: 'protocol' })).toMatchObject([{ connection: ANN }])
  expect(delivers(settles(1, 1))).toEqual([])
  other.updates({ kind: 'updates', room: 0, updates: [new Uint8Array(1)], senders: [1] })
  expect(sent.at(-1)).toMatchObject({ kind: 'updates', room: OTHER_ROOM, senders: [ANN] })
})

it('[LIFE-25] a member keeps its number when the link breaks twice within 2 s, and is no longer a member when it leaves', async () => {
  const { tell, opens, linkGoesDown, linkComesUp, time, members } = edgeOwner()
  tell(opening(ROOM), joining(ANN))
  await opens()
  linkGoesDown()
  await time.advance(300)
  linkComesUp()
  tell(opening(ROOM), joining(ANN))
  await opens()
  await time.advance(1_200)
  linkGoesDown()
  // The link is down at the moment that is 2 s after the first loss.
  await time.advance(800)
  linkComesUp()
  tell(opening(ROOM), joining(ANN))
  await opens()
  expect(members()).toEqual([1])
  tell({ kind: 'leave', room: ROOM, connection: ANN })
  expect(members()).toEqual([])
})

it('[LIFE-25] the first of more than 20,000 connections of an edge keeps its number when the room is opened again', async () => {
  const { tell, opens, members } = edgeOwner()
  const all = Array.from({ length: 20_001 }, (_, at) => joining(100 + at))
  tell(opening(ROOM), ...all)
  await opens()
  tell(opening(ROOM), ...all)
  await opens()
  expect(members()).toHaveLength(all.length)
})

it('[WS-12] a connection of an edge keeps its number when it joins again, unless the edge was gone for 2 s', async () => {
  const { tell, opens, linkGoesDown, linkComesUp, time, members } = edgeOwner()
  const leave = { kind: 'leave', room: ROOM, connection: ANN } as const
  tell(opening(ROOM), joining(ANN), leave, joining(BOB), joining(ANN, { join: 2 }))
  await opens()
  expect(members()).toEqual([2, 1])
  linkGoesDown()
  await time.advance(2_000)
  expect(members()).toEqual([])
  linkComesUp()
  tell(opening(ROOM), joining(ANN))
  await opens()
  expect(members()).toEqual([3])
})
