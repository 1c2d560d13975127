import { randomUUID } from 'node:crypto'
import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { creation, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import type { IndexedState } from '../../../search/search-index.port.ts'
import { startTcpProxy } from '../../../test/tcp-proxy.ts'
import type { Database } from '../engine.ts'
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
const stateOf = (key: number, version: number): IndexedState => ({ key, version, updatedAtMs: version * 1000, coveredSeq: 0 })
/** Returns a function. Its first `size` callers wait until all of them have called it. */
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
      const host = await openHost(url)
      const databases = await Promise.all([openPostgres(url, 0, silentLogger), openPostgres(url, 0, silentLogger)])
      let made = 0
      const writers = databases.map(({ writer }) => openPostgresWriter(writer, () => made++, isShared))
      const [{ reader }] = databases
      return {
        writers: writers as [IndexWriter, IndexWriter],
        databases: databases as [Database, Database],
        documents: host.documents,
        /** Creates a document and returns its key, because a shared index takes in only stored documents. */
        async stored(): Promise<number> {
          return written(await host.documents.write(creation({ workspaceId: 'w', id: randomUUID() }))).key
        },
        /** How often a writer has created the tables. */
        timesMade: () => made,
        async rowCount(): Promise<number> {
          const { rows } = await sql<{ n: number }>`select count(*) as n from search_rows`.execute(reader)
          return rows[0]?.n ?? -1
        },
        /** Returns how many statements on this database wait for a lock. */
        async waiting(): Promise<number> {
          const { rows } = await sql<{ n: number }>`
            select count(*) as n from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`.execute(reader)
          return rows[0]?.n ?? -1
        },
        async [Symbol.asyncDispose]() {
          await Promise.all(databases.map((database) => database.close()))
          await host[Symbol.asyncDispose]()
        },
      }
    }

    it('[AG-64] two nodes that start at once create the tables of the search index once', async () => {
      await using index = await openTwo(true)
      const found = await Promise.all(index.writers.map((writer) => writer.workspaces()))
      expect(found).toEqual([[], []])
      expect(index.timesMade()).toBe(1)
    })

    it('[AG-63] when two nodes write a document at once, the index has the rows of its later state once', async () => {
      await using index = await openTwo(true)
      const [a, b] = index.writers
      const key = await index.stored()
      const many = Array.from({ length: 250 }, (_, n) => `word${n}`)
      for (let version = 1; version < 12; version += 2) {
        const [first, second] = version % 4 === 1 ? [a, b] : [b, a]
        await Promise.all([
          first.write('w', stateOf(key, version + 1), rowsOf(...many, `v${version + 1}`), turn),
          second.write('w', stateOf(key, version), rowsOf(...many, `v${version}`), turn),
        ])
        expect(await a.state({ workspaceId: 'w', key })).toEqual(stateOf(key, version + 1))
        expect(await index.rowCount()).toBe(251)
      }
      await b.write('w', stateOf(key, 3), rowsOf('old'), turn)
      expect(await index.rowCount()).toBe(251)
      await Promise.all([a.remove('w', key, turn), b.remove('w', key, turn)])
      expect(await index.rowCount()).toBe(0)
    })

    it('[AG-64] after one node has rebuilt the index, the other node writes each workspace under its new number', async () => {
      await using index = await openTwo(true)
      const [a, b] = index.writers
      const [one, two, three] = [await index.stored(), await index.stored(), await index.stored()]
      await a.write('first', stateOf(one, 1), rowsOf('one'), turn)
      await b.write('second', stateOf(two, 1), rowsOf('two'), turn)
      await a.clear()
      await a.write('second', stateOf(two, 2), rowsOf('two'), turn)
      await b.write('second', stateOf(three, 1), rowsOf('three'), turn)
      await b.write('first', stateOf(one, 2), rowsOf('one'), turn)
      expect(new Set((await a.states('second')).keys())).toEqual(new Set([two, three]))
      expect([...(await a.states('first')).keys()]).toEqual([one])
    })

    it('[AG-59] a node that is late with writing a document does not bring it back after its deletion by another node', async () => {
      await using index = await openTwo(true)
      const [a, b] = index.writers
      const head = written(await index.documents.write(creation({ workspaceId: 'w', id: 'deleted' })))
      await a.write('w', stateOf(head.key, 1), rowsOf('quince'), turn)
      await index.documents.remove(head, head.key, 2_000)
      await b.remove('w', head.key, turn)
      await a.write('w', stateOf(head.key, 2), rowsOf('quince', 'medlar'), turn)
      expect([await index.rowCount(), await a.state({ workspaceId: 'w', key: head.key })]).toEqual([0, null])
    })

    it('[AG-64] a document that is being indexed delays no seats of a workspace whose id equals the key of the document', async () => {
      await using index = await openTwo(true)
      const [a] = index.writers
      const [, { engine, writer }] = index.databases
      const key = await index.stored()
      const [isWriting, maySeat] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const writing = a.write('w', stateOf(key, 1), rowsOf('quince'), () => {
        isWriting.resolve()
        return maySeat.promise
      })
      await isWriting.promise
      const seating = writer.transaction().execute(async (on) => {
        await engine.lockSeats(on, [String(key)])
        return 'counted'
      })
      let isOver = false
      const waits = async (): Promise<string> => {
        while (!isOver && (await index.waiting()) === 0) await turn()
        return 'waits'
      }
      try {
        expect(await Promise.race([seating, waits()])).toBe('counted')
      } finally {
        isOver = true
        maySeat.resolve()
        await Promise.all([writing, seating])
      }
    })

    it('[AG-63] [LIFE-26] a node that loses its network while indexing a document blocks it for other nodes only for seconds', async () => {
      await using tables = await openTwo(true)
      await tables.writers[0].workspaces()
      const text = JSON.stringify({ richTextPages: [{ id: 'p', name: 'P', content: '<p>medlar</p>' }] })
      const head = written(await tables.documents.write(creation({ workspaceId: 'cut off', id: 'doc' }, text)))
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
      // Requests the document again each time, as a search does, because a refresh may give up waiting for the lock.
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
      // Each writer pauses after its first rows until the other one is there too, so both have seen an empty index.
      const bothWrite = meeting(2)
      await Promise.all([a, b].map((writer) => writer.write('w', stateOf(7, 1), rowsOf(...many), bothWrite)))
      expect(await index.rowCount()).toBeGreaterThan(250)
    })
  }),
)
