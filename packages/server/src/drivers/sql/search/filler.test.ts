import { describe, expect, it } from 'vitest'
import type { IndexedState } from '../../../search/search-index.port.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { manualTime } from '../../../kernel/testing/manual-time.ts'
import { Filler } from './filler.ts'

const stateOf = (key: number): IndexedState => ({ key, version: 1, updatedAtMs: key, coveredSeq: 0 })

/** Opens a filler over a store of `count` documents. Writes to its index fail while `state.isBroken` is true. */
function fillerOver(count: number) {
  const held = new Map<number, IndexedState>()
  const order: number[] = []
  const warnings: string[] = []
  const state = { isBroken: false, rowsRead: 0, looks: 0 }
  /** Names of steps that fail the next time they run. */
  const failing = new Set<string>()
  const step = (name: string): void => {
    if (failing.delete(name)) throw new Error('not now')
  }
  const time = manualTime()
  const filler = new Filler({
    source: {
      async workspaces() {
        step('workspaces')
        return ['w']
      },
      async states() {
        step('states')
        return Array.from({ length: count }, (_, n) => stateOf(n + 1))
      },
      async state({ key }) {
        state.looks++
        return key > count ? null : stateOf(key)
      },
      async rows({ key }) {
        state.rowsRead++
        return key > count ? null : { state: stateOf(key), rows: [], isReadable: true }
      },
    },
    index: {
      workspaces: async () => [],
      states: async () => held,
      state: async ({ key }) => held.get(key) ?? null,
      async write(_, written) {
        if (state.isBroken) throw new Error('no space')
        step(`write ${written.key}`)
        order.push(written.key)
        held.set(written.key, written)
      },
      remove: async (_, key) => void held.delete(key),
      forget: async () => held.clear(),
      clear: async () => held.clear(),
      close: async () => undefined,
    },
    pause: () => new Promise(setImmediate),
    timers: time.timers,
    log: { ...silentLogger, warn: (event) => void warnings.push(event) },
  })
  return { filler, held, order, warnings, state, failing, time }
}
const ref = (key: number) => ({ workspaceId: 'w', key })

describe('filling an index', () => {
  it('[AG-63] an index is first filled with the requested documents, and then with all others', async () => {
    const { filler, order } = fillerOver(30)
    await filler.refresh([ref(20), ref(10)])
    expect(order.slice(0, 2)).toEqual([20, 10])
    await filler.refresh([ref(5)])
    await filler.idle()
    expect(new Set(order).size).toBe(30)
  })

  it('[AG-64] a document whose stored state is in the index is not read again, however often it is requested', async () => {
    const { filler, state } = fillerOver(10)
    await filler.refresh([ref(1), ref(2), ref(1)])
    await filler.refresh([ref(2)])
    await filler.idle()
    expect(state.rowsRead).toBe(10)
  })

  it('[AG-64] a document that is requested again while it waits is looked at once for all requests', async () => {
    const { filler, state } = fillerOver(3)
    await filler.refresh([ref(1)])
    await filler.idle()
    state.looks = 0
    await Promise.all(Array.from({ length: 20 }, () => filler.refresh([ref(2), ref(1)])))
    // The first document may have been taken before the other requests came; it is then looked at twice.
    expect(state.looks).toBeLessThanOrEqual(3)
  })

  it('[AG-64] a removed document leaves the index', async () => {
    const { filler, held } = fillerOver(3)
    held.set(9, stateOf(9))
    await filler.refresh([])
    await filler.refresh([ref(1)])
    await filler.idle()
    expect([...held.keys()].sort()).toEqual([1, 2, 3])
  })

  it.each([['workspaces'], ['states'], ['write 17'], ['write 1']])(
    '[AG-64] a step that failed once while an index is filled (%s) is repeated a minute later without a request',
    async (name) => {
      const { filler, held, failing, time, warnings } = fillerOver(30)
      failing.add(name)
      await filler.refresh([ref(1)])
      await filler.idle()
      expect([failing.size, warnings]).toEqual([0, ['search.not_filled']])
      await time.advance(60_000)
      await filler.idle()
      expect(held.size).toBe(30)
      expect(time.waiting()).toBe(0)
      await filler.close()
    },
  )

  it('[AG-64] a document that can never be indexed is tried again once a minute and delays no other document', async () => {
    const { filler, held, failing, time, warnings } = fillerOver(30)
    for (let minute = 0; minute < 5; minute++) {
      failing.add('write 17')
      await (minute === 0 ? filler.refresh([ref(1)]) : time.advance(60_000))
      await filler.idle()
      expect([held.size, warnings.length]).toEqual([29, minute + 1])
    }
    await filler.close()
    expect(time.waiting()).toBe(0)
  })

  it('[AG-64] several documents that can never be indexed and are retried each minute delay no other document', async () => {
    const { filler, held, failing, time, warnings } = fillerOver(30)
    const damaged = ['write 5', 'write 15', 'write 25', 'write 26']
    const breakAgain = () => damaged.forEach((each) => failing.add(each))
    breakAgain()
    await filler.refresh([ref(1)])
    await filler.idle()
    expect(held.size).toBe(26)
    for (let minute = 0; minute < 3; minute++) {
      breakAgain()
      // Makes the index lack a document that is filled after the failing ones.
      held.delete(30)
      await Promise.all([time.advance(60_000), filler.refresh([ref(30)])])
      await filler.idle()
      expect([held.size, warnings.length]).toEqual([26, damaged.length * (minute + 2)])
    }
    failing.clear()
    await time.advance(60_000)
    await filler.idle()
    expect(held.size).toBe(30)
    await filler.close()
  })

  it('[AG-64] an index that cannot be written is left alone after some failures, and filled at the next change', async () => {
    const { filler, held, warnings, state } = fillerOver(50)
    state.isBroken = true
    await filler.refresh([ref(1)])
    await filler.idle()
    expect(held.size).toBe(0)
    expect(warnings.length).toBeLessThan(10)
    state.isBroken = false
    await filler.refresh([ref(1)])
    await filler.idle()
    expect(held.size).toBe(50)
  })
})
