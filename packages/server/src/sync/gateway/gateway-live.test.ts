import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Reader } from '@docrelay/protocol/bytes'
import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../../drivers/sql/storage.ts'
import { openStorageHere } from '../../drivers/sql/testing/storage-here.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type DocumentWorkers, openDocumentWorkers } from '../workers/document-workers.ts'
import type { FromWorker, ToWorker } from '../worker-messages.ts'
import type { EndedRun, MoveReason, WorkerPool } from '../worker-pool.port.ts'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'
import { done, editRequest } from '../testing/room-editing.ts'
import { TextEditor } from '../testing/text-editor.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'

describe('the gateway with real document workers and a real store', () => {
  let folder: string
  let storage: Storage
  let workers: DocumentWorkers
  let pool: MovingPool
  let bench: Bench
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'relay-live-'))
    storage = await openStorageHere({ url: `sqlite:${join(folder, 'relay.db')}`, commitDelayMs: 4, log: silentLogger })
    workers = openDocumentWorkers({ count: 2, storagePort: () => storage.workerPort(), log: silentLogger, options: {} })
    pool = new MovingPool(workers)
    bench = await startBench({
      workers: pool,
      settings: { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null },
      deps: { store: storage.documents },
      rooms: { store: storage.documents, idleMs: 200 },
    })
  })
  afterAll(async () => {
    await bench[Symbol.asyncDispose]()
    await workers[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
    await rm(folder, { recursive: true })
  })

  async function create(id: string): Promise<void> {
    const { facts } = headOf(id)
    const body = { bytes: Buffer.from(JSON.stringify({ id, pages: [] })), facts, blobReferences: [] }
    const set = { ownerId: 'ann', ownerName: 'ann', collectionId: null, sharedWith: [], body }
    const rest = { bump: true, nowMs: 1, quotaBytes: null, log: { kind: 'cold' as const } }
    const outcome = await storage.documents.write({
      ref: { workspaceId: 'default', id },
      expect: { kind: 'absent' },
      set,
      ...rest,
    })
    expect(outcome.kind).toBe('written')
  }

  async function editor(docId: string, features?: readonly string[]): Promise<TextEditor> {
    const made = new TextEditor(await bench.authed({}, features))
    made.start(docId)
    await made.client.next(TAG.sync)
    return made
  }

  it('[WS-23] [WS-31] [WS-40] two editors converge, acks cover every write, and a JOIN_DOC after eviction gets all edits', async () => {
    await create('doc')
    const editors = [await editor('doc', ['ack']), await editor('doc'), await editor('doc')]
    for (let at = 0; at < 60; at++) {
      for (const [index, one] of editors.entries()) one.text.insert(Math.floor(one.text.length / 2), `${index}`)
      if (at % 5 === 0) await wait(5)
    }
    await until(() => editors.every((one) => one.text.length === 180))
    const texts = new Set(editors.map((one) => one.text.toString()))
    expect(texts.size).toBe(1)
    const acks = (): number => Math.max(0, ...(editors[0]?.client.of(TAG.syncAck).map((frame) => frame[1] ?? 0) ?? []))
    // 60 updates, and the step2 that answered the server's step1.
    await until(() => acks() === 61)
    for (const one of editors) one.client.socket.close()
    await until(() => !bench.rooms.isResident({ workspaceId: 'default', id: 'doc' }), 8_000)
    const late = await editor('doc')
    await until(() => late.text.length === 180)
    expect(texts.has(late.text.toString())).toBe(true)
  })

  it('[WS-56] [WS-33] three undecodable updates close their sender with 1003, and another editor keeps writing', async () => {
    await create('guarded')
    const good = await editor('guarded', ['ack'])
    const bad = await editor('guarded', ['ack'])
    for (let at = 0; at < 3; at++) bad.client.send(syncFrame(2, Uint8Array.of(1, 2, 3, 4, 255)))
    expect(await bad.client.closed).toEqual({ code: 1003, reason: 'protocol' })
    expect(bad.client.jsonOf(TAG.error)[0]).toMatchObject({ code: 'ERR_BAD_UPDATE', frame: expect.any(Number) })
    good.text.insert(0, 'fine')
    expect((await good.client.next(TAG.syncAck))[1]).toBeGreaterThan(0)
    expect(good.client.socket.readyState).toBe(good.client.socket.OPEN)
  })

  it('[C8] [WS-40] a document that moves between workers during typing and calls loses no edit and doubles none', async () => {
    await create('moving')
    const ref = { workspaceId: 'default', id: 'moving' }
    const editors = [await editor('moving', ['ack']), await editor('moving', ['ack'])]
    const typed: string[] = []
    const before = pool.opened.length
    let isTyping = true
    const moving = (async () => {
      while (isTyping) {
        pool.move()
        await wait(7)
      }
    })()
    const state = await storage.documents.state(ref)
    if (state.kind !== 'document') throw new Error('there is no document')
    let written = 0
    const calling = (async () => {
      while (isTyping) {
        await bench.rooms.settle(ref)
        const fields = [{ name: 'count', value: `${written}` }]
        const outcome = await bench.rooms.edit(editRequest(state.head, 'set_fields', { fields }))
        if (outcome === 'not-resident' || done(outcome).kind !== 'edited') throw new Error('the edit did not reach the room')
        written++
        await wait(11)
      }
    })()
    const isEnough = (): boolean => written > 5 && pool.opened.length - before > 5
    let turns = 0
    for (; turns < 150 || !isEnough(); turns++) {
      for (const [index, one] of editors.entries()) {
        const word = `${index}.${turns};`
        one.text.insert(0, word)
        typed.push(word)
      }
      await wait(turns % 4)
    }
    isTyping = false
    await Promise.all([moving, calling])
    const wordsOf = (text: string) => text.split(/(?<=;)/).sort()
    const all = typed.toSorted()
    await until(() => editors.every((one) => one.text.length === all.join('').length))
    for (const one of editors) {
      expect(wordsOf(one.text.toString())).toEqual(all)
      // The acks cover all updates and the step2 of the join. No move has asked the client for another step2.
      await until(() => Math.max(...one.client.of(TAG.syncAck).map(ackOf)) === turns + 1)
      expect(one.client.of(TAG.error)).toEqual([])
      expect(one.client.socket.readyState).toBe(one.client.socket.OPEN)
    }
    for (const one of editors) await until(() => JSON.stringify(one.doc.getMap('fields')).includes(`"${written - 1}"`))
    for (const one of editors) one.client.socket.close()
    await until(() => !bench.rooms.isResident(ref), 8_000)
    const late = await editor('moving')
    await until(() => late.text.length === all.join('').length)
    expect(wordsOf(late.text.toString())).toEqual(all)
  })

  it('[LIFE-28] drain stores the body of a document that was edited', async () => {
    await create('stopping')
    const one = await editor('stopping', ['ack'])
    one.doc.getMap('metadata').set('title', 'Typed')
    await until(() => one.client.of(TAG.syncAck).length > 0)
    await bench.gateway.drain()
    await bench.rooms.departures.drain()
    const record = await storage.documents.read({ workspaceId: 'default', id: 'stopping' })
    expect(record?.head.coveredSeq).toBe(record?.head.lastSeq)
    expect(record?.head.facts.title).toBe('Typed')
  })
})

