import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from './document-store.contract.ts'
import type { DocumentHead, DocumentRef } from './document-store.port.ts'
import { change, creation, update, written } from './testing/document-writes.ts'

/** Registers the tests of the storage quota that every driver of `DocumentStore` passes. */
export function describeDocumentQuotaContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`DocumentStore, quota: ${name}`, () => {
    let store: OpenDocumentStore
    const documents = () => store.documents
    const newRef = (workspaceId: string): DocumentRef => ({ workspaceId, id: `doc-${randomUUID()}` })
    const refOf = ({ workspaceId, id }: DocumentHead): DocumentRef => ({ workspaceId, id })
    const create = async (ref: DocumentRef, text: string) => written(await documents().write(creation(ref, text)))

    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[LIFE-16] [LIM-3] [LIM-4] only growth above the quota is refused, with used and added bytes', async () => {
      const workspaceId = randomUUID()
      const ref = newRef(workspaceId)
      await create(newRef(workspaceId), '{"p":"1234"}')
      const refused = await documents().write(creation(ref, '{"q":"12"}', { quotaBytes: 21 }))
      expect(refused).toEqual({ kind: 'over-quota', usedBytes: 12, addedBytes: 10 })
      expect(await documents().state(ref)).toEqual({ kind: 'absent' })
      const head = written(await documents().write(creation(ref, '{"q":"12"}', { quotaBytes: 22 })))
      expect(await documents().usedBytes(workspaceId)).toBe(22)
      const grown = await documents().write(change(head, '{"q":"123"}', { quotaBytes: 22 }))
      expect(grown).toEqual({ kind: 'over-quota', usedBytes: 22, addedBytes: 1 })
      const growth = { workspaceId, grownBytes: 1, blobReferences: [], quotaBytes: 22, nowMs: 2000 }
      expect(await documents().overQuota(growth)).toEqual(grown)
      for (const passes of [{ quotaBytes: 23 }, { quotaBytes: null }, { grownBytes: 0 }])
        expect(await documents().overQuota({ ...growth, ...passes })).toBeNull()
      const same = written(await documents().write(change(head, '{"q":"21"}', { quotaBytes: 5 })))
      const less = written(await documents().write(change(same, '{"q":2}', { quotaBytes: 5 })))
      expect(await documents().usedBytes(workspaceId)).toBe(19)
      const ungated = written(await documents().write(change(less, '{"q":"much more"}', { quotaBytes: null })))
      expect(ungated.sizeBytes).toBe(17)
      await documents().remove(ungated, ungated.key, 9)
      expect(await documents().usedBytes(workspaceId)).toBe(12)
    })

    it('[LIFE-16] [CONC-9] a write whose body comes later is checked against the quota with the bytes its body will grow', async () => {
      const workspaceId = randomUUID()
      const head = await create(newRef(workspaceId), '{"p":"1234"}')
      const live = { kind: 'live' as const, lastSeq: 0, append: [{ actor: 'ada', update: update(1) }] }
      const later = (grownBytes: number) =>
        change(head, '', { set: {}, quotaBytes: 15, log: { ...live, bodyLater: { grownBytes } } })
      expect(await documents().write(later(4))).toEqual({ kind: 'over-quota', usedBytes: 12, addedBytes: 4 })
      expect(await documents().state(refOf(head))).toEqual({ kind: 'document', head })
      expect((await documents().write(later(3))).kind).toBe('written')
    })

    it('[LIFE-16] writes that fit one by one never exceed the quota together', async () => {
      const workspaceId = randomUUID()
      const outcomes = await Promise.all(
        Array.from({ length: 48 }, () => documents().write(creation(newRef(workspaceId), '{"p":"1234"}', { quotaBytes: 100 }))),
      )
      expect(outcomes.filter((outcome) => outcome.kind === 'written')).toHaveLength(8)
      expect(outcomes.filter((outcome) => outcome.kind === 'over-quota')).toHaveLength(40)
      expect(await documents().usedBytes(workspaceId)).toBe(96)
    })
  })
}
