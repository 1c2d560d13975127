import { describe, expect, it } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf } from '../testing/gateway-bench.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import { RoomSettling, settlingPlan } from './room-settling.ts'
import { RoomTable } from './room-table.ts'

const behind = { lastSeq: 2, coveredSeq: 1 }
const ownedBy = (owner: number) => ({ owner: { owner, epoch: 1 } })

describe('planning where documents are settled', () => {
  it('[LIFE-11] [LIFE-25] documents are settled here, at their linked owner, or else one by one', () => {
    const heads = {
      open: headOf('open'),
      cold: headOf('cold', behind),
      owned: headOf('owned', { ...behind, ...ownedBy(2) }),
      moved: headOf('moved', { ...behind, ...ownedBy(2) }),
      unlinked: headOf('unlinked', { ...behind, ...ownedBy(9) }),
      sought: headOf('sought', behind),
      stored: headOf('stored', { ...ownedBy(2), lastSeq: 2, coveredSeq: 2 }),
    }
    const homes = new Map<string, { readonly home: number | null }>([
      ['open', { home: 0 }],
      ['moved', { home: homeOfNode(3) }],
      ['sought', { home: null }],
    ])
    const plan = settlingPlan(
      Object.values(heads),
      ({ id }) => homes.get(id),
      (node) => node < 9,
    )
    expect(plan).toEqual({
      here: [heads.open, heads.cold],
      byNode: new Map([
        [2, [heads.owned]],
        [3, [heads.moved]],
      ]),
      single: [heads.unlinked, heads.sought],
      covered: 1,
    })
  })
})

/**
 * Three documents: one that is open here, one whose body is behind at node 2, which never answers, and one whose body is behind at node
 * 3, which answers.
 */
function settling(here: () => Promise<void>) {
  const time = manualTime()
  const table = new RoomTable()
  const heads = [headOf('two', { ...behind, ...ownedBy(2) }), headOf('three', { ...behind, ...ownedBy(3) }), headOf('here')]
  const sharing = { ownerId: 'ann', shares: [] }
  table.create({ workspaceId: 'default', id: 'here' }, 1, 0, sharing, 0)
  const rooms = new RoomSettling({
    timers: time.timers,
    roomOf: (ref) => table.of(ref),
    settle: here,
    linked: () => [2, 3],
    nodes: {
      isUnderstood: () => true,
      settle: (node, documents) => (node === 2 ? new Promise(() => undefined) : Promise.resolve(documents.length)),
    },
  })
  const counts: number[] = []
  return { time, counts, ask: (withinMs?: number) => void rooms.settleAll(heads, withinMs).then((count) => counts.push(count)) }
}

describe('settling documents of several nodes for one reader', () => {
  it('[LIFE-8] [LIFE-25] a reader waits 1 s in total for silent nodes, and the documents of other nodes are counted', async () => {
    const { time, counts, ask } = settling(() => Promise.resolve())
    ask()
    await time.advance(999)
    expect(counts).toEqual([])
    await time.advance(1)
    expect(counts).toEqual([2])
  })

  it('[LIFE-11] a reader waits for documents that are live here, unless it has set a limit', async () => {
    let settled = (): void => undefined
    const here = () =>
      new Promise<void>((resolve) => {
        settled = resolve
      })
    const patient = settling(here)
    patient.ask()
    await patient.time.advance(10_000)
    expect(patient.counts).toEqual([])
    settled()
    await patient.time.advance(0)
    expect(patient.counts).toEqual([2])
    const hasty = settling(here)
    hasty.ask(500)
    await hasty.time.advance(500)
    expect(hasty.counts).toEqual([1])
  })

  it('[LIFE-8] a document that cannot be settled does not fail the others', async () => {
    const { time, counts, ask } = settling(() => Promise.reject(new Error('the worker ended')))
    ask()
    await time.advance(1_000)
    expect(counts).toEqual([1])
  })
})
