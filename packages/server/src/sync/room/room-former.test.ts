import { syncFrame } from '@docrelay/protocol/codec'
import { SYNC } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { Storage } from '../../drivers/sql/storage.ts'
import { createDocument, openTestStorage, TestWorker, until } from '../testing/worker-harness.ts'

let storage: Storage
beforeAll(async () => {
  storage = await openTestStorage()
})
afterAll(() => storage[Symbol.asyncDispose]())

/** Opens a room with one person, whose copy is of an earlier lineage. Also returns two updates of that copy. */
async function joinedByFormer(trialBytes: number) {
  const old = new Y.Doc()
  const updates: Uint8Array[] = []
  old.on('update', (update: Uint8Array) => updates.push(update))
  for (const id of ['one', 'two']) old.getMap('shapes:c1').set(id, { id })
  const documents = { ...storage.documents, formerClients: () => Promise.resolve([old.clientID]) }
  const worker = new TestWorker({ ...storage, documents }, { rooms: { trialBytes } })
  const room = await worker.open(await createDocument(storage.documents))
  const client = worker.client()
  client.answersStep1 = false
  client.joinRoom(room)
  await until(() => client.synced)
  return { worker, room, client, updates }
}

describe('a person whose copy is of an earlier lineage', () => {
  it.each([
    ['comes in one turn with the first', 1_000_000],
    ['waits while the first is tried on a copy', 10],
  ])('[WS-62] [LIFE-17] does not keep the document in memory by a second write that %s', async (_, trialBytes) => {
    const { worker, room, client, updates } = await joinedByFormer(trialBytes)
    await using _worker = worker
    const { connection, join } = client
    worker.host.receive(
      updates.map((update, at) => ({
        kind: 'sync',
        room,
        connection,
        join,
        ordinal: at + 1,
        payload: syncFrame(SYNC.update, update).subarray(1),
      })),
    )
    await until(() => worker.of('former').length > 0)
    expect(worker.of('former')).toMatchObject([{ connection, ordinal: 1 }])
    client.leave()
    expect(await worker.job(room, { kind: 'evict' })).toEqual({ kind: 'evicted' })
  })
})
