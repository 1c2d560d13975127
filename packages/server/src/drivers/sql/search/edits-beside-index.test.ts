import { readFileSync, statSync } from 'node:fs'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { MessagePort, Worker } from 'node:worker_threads'
import { isRefusal } from '@docrelay/model/edit'
import { readQuery } from '@docrelay/model/search/query'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { change, creation, endOfLog, update, written } from '../../../documents/testing/document-writes.ts'
import { silentLogger } from '../../../kernel/log.ts'
import { manualTime } from '../../../kernel/testing/manual-time.ts'
import { createIndexFeed } from '../../../search/index-feed.ts'
import { emptyPostgres } from '../testing/emptied-postgres.ts'
import { onPostgres } from '../testing/on-postgres.ts'
import { openStorageHere } from '../testing/storage-here.ts'
import { temporaryStores } from '../testing/store-under-test.ts'
import { openSearchIndex } from './search-index.ts'

const ROUNDS = 3
const EDITS = 10
const TEXT = JSON.stringify({ name: 'quince', richTextPages: [{ id: 'p', name: 'P', content: '<p>medlar and rowan</p>' }] })

interface Counts {
  readonly statements: number
  /** Messages to and from the storage thread. */
  readonly storagePosts: number
  /** Frames of SQLite's write-ahead log; 0 for a server. */
  readonly walFrames: number
}

interface Counted {
  readonly edits: Counts
  /** Messages to the threads of the index. */
  readonly indexPosts: number
}

/** Counts calls of methods in this thread, which runs the store. The threads of the index are not counted. */
function counting() {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  const statements = (['all', 'get', 'run', 'iterate'] as const).map((name) => vi.spyOn(StatementSync.prototype, name))
  const posts = vi.spyOn(MessagePort.prototype, 'postMessage')
  const workerPosts = vi.spyOn(Worker.prototype, 'postMessage')
  const checkpoints = (): number =>
    statements.reduce(
      (sum, { mock }) =>
        sum + (mock.contexts as readonly StatementSync[]).filter(({ sourceSQL }) => sourceSQL.includes('(passive)')).length,
      0,
    )
  const callsOf = (spies: readonly { readonly mock: { readonly calls: readonly unknown[] } }[]): number =>
    spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  return {
    now: () => ({
      statements: callsOf([query, ...statements]),
      posts: callsOf([posts]),
      workerPosts: callsOf([workerPosts]),
      checkpoints: checkpoints(),
    }),
    [Symbol.dispose]: () => vi.restoreAllMocks(),
  }
}

const FRAME_BYTES = 4096 + 24
const framesOf = (path: string | null): number =>
  path === null ? 0 : Math.floor((statSync(`${path}-wal`).size - 32) / FRAME_BYTES)
/** Returns the salts in the header of SQLite's write-ahead log, which change when the log starts again from its beginning. */
const saltsOf = (path: string | null): string =>
  path === null ? '' : readFileSync(`${path}-wal`).subarray(16, 24).toString('hex')

/** Opens a reader that keeps SQLite from starting its log again, so that the length of the file tells the number of frames. Called after a write. */
function openPin(path: string | null): Disposable {
  if (path === null) return { [Symbol.dispose]: () => undefined }
  const db = new DatabaseSync(path)
  db.exec('begin; select count(*) from documents')
  return { [Symbol.dispose]: () => db.close() }
}

/** Edits new stores until one count is not disturbed by a checkpoint, which a pause of two seconds causes. */
async function countedEdits(openStore: () => Promise<string>, isIndexed: boolean): Promise<Counted> {
  for (;;) {
    const counted = await editedOnce(await openStore(), isIndexed)
    if (counted !== null) return counted
  }
}

/**
 * Edits a live document in rounds. With an index, the index takes in each round before the next one begins. Returns `null` when a checkpoint
 * disturbed the count.
 */
