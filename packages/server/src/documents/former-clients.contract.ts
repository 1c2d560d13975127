import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { OpenDocumentStore } from './document-store.contract.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'
import { creation, endOfLog, update, written } from './testing/document-writes.ts'

const DAY_MS = 86_400_000

/** Makes an update in which each of these Y clients wrote a letter. */
function updateOf(clients: readonly number[]): Uint8Array {
  const doc = new Y.Doc()
  doc.transact(() => {
    for (const client of clients) {
      // A new struct gets the client id that the Y.Doc has at that moment.
      doc.clientID = client
      doc.getArray('letters').insert(0, ['x'])
    }
  })
  return Y.encodeStateAsUpdate(doc)
}

/** Registers the tests that every driver of `DocumentStore` passes for the Y client ids of deleted documents. [WS-62] */
export function describeFormerClientsContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`DocumentStore, client ids of deleted documents: ${name}`, () => {
    let store: OpenDocumentStore
    const newRef = (): DocumentRef => ({ workspaceId: randomUUID(), id: `doc-${randomUUID()}` })
    const create = async (ref: DocumentRef) => written(await store.documents.write(creation(ref)))
    const again = async (ref: DocumentRef, nowMs = 1000) => {
      const expectation = { kind: 'tombstone', lastServerVersion: 1 } as const
      return written(
        await store.documents.write(
          creation(ref, '{}', { expect: { ...expectation, lastServerVersion: await lastVersion(ref) }, nowMs }),
        ),
      )
    }
    const lastVersion = async (ref: DocumentRef) => {
      const state = await store.documents.state(ref)
      return state.kind === 'tombstone' ? state.tombstone.lastServerVersion : 0
    }
    const log = async (head: DocumentHead, ...updates: Uint8Array[]) => {
      const end = await endOfLog(store.updates, head.key)
      const records = updates.map((bytes, i) => ({ key: head.key, afterSeq: end + i, actor: 'ada', atMs: 5, update: bytes }))
      return store.updates.append(records)
    }
    const remove = (head: DocumentHead, atMs = 1000) => store.documents.remove(head, head.key, atMs)
    const former = async (ref: DocumentRef, nowMs = 2000) =>
      [...(await store.documents.formerClients(ref, nowMs))].sort((a, b) => a - b)

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[WS-62] [LIFE-23] client ids in log and snapshot are kept with the tombstone and the recreated document, except those of seeds', async () => {
      const ref = newRef()
      const head = await create(ref)
      const doc = new Y.Doc()
      Y.applyUpdate(doc, updateOf([11, 12, 2 ** 40]))
      await log(head, updateOf([11]), updateOf([12, 2 ** 40]))
      await store.updates.compact(head.key, {
        update: Y.encodeStateAsUpdate(doc),
        stateVector: Y.encodeStateVector(doc),
        throughSeq: 2,
      })
      await log(head, updateOf([13, 2 ** 45]))
      expect(await former(ref)).toEqual([])
      await remove(head)
      expect(await former(ref)).toEqual([11, 12, 13])
      await store.reopen()
      const next = await again(ref)
      expect(await former(ref)).toEqual([11, 12, 13])
      await log(next, updateOf([14]))
      await remove(next)
      expect(await former(ref)).toEqual([11, 12, 13, 14])
    })

    it('[WS-62] of more than 10,000 client ids the 10,000 that wrote last are kept', async () => {
      const ref = newRef()
      const head = await create(ref)
      const old = Array.from({ length: 10_001 }, (_, i) => 1_000_000 + i)
      await log(head, updateOf(old))
      await remove(head)
      expect(await store.documents.formerClients(ref, 2000)).toHaveLength(10_000)
      const next = await again(ref)
      await log(next, updateOf([7]))
      await remove(next)
      const kept = await store.documents.formerClients(ref, 2000)
      expect([kept.length, kept[0]]).toEqual([10_000, 7])
    })

    it('[WS-62] client ids are forgotten 365 days after the recreation, in bounded batches, and never while a tombstone exists', async () => {
      const refs = [newRef(), newRef(), newRef()]
      // Far in the past, so that other tests' rows are never among them.
      const longAgoMs = -1000 * DAY_MS
      for (const ref of refs) {
        const head = await create(ref)
        await log(head, updateOf([21]))
        await remove(head, longAgoMs)
      }
      for (const ref of refs.slice(0, 2)) await again(ref, longAgoMs + DAY_MS)
      const [first = newRef(), , buried = newRef()] = refs
      expect(await former(first, longAgoMs + 365 * DAY_MS)).toEqual([21])
      expect(await former(first, longAgoMs + 366 * DAY_MS)).toEqual([])
      expect(await store.documents.purgeFormerClients(longAgoMs + 366 * DAY_MS, 10)).toBe(0)
      expect(await store.documents.purgeFormerClients(longAgoMs + 367 * DAY_MS, 1)).toBe(1)
      expect(await store.documents.purgeFormerClients(longAgoMs + 367 * DAY_MS, 10)).toBe(1)
      expect(await store.documents.purgeFormerClients(longAgoMs + 367 * DAY_MS, 10)).toBe(0)
      expect(await former(buried, longAgoMs + DAY_MS)).toEqual([21])
    })

    it('[WS-62] [LIFE-23] a document whose log cannot be decoded can be deleted, and the readable client ids are kept', async () => {
      const ref = newRef()
      const head = await create(ref)
      await log(head, updateOf([31]), update(9, 9, 9))
      expect((await remove(head)).kind).toBe('removed')
      expect(await former(ref)).toEqual([31])
    })
  })
}
