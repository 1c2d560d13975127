import { describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import { MemoryOwnership } from '../testing/memory-ownership.ts'
import { homeOfNode } from '../worker-pool.port.ts'
import { type Place, RoomPlaces } from './room-places.ts'

const OWNER = 1
const KEY = 7

/** Node 2 looks for a document that node 1 owns and to which it has no link. */
async function searching() {
  const time = manualTime()
  const ownership = new MemoryOwnership({ clock: time.clock })
  await ownership.of(OWNER).acquire(KEY)
  const linked: number[] = []
  /** The time of the newest heartbeat of the owner that node 2 knows. */
  const heard = { beatMs: time.clock.monotonicMs() }
  const places = new RoomPlaces({
    ownership: ownership.of(2),
    links: { peers: () => linked },
    known: { isDraining: () => false, hasBeatSince: (_node, sinceMs) => heard.beatMs >= sinceMs },
    clock: time.clock,
    timers: time.timers,
    log: silentLogger,
  })
  const found: Place[] = []
  void places.find(KEY, () => true).then((place) => place !== null && found.push(place))
  return { time, ownership, linked, heard, found }
}

/** Advances the clock in small steps and calls `each` after every step. */
async function pass(time: ManualTime, forMs: number, each: () => void = () => undefined): Promise<void> {
  for (let passedMs = 0; passedMs < forMs; passedMs += 100) {
    await time.advance(100)
    each()
  }
}

describe('the search for the owner of a document', () => {
  it('[LIFE-25] the search ends after 2 s when the owner sends heartbeats but has no link to this node', async () => {
    const { time, heard, found } = await searching()
    const beats = (): void => {
      heard.beatMs = time.clock.monotonicMs()
    }
    await pass(time, 1_900, beats)
    expect(found).toEqual([])
    await pass(time, 600, beats)
    expect(found).toEqual([{ kind: 'unreachable' }])
  })

  it('[LIFE-25] the search goes on when the owner may have stopped after its newest heartbeat, and finds the owner when its link is back', async () => {
    const { time, heard, linked, found } = await searching()
    heard.beatMs = time.clock.monotonicMs() + 499
    await pass(time, 3_500)
    expect(found).toEqual([])
    linked.push(OWNER)
    await pass(time, 400)
    expect(found).toEqual([{ kind: 'there', home: homeOfNode(OWNER) }])
  })

  it('[LIFE-25] the search ends after 5 s when it is not known whether the owner lives', async () => {
    const { time, found } = await searching()
    await pass(time, 4_900)
    expect(found).toEqual([])
    await pass(time, 600)
    expect(found).toEqual([{ kind: 'unavailable' }])
  })

  it('[LIFE-26] the search takes the document from an owner that sends no heartbeats for 3 s', async () => {
    const { time, ownership, found } = await searching()
    ownership.silence(OWNER)
    await pass(time, 2_900)
    expect(found).toEqual([])
    await pass(time, 600)
    expect(found).toMatchObject([{ kind: 'here', takeovers: 1 }])
  })
})
