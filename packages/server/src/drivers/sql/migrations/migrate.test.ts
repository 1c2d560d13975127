import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aGrant, granted, newHash } from '../../../blobs/testing/ledger-requests.ts'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { planMigration } from '../migrate-tool.ts'
import { openHost, temporaryStore } from '../testing/store-under-test.ts'
import { openSqlite } from '../sqlite.ts'
import { applySteps, MIGRATIONS, setFact } from './migrate.ts'

/** Hashes of the released steps. Never edit a released step: stores that ran it would differ from new ones. Add a new step instead. */
const PINNED: Readonly<Record<string, string>> = {
  '0001-initial': '75c4680a3b5f9502',
  '0002-workspace': 'cfc6652755786258',
  '0003-remembered-writes': '6ccae5d820f31f77',
  '0004-lineage': 'd5c824e0989615c6',
  '0005-instances': 'a85aad6b2cb1c935',
  '0006-share-sizes': '83538f0b75a5e129',
  '0007-call-records': '28750ea03aff473c',
  '0008-removals': '9a9e9a5e13402726',
  '0009-successors': '11b54f863a351543',
  '0010-recent-updates': '51e554daaf7822df',
  '0011-nodes': 'c4a2e9aeb5dca672',
  '0012-ownership': '387514ce6531b5c4',
  '0013-seats': '1449442f209d7548',
  '0014-feeds': '266a940e8606fe94',
  '0015-blob-objects': '691102723cda63dd',
  '0016-callers': 'd2302b3ae8411760',
}

let store: ReturnType<typeof temporaryStore>
beforeEach(() => {
  store = temporaryStore()
})
afterEach(() => store.remove())

function onFile<T>(work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(store.path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

it('[LIFE-29] the migration steps equal the pinned ones', () => {
  const hashes = Object.keys(MIGRATIONS).map((name) => {
    const source = readFileSync(new URL(`./${name}.ts`, import.meta.url))
    return [name, createHash('sha256').update(source).digest('hex').slice(0, 16)]
  })
  expect(Object.fromEntries(hashes)).toEqual(PINNED)
})

it('[LIFE-29] a store of a newer format is refused and left unchanged', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  onFile((db) =>
    db.exec("update store_facts set value = '4' where name = 'format'; insert into kysely_migration values ('9999-x', '')"),
  )
  const before = readFileSync(store.path)
  await expect(openHost(store.url)).rejects.toThrow('the store has format 4, newer than the 3 this program knows')
  await expect(planMigration(store.url, silentLogger)).rejects.toThrow('the store has format 4, newer than the 3')
  expect(readFileSync(store.path).equals(before)).toBe(true)
})

it('[LIFE-29] this program can use a store to which a newer program has only added', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  onFile((db) =>
    db.exec("insert into kysely_migration values ('9999-addition', '2026-12-01'); create table addition (x integer)"),
  )
  const host = await openHost(store.url)
  expect(written(await host.documents.write(creation({ workspaceId: 'w', id: 'd' }))).version).toBe(1)
  await host[Symbol.asyncDispose]()
  expect(onFile((db) => db.prepare('select count(*) as n from kysely_migration').get())).toEqual({
    n: Object.keys(MIGRATIONS).length + 1,
  })
})

it('[LIFE-29] opening a store of the current format changes nothing', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  const schema = () => onFile((db) => db.prepare('select sql from sqlite_schema order by name').all())
  const before = schema()
  await (await openHost(store.url))[Symbol.asyncDispose]()
  expect(schema()).toEqual(before)
  expect(onFile((db) => db.prepare("select value from store_facts where name = 'format'").get())).toEqual({ value: '1' })
})

it('[LIFE-29] a store that several nodes have used keeps its format, and a store of a single relay keeps the older format', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  const format = () => onFile((db) => db.prepare("select value from store_facts where name = 'format'").get())
  expect(format()).toEqual({ value: '1' })
  onFile((db) => db.exec("update store_facts set value = '2' where name = 'format'"))
  await (await openHost(store.url))[Symbol.asyncDispose]()
  expect(format()).toEqual({ value: '2' })
})

it('[LIFE-29] [BLOB-24] after the first upload of a blob programs that would not find its bytes refuse the store', async () => {
  const host = await openHost(store.url)
  const format = () => onFile((db) => db.prepare("select value from store_facts where name = 'format'").get())
  await host.blobs.announce(`${newHash()}.00000001`, 600_000)
  expect(format()).toEqual({ value: '1' })
  await granted(host.blobs, aGrant('w', newHash()))
  await granted(host.blobs, aGrant('w', newHash()))
  await host[Symbol.asyncDispose]()
  expect(format()).toEqual({ value: '3' })
})

it('[LIFE-29] [BLOB-2] a store from before blobs opens with the blob references of its bodies and points', async () => {
  const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64))
  const { engine, writer, close } = openSqlite(store.path, { synchronous: 'FULL' }, silentLogger)
  await writer.transaction().execute(async (transaction) => {
    await applySteps(transaction, engine.columnTypes, ['0001-initial'])
    await setFact(transaction, 'format', '1')
  })
  const bodies = [
    { blobReferences: [C, 'no hash'], shape: { blobRef: A }, 'x"blobRef': D, text: `see blob://${B}` },
    { text: `blob://${A}0 "blobRef":"${A}"` },
    { filler: 'x'.repeat(9_000_000), last: { blobRef: D } },
  ]
  for (const [i, body] of bodies.entries()) {
    const row = await writer
      .insertInto('documents')
      .values({
        workspace_id: 'w',
        id: `d${i}`,
        version: 1,
        owner_id: '',
        owner_name: '',
        shared_with: '[]',
        created_at_ms: 0,
        updated_at_ms: 0,
        title_changed_at_ms: 0,
        size_bytes: 1,
        facts: '{}',
        crc32: 0,
      })
      .returning('key')
      .executeTakeFirstOrThrow()
    await writer
      .insertInto('bodies')
      .values({ ...row, crc32: 0, body: Buffer.from(JSON.stringify(body)) })
      .execute()
  }
  const damaged = Buffer.from(`{"blobReferences":["${B}"],"blobRef":"${A}"`)
  await writer
    .insertInto('recovery_points')
    // A recovery point of a release that stored no digests.
    .values({ key: 2, reason: 'zeroing', created_at_ms: 0, version: 1, facts: '{}', crc32: 0, body: damaged } as never)
    .execute()
  await close()
  await (await openHost(store.url))[Symbol.asyncDispose]()
  const all = (query: string) => onFile((db) => db.prepare(query).all())
  expect(all('select key, hash from blob_refs order by key, hash')).toEqual([
    { key: 1, hash: A },
    { key: 1, hash: B },
    { key: 1, hash: C },
    { key: 3, hash: D },
  ])
  expect(all('select key, point, hash from point_refs')).toEqual([{ key: 2, point: 1, hash: A }])
})

it('[LIFE-29] a failing migration leaves no change in the store', async () => {
  onFile((db) => db.exec('create table revocations (x integer)'))
  await expect(openHost(store.url)).rejects.toThrow(`cannot prepare the store ${store.path}: table revocations already exists`)
  expect(onFile((db) => db.prepare("select name from sqlite_schema where type = 'table'").all())).toEqual([
    { name: 'revocations' },
  ])
  onFile((db) => db.exec('drop table revocations'))
  await (await openHost(store.url))[Symbol.asyncDispose]()
})