/** The ordinal of a SYNC_ACK. */
function ackOf(frame: Buffer): number {
  return new Reader(frame.subarray(1)).varUint()
}

/** Real workers among which a test moves rooms at will. */
class MovingPool implements WorkerPool {
  readonly opened: { readonly room: number; readonly worker: number }[] = []
  readonly #workers: DocumentWorkers
  #move: (room: number, reason: MoveReason) => void = () => {}

  constructor(workers: DocumentWorkers) {
    this.#workers = workers
  }

  /** Alternates between the two workers from one opened room to the next. */
  homeFor(): number {
    return this.opened.length % 2
  }

  keepApart(): void {}

  takes(): boolean {
    return true
  }

  post(worker: number, message: ToWorker): void {
    if (message.kind === 'open') this.opened.push({ room: message.room, worker })
    this.#workers.post(worker, message)
  }

  onMessage(listener: (worker: number, message: FromWorker) => void): void {
    this.#workers.onMessage(listener)
  }

  onMisplaced(listener: (room: number, reason: MoveReason) => void): void {
    this.#move = listener
  }

  onEnded(listener: (worker: number, running: EndedRun | null) => void): void {
    this.#workers.onEnded(listener)
  }

  /** Asks for a move of the room that was opened last. */
  move(): void {
    this.#move(this.opened.at(-1)?.room ?? 0, 'may')
  }
}

async function until(holds: () => boolean, waitMs = 5_000): Promise<void> {
  const givenUp = patienceClock(waitMs)
  while (!holds()) {
    if (givenUp()) throw new Error('it did not come to hold in time')
    await wait(5)
  }
}
