import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import type { IndexedState } from '../../../search/search-index.port.ts'
import { startTcpProxy } from '../../../test/tcp-proxy.ts'
import { openPostgres } from '../postgres.ts'
import { onPostgres } from '../testing/on-postgres.ts'
import { openHost } from '../testing/store-under-test.ts'
import { dropSearchIndex } from './drop-index.ts'
import type { IndexWriter } from './index-engine.ts'
import { type IndexRow, hashOf } from './index-rows.ts'
import { openPostgresWriter } from './postgres-index.ts'
import { openSearchIndex } from './search-index.ts'

const rowsOf = (...words: readonly string[]): readonly IndexRow[] =>
  words.map((text) => ({ placeClass: 1, words: text, hash: hashOf(Buffer.from(text)) }))
const stateOf = (version: number): IndexedState => ({ key: 7, version, updatedAtMs: version * 1000, coveredSeq: 0 })
/** Returns a function whose first `size` callers wait for each other. */
function meeting(size: number): () => Promise<void> {
  const isComplete = Promise.withResolvers<void>()
  let missing = size
  return () => {
    if (--missing === 0) isComplete.resolve()
    return isComplete.promise
  }
}
const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

await onPostgres((url) =>
  describe('an index that two nodes fill', () => {
    async function openTwo(isShared: boolean) {
      await dropSearchIndex(url, silentLogger)
      const databases = await Promise.all([openPostgres(url, 0, silentLogger), openPostgres(url, 0, silentLogger)])
      let made = 0
      const writers = databases.map(({ writer }) => openPostgresWriter(writer, () => made++, isShared))
      const [{ reader }] = databases
      return {
        writers: writers as [IndexWriter, IndexWriter],
        /** How often a writer has made the tables. */
        timesMade: () => made,
        async rowCount(): Promise<number> {
          const { rows } = await sql<{ n: number }>`select count(*) as n from search_rows`.execute(reader)
          return rows[0]?.n ?? -1
        },
        /** How many statements on this database wait for a lock. */
        async waiting(): Promise<number> {
          const { rows } = await sql<{ n: number }>`
            select count(*) as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(reader)
          return rows[0]?.n ?? -1
        },
        [Symbol.asyncDispose]: async () => void (await Promise.all(databases.map((database) => database.close()))),
      }
    }

    it('[AG-64] two nodes that start at once make the tables of the index once', async () => {
      await using index = await openTwo(true)
      const found = await Promise.all(index.writers.map((writer) => writer.workspaces()))
      expect(found).toEqual([[], []])
      expect(index.timesMade()).toBe(1)
    })

    it('[AG-63] when both nodes write a document at once the index holds its later state once, whichever wrote first', async () => {
      await using index = await openTwo(true)
      const [a, b] = index.writers
      const many = Array.from({ length: 250 }, (_, n) => `word${n}`)
      for (let version = 1; version < 12; version += 2) {
        const [first, second] = version % 4 === 1 ? [a, b] : [b, a]
        await Promise.all([
          first.write('w', stateOf(version + 1), rowsOf(...many, `v${version + 1}`), turn),
          second.write('w', stateOf(version), rowsOf(...many, `v${version}`), turn),
        ])
        expect(await a.state({ workspaceId: 'w', key: 7 })).toEqual(stateOf(version + 1))
        expect(await index.rowCount()).toBe(251)
      }
      await b.write('w', stateOf(3), rowsOf('old'), turn)
      expect(await index.rowCount()).toBe(251)
      await Promise.all([a.remove('w', 7, turn), b.remove('w', 7, turn)])
      expect(await index.rowCount()).toBe(0)
    })

    it('[AG-64] when one node has rebuilt the index, the other node writes each workspace under its new number', async () => {
      await using index = await openTwo(true)
      const [a, b] = index.writers
      await a.write('first', { ...stateOf(1), key: 1 }, rowsOf('one'), turn)
      await b.write('second', { ...stateOf(1), key: 2 }, rowsOf('two'), turn)
      await a.clear()
      await a.write('second', { ...stateOf(2), key: 2 }, rowsOf('two'), turn)
      await b.write('second', { ...stateOf(1), key: 3 }, rowsOf('three'), turn)
      await b.write('first', { ...stateOf(2), key: 1 }, rowsOf('one'), turn)
      expect([...(await a.states('second')).keys()].sort()).toEqual([2, 3])
      expect([...(await a.states('first')).keys()]).toEqual([1])
    })

    it('[AG-63] [LIFE-26] a node that loses its network while it writes a document keeps other nodes from it for a few seconds', async () => {
      await using tables = await openTwo(true)
      await tables.writers[0].workspaces()
      await using host = await openHost(url)
      const text = JSON.stringify({ richTextPages: [{ id: 'p', name: 'P', content: '<p>medlar</p>' }] })
      const head = written(await host.documents.write(creation({ workspaceId: 'cut off', id: 'doc' }, text)))
      const server = new URL(url)
      await using proxy = await startTcpProxy({ host: server.hostname, port: Number(server.port || 5432) })
      const behind = new URL(url)
      behind.host = `127.0.0.1:${proxy.port}`
      await using lost = openSearchIndex({ url: behind.href, isShared: true, log: silentLogger })
      await using other = openSearchIndex({ url, isShared: true, log: silentLogger })
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => undefined)
      await client.connect()
      await client.query('begin; lock table search_documents in exclusive mode')
      const losing = lost.refresh([head])
      await expect.poll(tables.waiting, { timeout: 10_000 }).toBe(1)
      proxy.hold()
      await client.query('rollback')
      await client.end()

      const query = readQuery('medlar')
      if (isRefusal(query)) throw new Error(query.message)
      // A refresh whose wait for the lock was cut short is asked for again, as a search does.
      const found = async () => {
        await other.refresh([head])
        return other.find({ workspaceId: 'cut off', documents: [head], query, most: 10, withinMs: 2_000 })
      }
      try {
        await expect.poll(found, { timeout: 12_000 }).toMatchObject({ groups: [{ count: 1 }] })
      } finally {
        await proxy.down()
      }
      await losing
    })

    it('[AG-63] two writers without a shared index leave duplicate rows', async () => {
      await using index = await openTwo(false)
      const [a, b] = index.writers
      await a.workspaces()
      const many = Array.from({ length: 250 }, (_, n) => `word${n}`)
      // Each stops after its first rows until the other one is there too, so both have seen an empty index.
      const bothWrite = meeting(2)
      await Promise.all([a, b].map((writer) => writer.write('w', stateOf(1), rowsOf(...many), bothWrite)))
      expect(await index.rowCount()).toBeGreaterThan(250)
    })
  }),
)
