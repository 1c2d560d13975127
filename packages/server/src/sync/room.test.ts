import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Storage } from '../drivers/sql/storage.ts'
import { createDocument, openTestStorage, TestWorker, until } from './testing/worker-harness.ts'

let storage: Storage
let worker: TestWorker

beforeAll(async () => {
  storage = await openTestStorage()
  worker = new TestWorker(storage)
})

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]()
  await storage?.[Symbol.asyncDispose]()
})

const PROSE = { richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>one</p>' }] }

describe('a room', () => {
  it('[WS-23] [WS-25] [WS-31] a join gets a step1 and exactly one step2; an edit reaches everyone but its sender', async () => {
    const head = await createDocument(storage.documents, PROSE)
    const room = await worker.open(head)
    const [ann, bob] = [worker.client(), worker.client()]
    ann.joinRoom(room)
    bob.joinRoom(room)
    await until(() => ann.synced && bob.synced)
    expect(ann.received).toEqual([0, 1])
    expect(ann.text()).toBe('<paragraph>one</paragraph>')
    ann.doc.getMap('shapes:c1').set('s1', { id: 's1', type: 'rect' })
    await until(() => bob.doc.getMap('shapes:c1').has('s1') && ann.settled === ann.ordinal)
    expect(ann.received).toEqual([0, 1])
    const log = await storage.updates.load(head.key)
    expect(log.kind === 'loaded' && log.records.length).toBe(2)
    expect(Y.encodeStateVector(ann.doc)).toEqual(Y.encodeStateVector(bob.doc))
  })
})
