import { expect, it } from 'vitest'
import { change, creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openStorageHere } from './testing/storage-here.ts'
import { temporaryStores } from './testing/store-under-test.ts'

const fresh = temporaryStores()

it('[AG-64] each write and removal of a document, but no edit of a live one, is reported once after its commit', async () => {
  await using storage = await openStorageHere({ url: fresh().url, commitDelayMs: 0, log: silentLogger })
  const told: string[] = []
  storage.onStored(({ workspaceId, key }) => told.push(`${workspaceId} ${key}`))
  const ref = { workspaceId: 'w', id: 'd' }
  const head = written(await storage.documents.write(creation(ref)))
  await storage.updates.append([{ key: head.key, afterSeq: 0, actor: 'ann', atMs: 1, update: update(0, 0) }])
  expect(told).toEqual([`w ${head.key}`])
  const log = { kind: 'live', lastSeq: 1, append: [] } as const
  const after = written(await storage.documents.write(change(head, '{"a":1}', { log })))
  expect(await storage.documents.write(change(head, '{"a":2}', { log }))).toMatchObject({ kind: 'conflict' })
  await storage.documents.remove(ref, after.key, 5000)
  expect(told).toEqual([1, 2, 3].map(() => `w ${head.key}`))
})
