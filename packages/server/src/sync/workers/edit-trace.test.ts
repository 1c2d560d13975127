import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { openStorageHere } from '../../drivers/sql/testing/storage-here.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type Timers, waitingTimers } from '../../kernel/timers.ts'
import { createDocument, until } from '../testing/worker-harness.ts'
import type { FromWorker } from '../worker-messages.ts'
import { LightHome } from './light-home.ts'

/** Nobody waits for the timers of these modules: they store bodies and sweep documents after an edit has been acknowledged. */
const SWEEPS = 'sync/workers/document-worker.ts'
const AFTERWARDS = ['sync/room/room-save.ts', SWEEPS]
const isOnTheWay = ({ module }: { readonly module: string }): boolean => !AFTERWARDS.includes(module)

/** Creates timers that record which module set each timer, and for how long. */
function traced(): { readonly timers: Timers; readonly waits: { readonly module: string; readonly ms: number }[] } {
  const waits: { module: string; ms: number }[] = []
  const timers: Timers = {
    after(ms, run) {
      const frames = (new Error('who asks').stack ?? '').split('\n').slice(2)
      const module = /\/src\/([a-z-]+\/.*?\.ts)/.exec(frames[0] ?? '')?.[1] ?? ''
      // A room sets its timers through the worker, so its own module is found further up the stack.
      const asking = frames.map((frame) => /\/src\/(sync\/room\/.*?\.ts)/.exec(frame)?.[1]).find((found) => found !== undefined)
      waits.push({ module: module === 'sync/workers/document-worker.ts' ? (asking ?? module) : module, ms })
      return waitingTimers.after(ms, run)
    },
  }
  return { timers, waits }
}

it('[WS-41] [LIFE-2] a lone edit waits for no timer, and an edit under load waits only before the append and before the commit', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-trace-'))
  const { timers, waits } = traced()
  const storage = await openStorageHere({
    url: `sqlite:${join(folder, 'relay.db')}`,
    commitDelayMs: 4,
    log: silentLogger,
    timers,
  })
  const got: FromWorker[] = []
  const home = new LightHome({
    documents: storage.documents,
    updates: storage.updates,
    recovery: storage.recovery,
    clock: systemClock,
    timers,
    random: systemRandom,
    log: silentLogger,
    deliver: (message) => {
      if (message.kind === 'settled') last.set(message.connection, message.ordinal)
      else got.push(message)
    },
  })
  const ordinals = new Map<number, number>()
  const last = new Map<number, number>()
  const settled = (room: number) => last.get(room) === ordinals.get(room)
  const docs = new Map<number, Y.Doc>()
  const edit = (room: number): void => {
    const doc = docs.get(room) as Y.Doc
    const before = Y.encodeStateVector(doc)
    doc.getMap('fields').set('f', ordinals.get(room) ?? 0)
    const ordinal = (ordinals.get(room) ?? 0) + 1
    ordinals.set(room, ordinal)
    const payload = syncFrame(SYNC.update, Y.encodeStateAsUpdate(doc, before)).subarray(1)
    home.post({ kind: 'sync', room, connection: room, join: 1, ordinal, payload })
  }
  const ROOMS = 40
  for (let room = 1; room <= ROOMS; room++) {
    const head = await createDocument(storage.documents)
    docs.set(room, new Y.Doc())
    home.post({ kind: 'open', room, ref: { workspaceId: head.workspaceId, id: head.id }, key: head.key })
    home.post({
      kind: 'join',
      room,
      connection: room,
      join: 1,
      sub: 'ann',
      canWrite: true,
      maxDocBytes: null,
      knowsLineage: true,
    })
  }
  await until(() => got.filter(({ kind }) => kind === 'opened').length === ROOMS)
  // Waits until the bodies of the opened documents have been stored and this load no longer counts.
  do {
    waits.length = 0
    await wait(1_000)
  } while (waits.some(({ module }) => module !== SWEEPS))

  /** Sends an edit to room 1 and returns the timers for which it waits: the module of each, and its time. */
  const trace = async (): Promise<{ readonly module: string; readonly ms: number }[]> => {
    await until(() => [...ordinals.keys()].every(settled))
    waits.length = 0
    edit(1)
    await until(() => settled(1))
    return waits.filter(isOnTheWay)
  }
  const told = (found: readonly { readonly module: string; readonly ms: number }[]) =>
    found.map(({ module, ms }) => `${module} ${ms.toFixed(1)} ms`).join(', ') || 'none'

  const lone = await trace()
  const busy = new Set<string>()
  for (let round = 0; round < 5; round++) {
    for (let beat = 0; beat < 40; beat++) {
      for (let room = 2; room <= ROOMS; room++) edit(room)
      await wait(5)
    }
    const found = await trace()
    process.stdout.write(`Waits of an edit under load: ${told(found)}\n`)
    expect(found.length).toBeLessThanOrEqual(2)
    for (const { module, ms } of found) {
      busy.add(module)
      expect(ms).toBeLessThanOrEqual(8)
    }
  }
  process.stdout.write(`Waits of a lone edit: ${told(lone)}\n`)
  expect(lone).toEqual([])
  // An edit that arrives just when an append is due waits for only one of the two timers.
  expect(busy.size).toBeGreaterThan(0)
  for (const module of busy) expect(['drivers/sql/commit-queue.ts', 'kernel/pacer.ts']).toContain(module)
  await home[Symbol.asyncDispose]()
  await storage[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
