import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { DocumentHead } from '../../documents/document-store.port.ts'
import { change, creation, endOfLog, noFacts, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { FIXED_BYTES } from './head-lists.ts'
import type { HeadLists } from './head-stamps.ts'
import { rememberingList } from './head-memory.ts'
import { lineageColumns } from './lineage.ts'
import type { StorageHost } from './storage-host.ts'
import { openHost, temporaryStore } from './testing/store-under-test.ts'

/** Bytes in memory of a document that `create` makes. */
const HEAD_BYTES = FIXED_BYTES + JSON.stringify(noFacts).length + '[]'.length

let store: ReturnType<typeof temporaryStore>
let host: StorageHost
let read: number[]
let list: (workspaceId: string) => Promise<readonly DocumentHead[]>
let errors: string[]

beforeEach(async () => {
  store = temporaryStore()
  errors = []
  host = await openHost(store.url, { commitDelayMs: 0, log: { ...silentLogger, error: (event) => errors.push(event) } })
  read = []
  list = rememberingList(counting(host.heads))
})
afterEach(async () => {
  await host[Symbol.asyncDispose]()
  store.remove()
})

const counting = (lists: HeadLists): HeadLists => ({
  stamps: (workspaceId, since) => lists.stamps(workspaceId, since),
  heads(keys) {
    read.push(...keys)
    return lists.heads(keys)
  },
})
const create = async (id: string, workspaceId = 'w', nowMs = 1000) =>
  written(await host.documents.write(creation({ workspaceId, id }, '{}', { nowMs })))
const append = async (key: number) => {
  const afterSeq = await endOfLog(host.updates, key)
  return host.updates.append([{ key, afterSeq, actor: 'ada', atMs: 5, update: update(1) }])
}

it('[REST-21] a document list without changes since the last list reads no row', async () => {
  const heads = [await create('c', 'w', 3000), await create('b', 'w', 2000), await create('a', 'w', 2000)]
  expect(await list('w')).toEqual([heads[0], heads[2], heads[1]])
  expect(read.toSorted()).toEqual([1, 2, 3])
  expect(await list('w')).toEqual([heads[0], heads[2], heads[1]])
  expect(await list('other')).toEqual([])
  expect(read).toHaveLength(3)
})

it('[LIFE-11] a document list shows each kind of write and reads at most one row for it', async () => {
  const [a, b] = [await create('a'), await create('b')]
  await list('w')
  read = []
  const renamed = written(await host.documents.write(change(a, '{"n":1}')))
  expect(await list('w')).toEqual([renamed, b])
  const silently = written(await host.documents.write(change(b, '{"longer":1}', { bump: false })))
  expect(await list('w')).toEqual([renamed, silently])
  expect(read).toEqual([a.key, b.key])
  await append(b.key)
  expect(await list('w')).toEqual([renamed, { ...silently, lastSeq: 1 }])
  await host.documents.remove(a, a.key, 5000)
  expect(await list('w')).toEqual([{ ...silently, lastSeq: 1 }])
  expect(read).toHaveLength(2)
})

it('[REST-21] a document list shows a change of the lineage alone', async () => {
  const head = await create('a')
  await list('w')
  read = []
  const { lineage, lineage_crc32 } = lineageColumns({ workspace_id: 'w', id: 'a' }, 'another-lineage')
  const beside = new DatabaseSync(store.path)
  beside.prepare('update documents set lineage = ?, lineage_crc32 = ? where key = ?').run(lineage, lineage_crc32, head.key)
  beside.close()
  expect(await list('w')).toEqual([{ ...head, lineage: 'another-lineage' }])
  expect(read).toEqual([head.key])
  await list('w')
  expect(read).toEqual([head.key])
})

it('[REST-21] a list that is being read shows a changed document at its new place, and no deleted document', async () => {
  const [a, b, c] = [await create('a'), await create('b'), await create('c')]
  let meanwhile = async (): Promise<unknown> => undefined
  const racing = rememberingList({
    stamps: (workspaceId, since) => host.heads.stamps(workspaceId, since),
    async heads(keys) {
      await meanwhile()
      return host.heads.heads(keys)
    },
  })
  let moved: DocumentHead | null = null
  meanwhile = async () => {
    moved = written(await host.documents.write(change(c, '{"n":1}')))
    await host.documents.remove(b, b.key, 5000)
  }
  expect(await racing('w')).toEqual([moved, a])
})

it('[AG-63] [LIFE-11] lists requested while one is read share the next reading, which shows all writes before the requests', async () => {
  const a = await create('a')
  let readings = 0
  let held: Promise<void> | null = null
  const shared = rememberingList({
    async stamps(workspaceId, since) {
      readings++
      const stamps = await host.heads.stamps(workspaceId, since)
      await held
      return stamps
    },
    heads: (keys) => host.heads.heads(keys),
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  held = promise
  const first = shared('w')
  expect(readings).toBe(1)
  const b = await create('b')
  const later = [shared('w'), shared('w'), shared('w')]
  const other = shared('other')
  held = null
  resolve()
  expect(await first).toEqual([a])
  expect(await Promise.all(later)).toEqual(Array(3).fill([a, b]))
  expect(await other).toEqual([])
  expect(readings).toBe(3)
})

it('[AG-63] a document list that fails does not fail the lists requested meanwhile', async () => {
  const a = await create('a')
  let fails = true
  const failing = rememberingList({
    async stamps(workspaceId, since) {
      const stamps = await host.heads.stamps(workspaceId, since)
      if (!fails) return stamps
      fails = false
      throw new Error('the store cannot be read')
    },
    heads: (keys) => host.heads.heads(keys),
  })
  const [first, second] = await Promise.allSettled([failing('w'), failing('w')])
  expect(first).toMatchObject({ status: 'rejected' })
  expect(second).toEqual({ status: 'fulfilled', value: [a] })
  expect(await failing('w')).toEqual([a])
})

it('[REST-21] a list of thousands of documents is read in parts, and is complete above the memory limit', async () => {
  await Promise.all(Array.from({ length: 2300 }, (_, i) => create(`d${i}`, 'many', i)))
  const sizes: number[] = []
  const forgetful = rememberingList(
    {
      stamps: (workspaceId, since) => host.heads.stamps(workspaceId, since),
      heads(keys) {
        sizes.push(keys.length)
        return host.heads.heads(keys)
      },
    },
    2000 * HEAD_BYTES,
  )
  for (let i = 0; i < 2; i++) expect(await forgetful('many')).toEqual(await host.documents.list('many'))
  expect(sizes).toEqual([1000, 1000, 300, 1000, 1000, 300])
})

it('[REST-21] of several workspaces the list that was read longest ago is forgotten first', async () => {
  for (const workspace of ['w1', 'w2', 'w3']) for (const id of ['a', 'b']) await create(id, workspace)
  list = rememberingList(counting(host.heads), 4 * HEAD_BYTES)
  for (const workspace of ['w1', 'w2', 'w1', 'w3']) await list(workspace)
  read = []
  await list('w1')
  expect(read).toEqual([])
  await list('w2')
  expect(read).toHaveLength(2)
})

it('[LIFE-5] a row that is damaged later is left out of lists, and logged each time', async () => {
  const [a, b, c] = [await create('a'), await create('b'), await create('c')]
  await list('w')
  await host[Symbol.asyncDispose]()
  const db = new DatabaseSync(store.path)
  db.exec(`update documents set version = 9 where key = ${a.key}; delete from log_heads where key = ${b.key}`)
  db.close()
  host = await openHost(store.url, { log: { ...silentLogger, error: (event) => errors.push(event) } })
  for (let i = 0; i < 2; i++) expect(await host.documents.list('w')).toEqual([c])
  expect(errors).toEqual(Array(4).fill('storage.document-damaged'))
})
