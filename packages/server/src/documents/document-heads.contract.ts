import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from './document-store.contract.ts'
import { bodyOf, creation, noFacts, written } from './testing/document-writes.ts'

/** Registers the tests that every driver of `DocumentStore` passes when it reads the heads of several documents. */
export function describeDocumentHeadsContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`heads of documents: ${name}`, () => {
    let store: OpenDocumentStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[AG-84] heads are read for several ids at once, without ids that are not stored or belong to another workspace', async () => {
      const { documents } = store
      const [workspaceId, other] = [randomUUID(), randomUUID()]
      const create = async (id: string, of = workspaceId) => written(await documents.write(creation({ workspaceId: of, id })))
      const [one, two, deleted] = [await create('one'), await create('two'), await create('deleted')]
      await documents.remove(deleted, deleted.key, 2000)
      await create('elsewhere', other)
      const ids = ['one', 'never', 'deleted', 'elsewhere', 'two', "x' or 1=1 --"]
      const found = await documents.heads(workspaceId, ids)
      expect(found.toSorted((a, b) => a.key - b.key)).toEqual([one, two])
    })

    it('[BODY-16] facts that an older release stored without a bound are shortened on reading', async () => {
      const { documents } = store
      const ref = { workspaceId: randomUUID(), id: 'older' }
      const older = { ...noFacts, title: 'x'.repeat(5_000), carried: { tags: ['t'.repeat(9_000)], lockedBy: 'ann' } }
      const facts = { ...noFacts, title: 'x'.repeat(1_024), carried: { lockedBy: 'ann' } }
      await documents.write(creation(ref, '', { set: { ownerId: 'ada', ownerName: 'Ada', body: bodyOf('{}', older) } }))
      expect((await documents.read(ref))?.head.facts).toEqual(facts)
      expect((await documents.list(ref.workspaceId)).map((head) => head.facts)).toEqual([facts])
      expect(await documents.state(ref)).toMatchObject({ kind: 'document', head: { facts } })
    })
  })
}
