import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenDocumentStore } from './document-store.contract.ts'
import { creation, written } from './testing/document-writes.ts'

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
  })
}
