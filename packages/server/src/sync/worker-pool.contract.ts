import { readSync, syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead } from '../documents/document-store.port.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { createDocument, openTestStorage, until } from './testing/worker-harness.ts'
import type { FromWorker, RoomTask, TaskOutcome } from './worker-messages.ts'
import type { WorkerPool } from './worker-pool.port.ts'

/** Opens homes on the storage of the suite. */
export type OpenHomes = (storage: Storage) => WorkerPool & AsyncDisposable

/** Registers the tests that every `WorkerPool` must pass. The gateway relies on this behaviour for every home of a room. [C2, C8] */
export function workerPoolContract(name: string, openHomes: OpenHomes): void {
  describe(`WorkerPool: ${name}`, () => {
    let storage: Storage
    let homes: WorkerPool & AsyncDisposable
    const got: { readonly home: number; readonly message: FromWorker }[] = []
    let rooms = 0
    let jobs = 0

    beforeAll(async () => {
      storage = await openTestStorage()
      homes = openHomes(storage)
      homes.onMessage((home, message) => got.push({ home, message }))
    })
    afterAll(async () => {
      await homes?.[Symbol.asyncDispose]()
      await storage?.[Symbol.asyncDispose]()
    })

    const of = <K extends FromWorker['kind']>(kind: K) =>
      got.flatMap(({ message }) => (message.kind === kind ? [message as Extract<FromWorker, { kind: K }>] : []))

    /** Opens a room and joins one connection, which has the same number as the room. */
    async function open(head: DocumentHead, given: { readonly room?: number; readonly resumes?: boolean } = {}) {
      const { room = ++rooms, resumes = false } = given
      const ref = { workspaceId: head.workspaceId, id: head.id }
      const home = homes.homeFor(ref, head.sizeBytes)
      const before = of('opened').length
      homes.post(home, { kind: 'open', room, ref, key: head.key })
      const rights = { canWrite: true, maxDocBytes: null, knowsLineage: false, resumes }
      homes.post(home, { kind: 'join', room, connection: room, join: 1, sub: 'ann', ...rights })
      await until(() => of('opened').length > before)
      expect(of('opened').at(-1)).toMatchObject({ room, outcome: 'opened' })
      return { home, room, ref }
    }

    const write = (at: { home: number; room: number }, ordinal: number, update: Uint8Array, connection = at.room) => {
      const payload = syncFrame(SYNC.update, update).subarray(1)
      homes.post(at.home, { kind: 'sync', room: at.room, connection, join: 1, ordinal, payload })
    }
    const settled = (connection: number, ordinal: number) =>
      of('settled').some((message) => message.connection === connection && message.ordinal >= ordinal)
    const stepsTo = (connection: number) =>
      of('direct')
        .filter((message) => message.connection === connection)
        .flatMap(({ frames }) => frames.map((frame) => readSync(frame.subarray(1))?.subType))

    async function run({ home, room }: { home: number; room: number }, task: RoomTask): Promise<TaskOutcome> {
      const job = ++jobs
      homes.post(home, { kind: 'job', job, room, task })
      await until(() => of('done').some((message) => message.job === job))
      return of('done').find((message) => message.job === job)?.outcome as TaskOutcome
    }

    function textEditor() {
      const doc = new Y.Doc()
      const type = (word: string): Uint8Array => {
        const before = Y.encodeStateVector(doc)
        doc.getText('t').insert(doc.getText('t').length, word)
        return Y.encodeStateAsUpdate(doc, before)
      }
      return { doc, type }
    }

    async function stored(head: DocumentHead): Promise<string> {
      const log = await storage.updates.load(head.key)
      if (log.kind !== 'loaded') throw new Error('the log was not loaded')
      const doc = new Y.Doc()
      for (const { update } of [...(log.snapshot ? [log.snapshot] : []), ...log.records]) Y.applyUpdate(doc, update)
      return doc.getText('t').toString()
    }

    it('[C2] a document opens, and a connection that joins gets a step1', async () => {
      const at = await open(await createDocument(storage.documents))
      await until(() => stepsTo(at.room).length > 0)
      expect(stepsTo(at.room)).toEqual([SYNC.step1])
    })

    it('[C9] opening a document that does not exist is answered gone', async () => {
      const head = await createDocument(storage.documents)
      const ref = { workspaceId: head.workspaceId, id: 'never' }
      const room = ++rooms
      homes.post(homes.homeFor(ref), { kind: 'open', room, ref, key: head.key })
      await until(() => of('opened').some((message) => message.room === room))
      expect(of('opened').find((message) => message.room === room)?.outcome).toBe('gone')
    })

    it('[LIFE-2] [WS-40] edits are handled in order, sent to others, and settled when they are in the store', async () => {
      const head = await createDocument(storage.documents)
      const at = await open(head)
      const { type } = textEditor()
      for (let ordinal = 1; ordinal <= 20; ordinal++) write(at, ordinal, type(`${ordinal},`))
      await until(() => settled(at.room, 20))
      expect(await stored(head)).toBe(Array.from({ length: 20 }, (_, i) => `${i + 1},`).join(''))
      const doc = new Y.Doc()
      for (const { room, updates } of of('updates'))
        if (room === at.room) for (const update of updates) Y.applyUpdate(doc, update)
      expect(doc.getText('t').toString()).toBe(await stored(head))
    })

    it('[WS-33] the refusal of an update by the guard names its ordinal, and the next update is applied', async () => {
      const head = await createDocument(storage.documents)
      const at = await open(head)
      const { type } = textEditor()
      write(at, 1, Uint8Array.of(1, 2, 3, 255))
      write(at, 2, type('good'))
      await until(() => settled(at.room, 2))
      expect(of('refused').filter(({ connection }) => connection === at.room)).toMatchObject([
        { ordinal: 1, code: 'ERR_BAD_UPDATE' },
      ])
      expect(await stored(head)).toBe('good')
    })

    it('[LIFE-17] a room is evicted only when no connection is joined, and its tasks fail afterwards', async () => {
      const at = await open(await createDocument(storage.documents))
      expect(await run(at, { kind: 'evict' })).toEqual({ kind: 'busy' })
      homes.post(at.home, { kind: 'leave', room: at.room, connection: at.room })
      expect(await run(at, { kind: 'evict' })).toEqual({ kind: 'evicted' })
      expect(await run(at, { kind: 'settle' })).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' })
    })

    it('[C8] a room is handed over when every edit is durable, and a connection that resumes in the next home gets no step1', async () => {
      const head = await createDocument(storage.documents)
      const at = await open(head)
      const { doc, type } = textEditor()
      write(at, 1, type('moved'))
      expect(await run(at, { kind: 'hand-over' })).toEqual({ kind: 'evicted' })
      await until(() => of('reload').some(({ room }) => room === at.room))
      expect(settled(at.room, 1)).toBe(true)
      expect(await stored(head)).toBe('moved')
      const asked = stepsTo(at.room).length
      const again = await open(head, { room: at.room, resumes: true })
      write(again, 2, type(' on'))
      await until(() => settled(at.room, 2))
      expect(stepsTo(at.room)).toHaveLength(asked)
      expect(await stored(head)).toBe(doc.getText('t').toString())
    })
  })
}
