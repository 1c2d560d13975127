import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodyOf, change, creation, endOfLog, textOf, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import type { ArchivedTable } from '../../backup/store-archive.port.ts'
import { connect, openDatabase } from './database.ts'
import { openStoredContents } from './inspect-store.ts'
import type { StorageHost } from './storage-host.ts'
import { openStoreSource } from './store-source.ts'
import { openPostgresUnderTest, type PostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost } from './testing/store-under-test.ts'

const probe = await openPostgresUnderTest()
if (typeof probe === 'string') process.stderr.write(`skipped: ${probe}\n`)

describe.skipIf(typeof probe === 'string')('several nodes on one PostgreSQL', () => {
  const server = probe as PostgresUnderTest
  const nodes: StorageHost[] = []
  const node = (i: number): StorageHost => {
    const host = nodes[i % nodes.length]
    if (host === undefined) throw new Error('no node')
    return host
  }
  beforeAll(async () => {
    // The nodes start at the same time, as those of a new installation may.
    nodes.push(...(await Promise.all([1, 2, 3].map(() => openHost(server.url)))))
  })
  afterAll(async () => {
    for (const host of nodes) await host[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })
  const create = async (id: string, workspaceId = 'w') => written(await node(0).documents.write(creation({ workspaceId, id })))

  it('[LIFE-25] [LIFE-26] of several nodes that append after one sequence one succeeds, without gaps in the log', async () => {
    const keys = [(await create('seq-1')).key, (await create('seq-2')).key]
    const winners = new Map(keys.map((key) => [key, 0]))
    for (let afterSeq = 0; afterSeq < 90; afterSeq++) {
      const calls = Array.from({ length: 3 }, (_, i) =>
        // Every other node appends in reverse order, so that two nodes lock the same rows in different orders.
        node(i).updates.append(
          (i % 2 === 0 ? keys : [...keys].reverse()).map((key) => ({
            key,
            afterSeq,
            actor: `node ${i}`,
            atMs: i,
            update: update(i),
          })),
        ),
      )
      for (const [i, outcomes] of (await Promise.all(calls)).entries()) {
        for (const [at, { kind }] of outcomes.entries()) {
          const key = (i % 2 === 0 ? keys : [...keys].reverse())[at] as number
          if (kind === 'appended') winners.set(key, (winners.get(key) ?? 0) + 1)
          else expect(kind).toBe('conflict')
        }
      }
    }
    for (const key of keys) {
      expect(winners.get(key)).toBe(90)
      const log = await node(1).updates.load(key)
      expect(log.kind === 'loaded' && log.records.map(({ seq }) => seq)).toEqual(Array.from({ length: 90 }, (_, i) => i + 1))
    }
  })

  it('[LIFE-12] [LIFE-25] of several nodes that write the same version of a document one succeeds', async () => {
    const head = await create('race')
    const outcomes = await Promise.all(Array.from({ length: 18 }, (_, i) => node(i).documents.write(change(head, `{"by":${i}}`))))
    const winner = outcomes.findIndex((outcome) => outcome.kind === 'written')
    expect(outcomes.map((outcome) => outcome.kind).sort()).toEqual([...Array(17).fill('conflict'), 'written'])
    expect(textOf((await node(2).documents.read(head))?.body)).toBe(`{"by":${winner}}`)
    const creations = await Promise.all(
      Array.from({ length: 9 }, (_, i) => node(i).documents.write(creation({ workspaceId: 'w', id: 'born' }))),
    )
    expect(creations.map((outcome) => outcome.kind).sort()).toEqual([...Array(8).fill('conflict'), 'written'])
  })

  it('[TOOL-22] a request id writes once, on whichever nodes and for whichever documents it arrives', async () => {
    const once = { request: 'everywhere', digest: 'd', sinceMs: 0 }
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, i) => {
        const given = creation({ workspaceId: 'once', id: `once-${i}` }, '{}', { once: { ...once, answer: `{"id":${i}}` } })
        return node(i).documents.write(given)
      }),
    )
    const winner = outcomes.findIndex((outcome) => outcome.kind === 'written')
    const first = { digest: 'd', answer: `{"id":${winner}}`, version: 1 }
    expect(outcomes.toSpliced(winner, 1)).toEqual(Array(11).fill({ kind: 'repeated', first }))
    expect((await node(0).documents.list('once')).map(({ id }) => id)).toEqual([`once-${winner}`])
  })

  it('[LIFE-16] writes on several nodes together never exceed a quota', async () => {
    const writes = Array.from({ length: 30 }, (_, i) =>
      node(i).documents.write(
        creation({ workspaceId: 'full', id: `q${i}` }, '', {
          set: { ownerId: 'ada', ownerName: 'Ada', body: bodyOf('1234567890') },
          quotaBytes: 75,
        }),
      ),
    )
    const kinds = (await Promise.all(writes)).map((outcome) => outcome.kind)
    expect(kinds.filter((kind) => kind === 'written')).toHaveLength(7)
    expect(await node(1).documents.usedBytes('full')).toBe(70)
  })

  it('[LIFE-23] an append on one node and a deletion on another leave no records behind', async () => {
    for (let round = 0; round < 5; round++) {
      const head = await create(`gone-${round}`)
      const record = { key: head.key, afterSeq: 0, actor: 'ada', atMs: 1, update: update(1) }
      const [, removed] = await Promise.all([
        node(1).updates.append([record, { ...record, afterSeq: 1 }]),
        node(2).documents.remove(head, head.key, 5),
      ])
      expect(removed.kind).toBe('removed')
      expect(await node(1).updates.append([record])).toEqual([{ kind: 'gone' }])
    }
    const database = await openDatabase(server.url, { synchronous: 'FULL' }, silentLogger)
    const { rows } = await sql<{
      n: number
    }>`select count(*) as n from updates where key not in (select key from documents)`.execute(database.writer)
    await database.close()
    expect(rows).toEqual([{ n: 0 }])
  })

  it('[LIFE-6] calls that lose their connection are not confirmed, and later calls reconnect', async () => {
    const head = await create('cut')
    const record = (afterSeq: number) => ({ key: head.key, afterSeq, actor: 'ada', atMs: 1, update: update(1) })
    const database = await openDatabase(server.url, { synchronous: 'FULL' }, silentLogger)
    const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
    let confirmed = 0
    for (let round = 0; round < 5; round++) {
      const from = await endOfLog(node(round).updates, head.key).catch(() => confirmed)
      const calls = Array.from({ length: 20 }, (_, i) => node(round).updates.append([record(from + i)]))
      const [results] = await Promise.all([Promise.allSettled(calls), cut.execute(database.writer)])
      for (const result of results) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'NOT_PERSISTED' })
        else if (result.value[0]?.kind === 'appended') confirmed++
      }
    }
    await database.close()
    for (const host of nodes)
      await expect
        .poll(() =>
          host.ping().then(
            () => 'well',
            () => 'ill',
          ),
        )
        .toBe('well')
    const log = await node(0).updates.load(head.key)
    const stored = log.kind === 'loaded' ? log.records.length : -1
    expect(stored).toBeGreaterThanOrEqual(confirmed)
    expect(await node(1).updates.append([record(stored)])).toEqual([{ kind: 'appended', seq: stored + 1 }])
  })
})

