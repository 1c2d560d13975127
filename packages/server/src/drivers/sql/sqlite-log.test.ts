import { fork } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { patience } from '../../kernel/testing/patience.ts'
import type { AppendRecord } from '../../sync/update-log.port.ts'
import { openStoredContents } from './inspect-store.ts'
import { MOST_RECENT } from './sqlite-log.ts'
import type { StorageHost } from './storage-host.ts'
import { openStoreSource } from './store-source.ts'
import { byteOf } from './testing/log-bytes.ts'
import type { Ends } from './testing/log-writer.ts'
import { openHost, temporaryStores } from './testing/store-under-test.ts'

const newStore = temporaryStores()
const FRAME_BYTES = 4096 + 24
/** Records per document in one call, so that a test with thousands of records makes few commits. */
const BURST = 256

const through = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i)

async function newDocuments(host: StorageHost, count: number): Promise<number[]> {
  const keys: number[] = []
  for (let i = 0; i < count; i++)
    keys.push(written(await host.documents.write(creation({ workspaceId: 'w', id: `doc-${i}` }))).key)
  return keys
}

const recordOf = (key: number, seq: number, bytes = update(byteOf(key, seq))): AppendRecord => ({
  key,
  afterSeq: seq - 1,
  actor: 'ada',
  atMs: 5,
  update: bytes,
})

/** Appends the records `first` to `last` of every document. */
async function appendAll(host: StorageHost, keys: readonly number[], first: number, last: number): Promise<void> {
  for (let start = first; start <= last; start += BURST) {
    const seqs = through(Math.min(start + BURST - 1, last), start)
    for (const key of keys) {
      const outcomes = await host.updates.append(seqs.map((seq) => recordOf(key, seq)))
      expect(outcomes.every(({ kind }) => kind === 'appended')).toBe(true)
    }
  }
}

/** Appends to a separate document until all recent records have moved. */
async function letMove(host: StorageHost, id = 'mover'): Promise<void> {
  const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id })))
  await appendAll(host, [key], 1, MOST_RECENT)
}

async function seqsOf(host: StorageHost, key: number): Promise<number[]> {
  const log = await host.updates.load(key)
  if (log.kind !== 'loaded') throw new Error(JSON.stringify(log))
  for (const { seq, update: bytes } of log.records) if (bytes.length === 1) expect(bytes[0]).toBe(byteOf(key, seq))
  return log.records.map(({ seq }) => seq)
}

function onFile<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const rowsIn = (path: string, table: string, where = '') =>
  onFile(path, (db) => Number(db.prepare(`select count(*) as n from ${table} ${where}`).get()?.['n']))

