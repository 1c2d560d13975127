import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DocumentHead, DocumentRef } from '../../documents/document-store.port.ts'
import { change, creation, written } from '../../documents/testing/document-writes.ts'
import type { ChangeFeed, ChangeRow } from '../../feed/change-feed.port.ts'
import { type FeedReader, startFeedReader } from '../../feed/feed-reader.ts'
import type { FeedHints } from '../../feed/hints.port.ts'
import { type HintFate, troubledHints } from '../../feed/testing/hints.ts'
import { at } from '../../kernel/at.ts'
import { silentLogger } from '../../kernel/log.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'
import { systemTimers, type Timers } from '../../kernel/timers.ts'
import { startTcpProxy } from '../../test/tcp-proxy.ts'
import { openFeedStore } from './testing/feed-store.ts'
import { onPostgres } from './testing/on-postgres.ts'

/** The clock of the readers runs this many times faster than real time, so that 30 s take 1.5 s. */
const FAST = 20
const clock = { monotonicMs: () => performance.now() * FAST }
const timers: Timers = { after: (delayMs, run) => systemTimers.after(delayMs / FAST, run) }

type Store = Awaited<ReturnType<typeof openFeedStore>>

interface Node {
  readonly store: Store
  readonly seen: ChangeRow[]
  readonly reader: FeedReader
}

const opened: AsyncDisposable[] = []
afterEach(async () => {
  for (const resource of opened.splice(0).reverse()) await resource[Symbol.asyncDispose]()
})

async function openNode(url: string, hints: FeedHints | null = null, feedOf = (feed: ChangeFeed) => feed): Promise<Node> {
  const store = await openFeedStore(url, (entries) => {
    for (const { workspaceId, id } of entries) hints?.publish(workspaceId, id)
  })
  opened.push(store)
  const seen: ChangeRow[] = []
  const place = await store.changeFeed.begin()
  const table = feedOf(store.changeFeed)
  const reader = startFeedReader({ name: 'test', table, place, tell: (row) => seen.push(row), clock, timers, log: silentLogger })
  opened.push(reader)
  hints?.onHint((_, id) => reader.hint(id))
  return { store, seen, reader }
}

const idsOf = (rows: readonly ChangeRow[]) => rows.map(({ id }) => id)
const until = (done: () => void, timeoutMs = 8_000) => vi.waitFor(done, { timeout: timeoutMs, interval: 10 })
const create = async (store: Store, ref: DocumentRef = { workspaceId: 'w', id: randomUUID() }): Promise<DocumentHead> =>
  written(await store.documents.write(creation(ref, '{}', { told: { actor: 'ada' } })))

/** Opens a session that inserts feed rows directly, so that the test decides when they commit. */
async function openSession(
  url: string,
): Promise<{ query(text: string): Promise<pg.QueryResult>; insert(count?: number): Promise<number> }> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  opened.push({ [Symbol.asyncDispose]: () => client.end() })
  return {
    query: (text) => client.query(text),
    async insert(count = 1) {
      const payload = `convert_to('{"docId":"d","version":1}', 'utf8')`
      const { rows } = await client.query<{ id: string }>(
        `insert into change_feed (at_ms, workspace_id, key, kind, actor, seq, origin, payload)
         select (extract(epoch from clock_timestamp()) * 1000)::bigint, 'w', 1, 'edited', '', 0, 'by hand', ${payload}
         from generate_series(1, ${count}) returning id`,
      )
      return Number(rows[0]?.id)
    },
  }
}

