import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { creation, written } from '../../documents/testing/document-writes.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.remove())

it('[OPS-4] the totals of a store are sums over all workspaces', async () => {
  await using host = await openHost(store.url)
  expect(await host.totals()).toEqual({ documentBytes: 0, blobBytes: 0, unownedDocuments: 0, recoveryPoints: 0 })
  for (const workspaceId of ['v', 'w']) {
    const head = written(await host.documents.write(creation({ workspaceId, id: 'd' }, '{"a":1}')))
    await host.recovery.capture(head.key, 'demand', 1)
  }
  const db = new DatabaseSync(store.path)
  db.exec("update documents set owner_id = '' where workspace_id = 'w'")
  for (const [hash, metered] of [
    ['a', 1],
    ['b', 1],
    ['c', 0],
  ] as const)
    db.prepare("insert into blob_grants values ('w', ?, 100, 'image/png', 0, ?, null, null, 0)").run(hash, metered)
  db.close()
  expect(await host.totals()).toEqual({ documentBytes: 14, blobBytes: 200, unownedDocuments: 1, recoveryPoints: 2 })
})

it('[OPS-3] the totals of a store are read from indexes only', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  const db = new DatabaseSync(store.path)
  const plans = [
    'select sum(size_bytes) from documents',
    'select sum(size_bytes) from blob_grants where metered = 1',
    "select count(*) from documents where owner_id = ''",
    'select count(*) from recovery_points',
  ].map((query) => String(db.prepare(`explain query plan ${query}`).get()?.['detail']))
  db.close()
  for (const plan of plans) expect(plan).toMatch(/ USING (COVERING )?INDEX /)
})