describe('records of the log on SQLite', () => {
  it('[LIFE-7] a commit of one edit in each of 36 documents writes fewer than ten pages on average, including moves', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const keys = await newDocuments(host, 108)
    await appendAll(host, keys, 1, 60)
    const edited = keys.filter((_, i) => i % 3 === 0)
    const before = statSync(`${path}-wal`).size
    // Appends more than 4,096 records, so that recent records move at least once.
    for (let seq = 61; seq <= 180; seq++) await host.updates.append(edited.map((key) => recordOf(key, seq)))
    const pages = (statSync(`${path}-wal`).size - before) / FRAME_BYTES / 120
    expect(pages).toBeGreaterThan(2)
    expect(pages).toBeLessThan(10)
  })

  it('[LIFE-5] a log is read in order whether its records are recent, moved or long', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const keys = await newDocuments(host, 3)
    const [first = 0] = keys
    await appendAll(host, keys, 1, 40)
    await host.updates.append([recordOf(first, 41, new Uint8Array(5000))])
    await letMove(host)
    await host.updates.append([recordOf(first, 42), recordOf(first, 43, new Uint8Array(600)), recordOf(first, 44)])
    expect(rowsIn(path, 'updates_recent', `where key = ${first}`)).toBe(2)
    expect(await seqsOf(host, first)).toEqual(through(44))
    expect((await host.updates.after(first, 40)).map(({ seq }) => seq)).toEqual([41, 42, 43, 44])
    for (const key of keys.slice(1)) expect(await seqsOf(host, key)).toEqual(through(40))
  })

  it('[LIFE-7] at most a few thousand log records are recent, however many are appended', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const keys = await newDocuments(host, 2)
    await appendAll(host, keys, 1, 2 * MOST_RECENT)
    expect(rowsIn(path, 'updates_recent')).toBeLessThan(MOST_RECENT)
    expect(rowsIn(path, 'updates')).toBe(4 * MOST_RECENT)
  })

  it('[LIFE-30] recent log records move before they belong to more than 2,048 documents', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const heads = await Promise.all(
      through(2048).map(async (i) => written(await host.documents.write(creation({ workspaceId: 'w', id: `doc-${i}` })))),
    )
    await host.updates.append(heads.slice(1).map(({ key }) => recordOf(key, 1)))
    expect(rowsIn(path, 'updates_recent')).toBe(2047)
    await host.updates.append(heads.slice(0, 1).map(({ key }) => recordOf(key, 1)))
    expect([rowsIn(path, 'updates_recent'), rowsIn(path, 'updates_settled')]).toEqual([0, 2048])
  })

  it('[LIFE-7] a compaction of a log removes its records from both tables', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const [key = 0] = await newDocuments(host, 1)
    await appendAll(host, [key], 1, 10)
    await letMove(host)
    await appendAll(host, [key], 11, 20)
    const compact = (throughSeq: number) => host.updates.compact(key, { update: update(1), stateVector: update(2), throughSeq })
    expect(await compact(15)).toBe('stored')
    expect(await compact(18)).toBe('stored')
    expect(rowsIn(path, 'updates_settled', `where key = ${key}`)).toBe(0)
    expect(rowsIn(path, 'updates_recent', `where key = ${key}`)).toBe(5)
    expect(await seqsOf(host, key)).toEqual([19, 20])
  })

  it('[LIFE-23] a deleted document leaves no log record, and a new document with its id begins with an empty log', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const [key = 0, other = 0] = await newDocuments(host, 2)
    await appendAll(host, [key, other], 1, 10)
    await letMove(host)
    await appendAll(host, [key, other], 11, 20)
    await host.documents.remove({ workspaceId: 'w', id: 'doc-0' }, key, 1)
    expect(rowsIn(path, 'updates', `where key = ${key}`)).toBe(0)
    const again = written(
      await host.documents.write(
        creation({ workspaceId: 'w', id: 'doc-0' }, '{}', { expect: { kind: 'tombstone', lastServerVersion: 1 } }),
      ),
    )
    expect(await seqsOf(host, again.key)).toEqual([])
    await appendAll(host, [again.key], 1, 3)
    await letMove(host, 'another mover')
    expect(await seqsOf(host, again.key)).toEqual([1, 2, 3])
    expect(await seqsOf(host, other)).toEqual(through(20))
  })

  it('[YDOC-11] when a log is rebuilt, its former records from both tables are kept aside', async () => {
    const { url, path } = newStore()
    await using host = await openHost(url)
    const [key = 0] = await newDocuments(host, 1)
    await appendAll(host, [key], 1, 2)
    await letMove(host)
    await appendAll(host, [key], 3, 4)
    const rebuilt = { lastSeq: 4, update: update(1), stateVector: update(0), detail: 'a test', nowMs: 1 }
    expect(await host.updates.rebuild(key, rebuilt)).toBe('rebuilt')
    expect(onFile(path, (db) => db.prepare('select seq from set_aside order by seq').all())).toEqual(
      [1, 2, 3, 4].map((seq) => ({ seq })),
    )
    expect(rowsIn(path, 'updates', `where key = ${key}`)).toBe(0)
  })

  it('[LIFE-5] a missing recent log record is noticed, and other documents can be read', async () => {
    const { url, path } = newStore()
    const host = await openHost(url)
    const [hurt = 0, whole = 0] = await newDocuments(host, 2)
    await appendAll(host, [hurt, whole], 1, 9)
    await host[Symbol.asyncDispose]()
    onFile(path, (db) => db.exec(`delete from updates_recent where key = ${hurt} and seq = 5`))
    await using again = await openHost(url)
    expect(await again.updates.load(hurt)).toMatchObject({ kind: 'damaged', safeThroughSeq: 4 })
    expect(await seqsOf(again, whole)).toEqual(through(9))
  })

  it('[LIFE-5] a log with two records of one seq is damaged, and recent records of other documents still move', async () => {
    const { url, path } = newStore()
    const host = await openHost(url)
    const [hurt = 0, whole = 0] = await newDocuments(host, 2)
    await appendAll(host, [hurt, whole], 1, 9)
    await host[Symbol.asyncDispose]()
    onFile(path, (db) => db.exec(`insert into updates values (${hurt}, 5, 'eve', 1, 2, x'03', null)`))
    await using again = await openHost(url)
    await letMove(again)
    await letMove(again, 'another mover')
    expect(onFile(path, (db) => db.prepare('select key, seq from updates_recent where key in (?, ?)').all(hurt, whole))).toEqual([
      { key: hurt, seq: 5 },
    ])
    expect(await again.updates.load(hurt)).toMatchObject({ kind: 'damaged', detail: expect.stringContaining('record 5') })
    expect(await seqsOf(again, whole)).toEqual(through(9))
    await using contents = await openStoredContents(url, silentLogger)
    await contents.eachDocument(async ({ id, problems, readable }) => {
      if (id !== 'doc-0') return
      expect(problems).toContain('record 5 is there twice')
      expect(readable.throughSeq).toBe(9)
    })
  })
})

