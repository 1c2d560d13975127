import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from './document-store.contract.ts'
import { bodyOf, creation, noFacts, written } from './testing/document-writes.ts'

/** Registers what every driver keeps to when it reads the heads of several documents. */
export function describeDocumentHeadsContract(name: string, open: () => Promise<OpenDocumentStore>): void {
  describe(`heads of documents: ${name}`, () => {
    let store: OpenDocumentStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(() => store[Symbol.asyncDispose]())

    it('[AG-84] the heads of ids are read at once; what is not stored and what is of another workspace is left out', async () => {
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

    it('[BODY-16] a head whose facts an earlier release stored longer is read with bounded ones', async () => {
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