async function allOf<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

it.skipIf(typeof probe === 'string')(
  '[OPS-9] [OPS-11] tools keep their connection while they or the server work for longer than 10 s',
  async () => {
    const server = await openPostgresUnderTest()
    if (typeof server === 'string') throw new Error(server)
    await using _ = server
    const host = await openHost(server.url)
    written(await host.documents.write(creation({ workspaceId: 'w', id: 'doc' })))
    await host[Symbol.asyncDispose]()
    await using source = await openStoreSource(server.url, silentLogger)
    await using contents = await openStoredContents(server.url, silentLogger)
    const database = await connect(server.url, { synchronous: 'FULL' }, silentLogger)
    const longMs = 11_000
    const copied = source.atOneMoment(async ({ layout, rows }) => {
      // Waits as long as the flush of a large file may take.
      await sleep(longMs)
      const documents = layout.tables.filter(({ name }) => name === 'documents')
      return documents.length === 1 && (await allOf(rows(documents[0] as ArchivedTable))).length
    })
    const checked: string[] = []
    const verified = contents.eachDocument(async ({ id, points }) => {
      await sleep(longMs)
      checked.push(id, ...(await allOf(points())).map(({ pointId }) => pointId))
    })
    const stepped = sql`select pg_sleep(${longMs / 1000})`.execute(database.writer)
    try {
      expect(await Promise.allSettled([copied, verified, stepped.then(({ rows }) => rows.length)])).toEqual([
        { status: 'fulfilled', value: 1 },
        { status: 'fulfilled', value: undefined },
        { status: 'fulfilled', value: 1 },
      ])
      expect(checked).toEqual(['doc'])
    } finally {
      await database.close()
    }
  },
)

it.skipIf(typeof probe === 'string')('[LIFE-1] a commit waits for the flush although the server is set not to', async () => {
  const server = await openPostgresUnderTest()
  if (typeof server === 'string') throw new Error(server)
  await using _ = server
  const set = await openDatabase(server.url, { synchronous: 'FULL' }, silentLogger)
  await sql.raw(`alter database ${new URL(server.url).pathname.slice(1)} set synchronous_commit = off`).execute(set.writer)
  await set.close()
  const database = await openDatabase(server.url, { synchronous: 'FULL' }, silentLogger)
  const { rows } = await sql<{ value: string }>`select current_setting('synchronous_commit') as value`.execute(database.writer)
  await database.close()
  expect(rows).toEqual([{ value: 'on' }])
})