async function editedOnce(url: string, isIndexed: boolean): Promise<Counted | null> {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null
  await using storage = await openStorageHere({ url, commitDelayMs: 0, log: silentLogger })
  await using index = openSearchIndex({ url, log: silentLogger })
  const time = manualTime(0)
  using feed = createIndexFeed({ index, timers: time.timers })
  if (isIndexed) storage.onStored((document) => feed.stored({ ...document }))
  let head = written(await storage.documents.write(creation({ workspaceId: 'w', id: 'd' })))
  using _pin = openPin(path)
  const salts = saltsOf(path)
  if (isIndexed) await index.refresh([head])
  using count = counting()
  const sum = { statements: 0, storagePosts: 0, walFrames: 0 }
  let indexPosts = 0
  for (let round = 0; round < ROUNDS; round++) {
    const seq = await endOfLog(storage.updates, head.key)
    const before = { ...count.now(), frames: framesOf(path) }
    for (let edit = 0; edit < EDITS; edit++) {
      const record = { key: head.key, afterSeq: seq + edit, actor: 'ann', atMs: 1, update: update(0, 0) }
      await storage.updates.append([record])
    }
    const log = { kind: 'live', lastSeq: seq + EDITS, append: [] } as const
    head = written(await storage.documents.write(change(head, TEXT.replace('medlar', `medlar${round}`), { log })))
    const after = { ...count.now(), frames: framesOf(path) }
    if (after.checkpoints > before.checkpoints || saltsOf(path) !== salts) return null
    sum.statements += after.statements - before.statements
    sum.storagePosts += after.posts - before.posts
    sum.walFrames += after.frames - before.frames
    // The feed reports the changes of this round to the index now, in one message.
    await time.advance(1_000)
    indexPosts += count.now().workerPosts - before.workerPosts
    if (isIndexed) await index.refresh([head])
  }
  if (isIndexed) {
    const query = readQuery(`medlar${ROUNDS - 1}`)
    if (isRefusal(query)) throw new Error(query.message)
    const found = await index.find({ workspaceId: 'w', documents: [head], query, most: 10, withinMs: 60_000 })
    expect(found).toMatchObject({ groups: [{ count: 1 }], stale: [] })
  }
  return { edits: sum, indexPosts }
}

const fresh = temporaryStores()
const sqlite = async (): Promise<string> => fresh().url

describe('what edits cost beside a search index', () => {
  it('[AG-64] SQLite: edits take the same statements, messages to the storage thread and frames of the log with and without an index', async () => {
    const [without, beside] = [await countedEdits(sqlite, false), await countedEdits(sqlite, true)]
    expect(beside.edits).toEqual(without.edits)
    expect(Math.min(...Object.values(without.edits))).toBeGreaterThanOrEqual(ROUNDS * EDITS)
  })

  it('[AG-64] the search index gets one message for all edits of a second', async () => {
    const [without, beside] = [await countedEdits(sqlite, false), await countedEdits(sqlite, true)]
    expect([without.indexPosts, beside.indexPosts]).toEqual([0, ROUNDS])
  })
})

await onPostgres((url) => {
  const emptied = async (): Promise<string> => {
    await emptyPostgres(url)
    return url
  }

  /** Returns the triggers, indexes and references of all tables outside the search index. Each of them adds to what a statement writes. */
  async function attachedToStore(): Promise<readonly string[]> {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const { rows } = await client.query<{ name: string }>(`
        select name from (
          select tgrelid as of, tgname::text as name from pg_trigger
          union all select conrelid, conname from pg_constraint
          union all select indrelid, indexrelid::regclass::text from pg_index) as attached
        join pg_class on pg_class.oid = attached.of
        where relnamespace = 'public'::regnamespace and relname not like 'search\\_%' order by name`)
      return rows.map(({ name }) => name)
    } finally {
      await client.end()
    }
  }

  describe('what edits cost beside a search index on PostgreSQL', () => {
    it('[AG-64] PostgreSQL: edits take the same statements and messages to the storage thread with and without an index', async () => {
      const [without, beside] = [await countedEdits(emptied, false), await countedEdits(emptied, true)]
      expect(beside.edits).toEqual(without.edits)
      expect(Math.min(without.edits.statements, without.edits.storagePosts)).toBeGreaterThanOrEqual(ROUNDS * EDITS)
    })

    it('[AG-64] PostgreSQL: the index adds no trigger, index or reference to the tables of the store, so edits log the same pages', async () => {
      await emptied()
      await using index = openSearchIndex({ url, log: silentLogger })
      await index.rebuild()
      const beside = await attachedToStore()
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query(`select 1 from pg_class where relname = 'search_rows'`)
      await client.query('drop table search_facts, search_rows, search_documents, search_workspaces cascade')
      await client.end()
      expect(rows).toHaveLength(1)
      expect(await attachedToStore()).toEqual(beside)
      expect(beside.length).toBeGreaterThan(0)
    })
  })
})
