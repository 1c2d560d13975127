import { setImmediate as nextRound } from 'node:timers/promises'
import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Storage } from '../../drivers/sql/storage.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { createDocument, openTestStorage, until } from '../testing/worker-harness.ts'
import type { FromWorker } from '../worker-messages.ts'
import { LightHome, stepTime } from './light-home.ts'

describe('the light home', () => {
  let storage: Storage
  beforeAll(async () => {
    storage = await openTestStorage()
  })
  afterAll(async () => storage?.[Symbol.asyncDispose]())

  function openHome() {
    const got: FromWorker[] = []
    const { documents, updates, recovery } = storage
    const stores = { documents, updates, recovery }
    const given = { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLogger }
    const home = new LightHome({ ...stores, ...given, deliver: (message) => got.push(message) })
    return { home, got }
  }

  async function open(home: LightHome, got: readonly FromWorker[], room: number): Promise<void> {
    const head = await createDocument(storage.documents)
    home.post({ kind: 'open', room, ref: { workspaceId: head.workspaceId, id: head.id }, key: head.key })
    const rights = { canWrite: true, maxDocBytes: null, knowsLineage: true }
    home.post({ kind: 'join', room, connection: room, join: 1, sub: 'ann', ...rights })
    await until(() => got.some((message) => message.kind === 'opened' && message.room === room))
  }

  it('[C1] 3,000 frames that arrive together are handled over several rounds of the event loop, with other events in between', async () => {
    const { home, got } = openHome()
    await open(home, got, 1)
    const doc = new Y.Doc()
    const COUNT = 3_000
    for (let ordinal = 1; ordinal <= COUNT; ordinal++) {
      const before = Y.encodeStateVector(doc)
      doc.getMap('fields').set(`${ordinal % 7}`, ordinal)
      const payload = syncFrame(SYNC.update, Y.encodeStateAsUpdate(doc, before)).subarray(1)
      home.post({ kind: 'sync', room: 1, connection: 1, join: 1, ordinal, payload })
    }
    const isSettled = () => got.some((message) => message.kind === 'settled' && message.ordinal === COUNT)
    let rounds = 0
    for (; !isSettled() && rounds < 100_000; rounds++) await nextRound()
    expect(isSettled()).toBe(true)
    expect(rounds).toBeGreaterThan(5)
    await home[Symbol.asyncDispose]()
  })

  it('[C10] an exception that no room catches resets the rooms of the main loop, and later rooms open as usual', async () => {
    const { home, got } = openHome()
    await open(home, got, 1)
    await open(home, got, 2)
    // This message is handled outside of any room, and throws because its list is `null`.
    home.post({ kind: 'spent', workspaces: null as never })
    await until(() => got.filter(({ kind }) => kind === 'reset').length === 2)
    await open(home, got, 3)
    await home[Symbol.asyncDispose]()
  })
})

it('[G9] a light step is charged the time that passes, but at most the longest time that a step may take', () => {
  let nowMs = 1_000
  const usedMs = stepTime({ monotonicMs: () => nowMs }, 5)
  const step = (passesMs: number): number => {
    const startedMs = usedMs()
    nowMs += passesMs
    return usedMs() - startedMs
  }
  expect(step(0.4)).toBeCloseTo(0.4)
  nowMs += 60_000
  expect(step(3)).toBeCloseTo(3)
  expect(step(900)).toBe(5)
})