await onPostgres((url) =>
  describe('two nodes on one database', () => {
    it.each<HintFate>(['given', 'doubled', 'reordered', 'lost', 'off'])(
      '[WS-51] each node delivers each row once, in the order of the commits of its document, with hints %s',
      async (fate) => {
        const hints = troubledHints(fate)
        const nodes = [await openNode(url, hints), await openNode(url, hints)]
        const [a, b] = nodes as [Node, Node]
        const documents = await Promise.all(Array.from({ length: 8 }, () => create(a.store)))
        // Each call writes to one document: transactions of two nodes that lock several documents may be rolled back.
        const writeOn = async ({ store }: Node): Promise<void> => {
          for (let done = 0; done < 12 * documents.length; ) {
            const state = await store.documents.state(at(documents, done % documents.length))
            if (state.kind !== 'document') throw new Error('gone')
            const outcome = await store.documents.write(change(state.head, '{"n":1}', { told: { actor: 'ada' } }))
            if (outcome.kind === 'written') done++
          }
        }
        await Promise.all([writeOn(a), writeOn(b)])
        const count = 8 * (1 + 2 * 12)
        await until(() => {
          for (const { seen } of nodes) expect(seen).toHaveLength(count)
        })
        await new Promise((resolve) => setTimeout(resolve, 250))
        for (const { seen } of nodes) {
          expect(new Set(idsOf(seen)).size).toBe(count)
          expect(seen).toHaveLength(count)
          for (const { key } of documents) {
            const versions = seen.flatMap((row) => (row.kind !== 'unknown' && row.key === key ? [row.version] : []))
            expect(versions).toEqual(Array.from({ length: 25 }, (_, n) => n + 1))
          }
          const own = seen.filter((row) => row.kind !== 'unknown' && row.isOwn)
          expect(own.length).toBeGreaterThan(90)
          expect(own.length).toBeLessThan(110)
        }
      },
    )

    it('[LIFE-27] a feed row that commits after rows with later ids is delivered when it commits', async () => {
      const { store, seen } = await openNode(url)
      const session = await openSession(url)
      await session.query('begin')
      const held = await session.insert()
      const later = [await create(store), await create(store)]
      await until(() => expect(seen).toHaveLength(2))
      expect(idsOf(seen).every((id) => id > held)).toBe(true)
      await session.query('commit')
      await until(() => expect(idsOf(seen)).toContain(held))
      expect(seen).toHaveLength(1 + later.length)
    })

    it('[LIFE-27] a feed reader that requests no missing ids loses a row that commits late', async () => {
      const byIdOrder = (feed: ChangeFeed): ChangeFeed => ({ ...feed, read: (request) => feed.read({ ...request, gaps: [] }) })
      const { store, seen } = await openNode(url, null, byIdOrder)
      const session = await openSession(url)
      await session.query('begin')
      const held = await session.insert()
      await create(store)
      await until(() => expect(seen).toHaveLength(1))
      await session.query('commit')
      await new Promise((resolve) => setTimeout(resolve, 500))
      expect(idsOf(seen)).not.toContain(held)
    })

    it('[LIFE-27] a row whose transaction was open for over 30 s is delivered, and ids of rollbacks are given up', async () => {
      const asked: number[] = []
      const counting = (feed: ChangeFeed): ChangeFeed => ({
        ...feed,
        read(request) {
          asked.push(request.gaps.length)
          return feed.read(request)
        },
      })
      const { store, seen } = await openNode(url, null, counting)
      const [long, undone] = [await openSession(url), await openSession(url)]
      await long.query('begin')
      // This transaction writes before it gets an id, as every call of the relay does that adds a feed row.
      await long.query(`insert into store_facts (name, value) values ('open', '1')`)
      const held = await long.insert()
      await undone.query('begin')
      await undone.insert()
      await undone.query('rollback')
      await create(store)
      await new Promise((resolve) => setTimeout(resolve, 2_500))
      expect(idsOf(seen)).toHaveLength(1)
      await long.query('commit')
      await until(() => expect(idsOf(seen)).toContain(held))
      await until(() => expect(asked.at(-1)).toBe(0))
    })

    it('[WS-51] a node gets the feed rows that commit after its start, also with lower ids, and no earlier rows', async () => {
      const first = await openNode(url)
      const session = await openSession(url)
      await create(first.store)
      await session.query('begin')
      const held = await session.insert()
      await create(first.store)
      const second = await openNode(url)
      await create(first.store)
      await session.query('commit')
      await until(() => expect(first.seen).toHaveLength(4))
      await until(() => expect(second.seen).toHaveLength(2))
      expect(idsOf(second.seen)).toEqual(expect.arrayContaining([held]))
      await new Promise((resolve) => setTimeout(resolve, 250))
      expect(second.seen).toHaveLength(2)
    })

    it('[LIFE-27] after 20 s without the database a node delivers every missed feed row once', async () => {
      const proxied = new URL(url)
      const proxy = await startTcpProxy({ host: proxied.hostname, port: Number(proxied.port || 5432) })
      opened.push(proxy)
      proxied.host = `127.0.0.1:${proxy.port}`
      const away = await openNode(proxied.href)
      const { store, seen } = await openNode(url)
      await create(store)
      await until(() => expect(away.seen).toHaveLength(1))
      await proxy.down()
      const session = await openSession(url)
      await session.query('begin')
      await session.insert()
      for (let n = 0; n < 20; n++) await create(store)
      await new Promise((resolve) => setTimeout(resolve, 20_000 / FAST))
      expect(away.seen).toHaveLength(1)
      expect(away.reader.lagSec()).toBeGreaterThan(15)
      await session.query('commit')
      await proxy.up()
      await until(() => expect(away.seen).toHaveLength(22))
      await until(() => expect(seen).toHaveLength(22))
      expect(new Set(idsOf(away.seen)).size).toBe(22)
      await until(() => expect(away.reader.lagSec()).toBeLessThan(10))
    })

    it('[LIFE-27] 2,000 feed rows a second, committed out of order, are delivered once each, within 2 s', async () => {
      const nodes = [await openNode(url), await openNode(url)]
      const sessions = await Promise.all(Array.from({ length: 8 }, () => openSession(url)))
      const inserting = stopwatch()
      // The sessions insert in real time; only the readers poll 20 times as often.
      await Promise.all(
        sessions.map(async (session, nth) => {
          for (let batch = 0; batch < 25; batch++) {
            await session.query('begin')
            await session.insert(25)
            await session.query(`select pg_sleep(${(((nth * 7 + batch) % 5) + 1) / 100})`)
            await session.query(batch % 10 === 9 ? 'rollback' : 'commit')
          }
        }),
      )
      const perSecond = (8 * 23 * 25) / (inserting() / 1000)
      const delivering = stopwatch()
      await until(() => {
        for (const { seen } of nodes) expect(seen).toHaveLength(8 * 23 * 25)
      })
      expect(delivering()).toBeLessThan(2_000)
      for (const { seen } of nodes) expect(new Set(idsOf(seen)).size).toBe(8 * 23 * 25)
      expect(perSecond).toBeGreaterThan(2_000)
    })
  }),
)
