import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { openHost, temporaryStore } from '../testing/store-under-test.ts'
import { MIGRATIONS } from './migrate.ts'

/** A released step is never edited: stores that ran it would differ from new ones. Add another one instead. */
const PINNED: Readonly<Record<string, string>> = {
  '0001-initial': '75c4680a3b5f9502',
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

it('[LIFE-29] the steps are the pinned ones', () => {
  const hashes = Object.keys(MIGRATIONS).map((name) => {
    const source = readFileSync(new URL(`./${name}.ts`, import.meta.url))
    return [name, createHash('sha256').update(source).digest('hex').slice(0, 16)]
  })
  expect(Object.fromEntries(hashes)).toEqual(PINNED)
})

it('[LIFE-29] a store of a newer format is refused and left as it is', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  onFile((db) =>
    db.exec("update store_facts set value = '2' where name = 'format'; insert into kysely_migration values ('0002-x', '')"),
  )
  const before = readFileSync(store.path)
  await expect(openHost(store.url)).rejects.toThrow('the store has format 2, newer than the 1 this program knows')
  expect(readFileSync(store.path).equals(before)).toBe(true)
})

it('[LIFE-29] this program works beside a newer one that only added to the store', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  onFile((db) =>
    db.exec("insert into kysely_migration values ('0002-addition', '2026-12-01'); create table addition (x integer)"),
  )
  const host = await openHost(store.url)
  expect(written(await host.documents.write(creation({ workspaceId: 'w', id: 'd' }))).version).toBe(1)
  await host[Symbol.asyncDispose]()
  expect(onFile((db) => db.prepare('select count(*) as n from kysely_migration').get())).toEqual({ n: 2 })
})

it('[LIFE-29] opening a store of this format changes nothing', async () => {
  await (await openHost(store.url))[Symbol.asyncDispose]()
  const schema = () => onFile((db) => db.prepare('select sql from sqlite_schema order by name').all())
  const before = schema()
  await (await openHost(store.url))[Symbol.asyncDispose]()
  expect(schema()).toEqual(before)
  expect(onFile((db) => db.prepare("select value from store_facts where name = 'format'").get())).toEqual({ value: '1' })
})

it('[LIFE-29] a step that fails leaves nothing behind', async () => {
  onFile((db) => db.exec('create table revocations (x integer)'))
  await expect(openHost(store.url)).rejects.toThrow('cannot prepare the store: table revocations already exists')
  expect(onFile((db) => db.prepare("select name from sqlite_schema where type = 'table'").all())).toEqual([
    { name: 'revocations' },
  ])
  onFile((db) => db.exec('drop table revocations'))
  await (await openHost(store.url))[Symbol.asyncDispose]()
})