describe('other programs that use the file', () => {
  it('[OPS-9] [OPS-11] a backup and verify beside a running relay find every record while recent ones move', async () => {
    const { url } = newStore()
    await using host = await openHost(url)
    const keys = await newDocuments(host, 4)
    await appendAll(host, keys, 1, 1000)
    const ends = new Map(keys.map((key) => [key, 1000]))
    let looks = 0
    const look = async (): Promise<void> => {
      await using contents = await openStoredContents(url, silentLogger)
      await contents.eachDocument(async ({ problems, head, tail }) => {
        expect([problems, tail?.length]).toEqual([[], head?.lastSeq])
        looks++
      })
      for await (const problem of contents.problems()) expect(problem).toBe('')
      await using source = await openStoreSource(url, silentLogger)
      await source.atOneMoment(async ({ layout, rows }) => {
        const tables = layout.tables.filter(({ name }) => name.startsWith('updates'))
        expect(tables).toEqual([
          {
            name: 'updates',
            columns: ['key', 'seq', 'actor', 'at_ms', 'crc32', 'bytes'],
            binary: ['bytes'],
            identity: null,
          },
        ])
        const heads = layout.tables.find(({ name }) => name === 'log_heads')
        let [records, expected] = [0, 0]
        for (const table of tables) for await (const _ of rows(table)) records++
        if (heads !== undefined) for await (const row of rows(heads)) expected += Number(row[heads.columns.indexOf('last_seq')])
        expect(records).toBe(expected)
        expect(expected).toBeGreaterThanOrEqual(4000)
      })
    }
    let isDone = false
    const writing = (async () => {
      for (let moved = 0; !isDone || moved < 3; moved++) {
        for (const [key, last] of ends) {
          await appendAll(host, [key], last + 1, last + BURST)
          ends.set(key, last + BURST)
        }
      }
    })()
    for (let i = 0; i < 3; i++) await look()
    isDone = true
    await writing
    expect(looks).toBe(12)
  })

  it('[LIFE-29] a program that knows the log as one table can read, append, change and remove log records', async () => {
    const { url, path } = newStore()
    const host = await openHost(url)
    const [key = 0] = await newDocuments(host, 1)
    await appendAll(host, [key], 1, 4)
    await letMove(host)
    await appendAll(host, [key], 5, 8)
    await host[Symbol.asyncDispose]()
    onFile(path, (db) => {
      const seqs = () =>
        db
          .prepare('select seq from updates where key = ? and seq > ? order by seq')
          .all(key, 0)
          .map(({ seq }) => seq)
      expect(seqs()).toEqual(through(8))
      const insert = db.prepare('insert into updates (key, seq, actor, at_ms, crc32, bytes) values (?, ?, ?, ?, ?, ?)')
      insert.run(key, 9, 'ada', 5, 1, update(7))
      expect(() => insert.run(key, 9, 'ada', 5, 1, update(7))).toThrow('UNIQUE')
      db.exec(`update updates set actor = 'bob' where key = ${key} and seq in (2, 6)`)
      db.exec(`delete from updates where key = ${key} and seq in (1, 5)`)
      expect(seqs()).toEqual([2, 3, 4, 6, 7, 8, 9])
      expect(db.prepare("select seq from updates where actor = 'bob' order by seq").all()).toEqual([{ seq: 2 }, { seq: 6 }])
    })
  })
})

describe('kill -9 while recent records move', () => {
  it('[LIFE-3] [LIFE-5] after each of six kills every confirmed record can be read', { timeout: patience(60_000) }, async () => {
    const { url, path } = newStore()
    const script = fileURLToPath(new URL('./testing/log-writer.ts', import.meta.url))
    let ends: Ends = []
    for (let round = 0; round < 6; round++) {
      const child = fork(script, [url, '40'], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
      const ended = once(child, 'exit')
      // A move happens after every 26 commits, so the kills hit it at different steps.
      let commits = 0
      const isDue = new Promise<void>((resolve) => {
        child.on('message', (message: Ends) => {
          ends = message
          if (++commits === 24 + round) resolve()
        })
      })
      await Promise.race([isDue, ended])
      await sleep(round)
      child.kill('SIGKILL')
      expect((await ended)[1]).toBe('SIGKILL')
      await using host = await openHost(url)
      for (const [key, lastSeq] of ends) {
        const seqs = await seqsOf(host, key)
        expect(seqs).toEqual(through(seqs.length))
        expect(seqs.length).toBeGreaterThanOrEqual(lastSeq)
      }
    }
    expect(ends.length).toBe(40)
    expect(rowsIn(path, 'updates_settled')).toBeGreaterThan(0)
  })
})
