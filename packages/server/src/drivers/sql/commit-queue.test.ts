import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, describe, expect, it } from 'vitest'
import { change, creation, update, written } from '../../documents/testing/document-writes.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { type ManualTime, manualTime } from '../../kernel/testing/manual-time.ts'
import { waitingTimers } from '../../kernel/timers.ts'
import { CallTallies } from './call-tallies.ts'
import { COMMIT_AT_BYTES, COMMIT_AT_RECORDS, CommitQueue } from './commit-queue.ts'
import { openDatabase } from './database.ts'
import { sqlDocuments } from './documents.ts'
import type { AppendOutcome, UpdateLog } from '../../sync/update-log.port.ts'
import type { Database, Fault } from './engine.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { temporaryStore } from './testing/store-under-test.ts'
import { openLongBodies } from './long-bodies.ts'
import { DEFAULT_RECOVERY_RING } from './recovery-ring.ts'
import type { Capturing } from './recovery-capture.ts'
import { appendingAtOnce, appendTo, sqlUpdates } from './updates.ts'

const LONG_MS = 300

const capturingFrom = ({ engine, reader }: Database): Capturing => ({
  engine,
  ring: DEFAULT_RECOVERY_RING,
  longBodies: openLongBodies(reader),
  log: silentLogger,
  random: systemRandom,
  tallies: new CallTallies(),
})

interface Bench {
  readonly database: Database
  readonly queue: CommitQueue
  readonly fatal: Error[]
  readonly updates: UpdateLog
  append(key: number, actor?: string, bytes?: Uint8Array): Promise<readonly AppendOutcome[]>
  appendMany(key: number, count: number): Promise<readonly AppendOutcome[]>
  newDocument(): Promise<number>
  stored(key: number): Promise<number>
}

const cleanups: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function openBench(
  url: string,
  more: { commitDelayMs?: number; faultOf?: (error: unknown) => Fault; time?: ManualTime } = {},
): Promise<Bench> {
  const real = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
  const database = { ...real, engine: { ...real.engine, ...(more.faultOf === undefined ? {} : { faultOf: more.faultOf }) } }
  const fatal: Error[] = []
  const queue = new CommitQueue({
    database,
    commitDelayMs: more.commitDelayMs ?? 4,
    clock: more.time?.clock ?? systemClock,
    timers: more.time?.timers ?? waitingTimers,
    log: silentLogger,
    onFatal: (error) => fatal.push(error),
    ackBeforeCommit: false,
    commitHoldMs: 0,
    answerHoldMs: 0,
    appendAll: (writer, records) => appendTo(writer, database.engine, records),
    appendingAtOnce: (records) => appendingAtOnce(database, records),
  })
  cleanups.push(async () => {
    await queue.close()
    await real.close()
  })
  const documents = sqlDocuments(database, queue, silentLogger, capturingFrom(database))
  const updates = sqlUpdates(database, queue, silentLogger, systemRandom)
  // Each record continues the log where the previous one ended, as the records of a room do. After a failed append the next record continues from the
  // stored end of the log.
  const ends = new Map<number, number>()
  const append = (key: number, count: number, actor: string, bytes: Uint8Array) => {
    const from = ends.get(key) ?? 0
    ends.set(key, from + count)
    const records = Array.from({ length: count }, (_, i) => ({ key, afterSeq: from + i, actor, atMs: 1, update: bytes }))
    const appended = updates.append(records)
    appended.catch(() => ends.set(key, Math.min(from, ends.get(key) ?? 0)))
    return appended
  }
  return {
    database,
    queue,
    fatal,
    updates,
    append: (key, actor = 'ada', bytes = update(1)) => append(key, 1, actor, bytes),
    appendMany: (key, count) => append(key, count, 'ada', update(1)),
    newDocument: async () => written(await documents.write(creation({ workspaceId: randomUUID(), id: 'doc' }))).key,
    async stored(key) {
      const log = await updates.load(key)
      return log.kind === 'loaded' ? log.records.length : -1
    },
  }
}

function sqliteUrl(): string {
  const { url, remove } = temporaryStore()
  cleanups.push(remove)
  return url
}

/** Returns a function that says whether `work` has ended. */
function begun(work: Promise<unknown>): () => boolean {
  let ended = false
  work.then(
    () => (ended = true),
    () => (ended = true),
  )
  return () => ended
}

/** Advances the time until `work` has ended, and returns the elapsed ms. */
async function passing(time: ManualTime, work: Promise<unknown>): Promise<number> {
  const ended = begun(work)
  const beganMs = time.clock.monotonicMs()
  for (let ms = 0; ms < 10 * LONG_MS && !ended(); ms++) await time.advance(1)
  return time.clock.monotonicMs() - beganMs
}

describe('group commit', () => {
  it('[LIFE-4] writes of many documents that are queued in one turn share one commit', async () => {
    const bench = await openBench(sqliteUrl())
    const keys = await Promise.all(Array.from({ length: 20 }, () => bench.newDocument()))
    const before = bench.queue.stats().commits
    await Promise.all(keys.map((key) => bench.append(key)))
    const after = bench.queue.stats()
    expect(after.commits - before).toBe(1)
    expect(after.appendSeconds).toHaveLength(20)
    expect(Math.min(...after.appendSeconds)).toBeGreaterThan(0)
  })

  it('[LIFE-4] a single record commits without the delay, also after other single records', async () => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: LONG_MS, time })
    const key = await bench.newDocument()
    for (let i = 0; i < 3; i++) {
      expect(await passing(time, bench.append(key))).toBeLessThan(LONG_MS / 20)
      await time.advance(1_000)
    }
  })

  it('[LIFE-4] under load a commit waits for more records until a quarter of the delay passes without one', async () => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: LONG_MS, time })
    const key = await bench.newDocument()
    await passing(time, bench.appendMany(key, 50))
    const before = bench.queue.stats().commits
    const first = begun(bench.append(key))
    await time.advance(LONG_MS / 4 - 1)
    const second = begun(bench.append(key))
    await time.advance(LONG_MS / 4 - 1)
    expect([first(), second()]).toEqual([false, false])
    await time.advance(1)
    expect([first(), second()]).toEqual([true, true])
    expect(bench.queue.stats().commits - before).toBe(1)
  })

  it('[LIFE-4] under load a commit waits at most the delay, even while records keep coming', async () => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: LONG_MS, time })
    const key = await bench.newDocument()
    await passing(time, bench.appendMany(key, 50))
    const durable = begun(bench.append(key))
    for (let ms = 0; ms < LONG_MS - 1; ms++) {
      if (ms % 10 === 0) void bench.append(key)
      await time.advance(1)
    }
    expect(durable()).toBe(false)
    await time.advance(1)
    expect(durable()).toBe(true)
  })

  it('[LIFE-4] after a quiet time a record is committed at once, whatever load there was before', async () => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: LONG_MS, time })
    const key = await bench.newDocument()
    await passing(time, bench.appendMany(key, 50))
    await time.advance(2_000)
    const durable = begun(bench.append(key))
    await time.advance(0)
    expect(durable()).toBe(true)
  })

  it('[LIFE-4] a write whose caller waits for the answer also commits the records before it at once', async () => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: LONG_MS, time })
    const key = await bench.newDocument()
    await passing(time, bench.appendMany(key, 50))
    const record = begun(bench.append(key))
    await time.advance(1)
    expect(record()).toBe(false)
    await bench.newDocument()
    await time.advance(0)
    expect(record()).toBe(true)
  })

  it.each([
    ['256 records', async (bench: Bench, key: number) => bench.appendMany(key, COMMIT_AT_RECORDS)],
    ['1 MiB', async (bench: Bench, key: number) => bench.append(key, 'ada', new Uint8Array(COMMIT_AT_BYTES))],
  ])('[LIFE-4] %s start the commit before the delay ends', async (_, fill) => {
    const time = manualTime()
    const bench = await openBench(sqliteUrl(), { commitDelayMs: 5000, time })
    const key = await bench.newDocument()
    await passing(time, bench.appendMany(key, 50))
    const first = begun(bench.append(key))
    await time.advance(1)
    expect(first()).toBe(false)
    await fill(bench, key)
    expect(first()).toBe(true)
  })

  it('[LIFE-28] closing the commit queue commits the queued writes and refuses later ones', async () => {
    const { url, remove } = temporaryStore()
    cleanups.push(remove)
    const bench = await openBench(url, { commitDelayMs: 5000 })
    const key = await bench.newDocument()
    await bench.appendMany(key, 50)
    const last = bench.append(key)
    await bench.queue.close()
    expect(await last).toEqual([{ kind: 'appended', seq: 51 }])
    await expect(bench.append(key)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

/** Appends by `bad-record` fail at their own statement; appends by `bad-commit` fail only when the transaction commits. */
const SABOTAGE = {
  SQLite: [
    'create table sabotage (key integer references documents (key) deferrable initially deferred)',
    "create trigger bad_record before insert on updates_recent when new.actor = 'bad-record' begin select raise(abort, 'sabotaged'); end",
    "create trigger bad_commit after insert on updates_recent when new.actor = 'bad-commit' begin insert into sabotage values (-1); end",
  ],
  PostgreSQL: [
    'create table sabotage (key bigint references documents (key) deferrable initially deferred)',
    `create function sabotage_record() returns trigger language plpgsql as $$ begin
       if new.actor = 'bad-record' then raise exception 'sabotaged'; end if;
       if new.actor = 'bad-commit' then insert into sabotage values (-1); end if;
       return new; end $$`,
    'create trigger bad_record before insert on updates for each row execute function sabotage_record()',
  ],
}
const REPAIR = { SQLite: 'drop trigger bad_commit', PostgreSQL: 'drop trigger bad_record on updates' }

const RAISE_DAMAGE = "do $$ begin raise exception 'invalid page in block 7' using errcode = 'XX001'; end $$"

/** Creates a table in an open store, damages the pages of its only row, and returns a statement that reads these pages. */
function damagedTable(path: string): string {
  const db = new DatabaseSync(path)
  const filling = 'damage'.repeat(5_000)
  db.exec(`create table damaged (text text); insert into damaged values ('${filling}'); pragma wal_checkpoint(truncate)`)
  db.close()
  const file = readFileSync(path)
  // The pages that continue a row begin with the number of the next page, which is overwritten.
  for (let page = 4096; page < file.length; page += 4096) {
    if (/^(damage|amage|mage|age|ge|e)damage/.test(file.toString('latin1', page + 4, page + 40)))
      file.writeUInt32BE(0xffffff00, page)
  }
  writeFileSync(path, file)
  return 'select text from damaged'
}

const postgres = await openPostgresUnderTest()
if (typeof postgres !== 'string') await postgres[Symbol.asyncDispose]()

describe.each(['SQLite', 'PostgreSQL'] as const)('faults on %s', (name) => {
  async function sabotaged(more: Parameters<typeof openBench>[1] = {}): Promise<Bench> {
    const bench = await openBench(name === 'SQLite' ? sqliteUrl() : await postgresUrl(), more)
    for (const statement of SABOTAGE[name]) await sql.raw(statement).execute(bench.database.writer)
    return bench
  }
  const skipped = name === 'PostgreSQL' && typeof postgres === 'string'

  it.skipIf(skipped)('[LIFE-8] a failing call does not fail the other calls of its commit', async () => {
    const bench = await sabotaged()
    const [one, two, bad] = [await bench.newDocument(), await bench.newDocument(), await bench.newDocument()]
    const results = await Promise.allSettled([
      bench.append(one),
      bench.append(bad, 'bad-record'),
      bench.append(two),
      bench.append(bad),
    ])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'INTERNAL' } })
    expect(results[3]).toEqual({ status: 'fulfilled', value: [{ kind: 'conflict' }] })
    expect(await Promise.all([one, two, bad].map(bench.stored))).toEqual([1, 1, 0])
    expect(bench.queue.healthy).toBe(true)
  })

  it.skipIf(skipped)('[LIFE-8] a call that meets damaged rows does not fail the other calls of its commit', async () => {
    const url = name === 'SQLite' ? sqliteUrl() : await postgresUrl()
    const bench = await openBench(url)
    const [one, two] = [await bench.newDocument(), await bench.newDocument()]
    const meet = name === 'SQLite' ? damagedTable(url.slice('sqlite:'.length)) : RAISE_DAMAGE
    const bad = () => bench.queue.run(0, (writer) => sql.raw(meet).execute(writer))
    const results = await Promise.allSettled([bench.append(one), bad(), bench.append(two)])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'INTERNAL' } })
    // Damage of one call may mean that the whole store is damaged. So the store counts as unhealthy until a commit succeeds.
    await expect(bad()).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(bench.queue.healthy).toBe(false)
    expect(await bench.append(one)).toEqual([{ kind: 'appended', seq: 2 }])
    expect([bench.queue.healthy, bench.fatal]).toEqual([true, []])
  })

  it.skipIf(skipped)('[LIFE-8] an exception within a call does not fail the other calls of its commit', async () => {
    const bench = await openBench(name === 'SQLite' ? sqliteUrl() : await postgresUrl())
    const [one, two] = [await bench.newDocument(), await bench.newDocument()]
    const bad = bench.queue.run(0, () => Promise.reject(new SyntaxError('Unexpected token')))
    const results = await Promise.allSettled([bench.append(one), bad, bench.append(two)])
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: { code: 'INTERNAL' } })
    expect(bench.queue.healthy).toBe(true)
  })

  it.skipIf(skipped)('[LIFE-5] after a failed commit no record queued after it for the same document is stored', async () => {
    const bench = await sabotaged()
    const key = await bench.newDocument()
    const first = bench.append(key, 'bad-commit')
    const record = (afterSeq: number) => ({ key, afterSeq, actor: 'ada', atMs: 1, update: update(1) })
    const behind = sleep(0).then(() =>
      Promise.all([1, 2].map((seq) => bench.updates.append([record(seq)]).catch((error: { code?: string }) => error.code))),
    )
    await expect(first).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    // These records are conflicts because an earlier record is missing, or were in the failed commit themselves.
    for (const outcome of await behind) expect([[{ kind: 'conflict' }], 'NOT_PERSISTED']).toContainEqual(outcome)
    expect(await bench.stored(key)).toBe(0)
    await sql.raw(REPAIR[name]).execute(bench.database.writer)
    expect(await bench.append(key)).toEqual([{ kind: 'appended', seq: 1 }])
  })

  it.skipIf(skipped)('[LIFE-6] a failed commit confirms no write, and later commits work', async () => {
    const bench = await sabotaged()
    const [one, two] = [await bench.newDocument(), await bench.newDocument()]
    const results = await Promise.allSettled([bench.append(one), bench.append(two, 'bad-commit'), bench.appendMany(one, 3)])
    expect(results).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'NOT_PERSISTED' } }))
    expect(await Promise.all([one, two].map(bench.stored))).toEqual([0, 0])
    expect([bench.queue.healthy, bench.fatal]).toEqual([false, []])
    await sql.raw(REPAIR[name]).execute(bench.database.writer)
    expect(await bench.append(one)).toEqual([{ kind: 'appended', seq: 1 }])
    expect(bench.queue.healthy).toBe(true)
    expect(bench.queue.stats().failures).toBe(3)
  })

  it.skipIf(skipped)('[LIFE-1] after a failed flush no write is confirmed any more, queued ones included', async () => {
    const bench = await sabotaged({ faultOf: () => 'broken' })
    const key = await bench.newDocument()
    const behind = sleep(0).then(() => bench.append(key))
    expect(await Promise.allSettled([bench.append(key, 'bad-commit'), behind])).toMatchObject([
      { status: 'rejected', reason: { code: 'NOT_PERSISTED' } },
      { status: 'rejected' },
    ])
    expect(bench.fatal).toHaveLength(1)
    await expect(bench.append(key)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect([await bench.stored(key), bench.queue.healthy]).toEqual([0, false])
  })

  it.skipIf(skipped)('[LIFE-6] a second failed write to the disk within a minute stops all writing', async () => {
    const bench = await sabotaged({ faultOf: () => 'write-error' })
    const key = await bench.newDocument()
    await expect(bench.append(key, 'bad-commit')).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    expect(await bench.append(key)).toEqual([{ kind: 'appended', seq: 1 }])
    expect(bench.fatal).toHaveLength(0)
    await expect(bench.append(key, 'bad-commit')).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    expect(bench.fatal).toHaveLength(1)
    await expect(bench.append(key)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

async function postgresUrl(): Promise<string> {
  const server = await openPostgresUnderTest()
  if (typeof server === 'string') throw new Error(server)
  cleanups.push(async () => server[Symbol.asyncDispose]())
  return server.url
}

it('[LIFE-6] a full disk refuses writes, keeps answering reads, and accepts writes again when there is room', async () => {
  const bench = await openBench(sqliteUrl())
  const documents = sqlDocuments(bench.database, bench.queue, silentLogger, capturingFrom(bench.database))
  const ref = { workspaceId: 'w', id: 'doc-full' }
  const head = written(await documents.write(creation(ref)))
  const limit = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(bench.database.writer)
  await limit(1)
  await expect(documents.write(change(head, 'x'.repeat(500_000)))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
  await expect(bench.append(head.key, 'ada', new Uint8Array(500_000))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
  expect(bench.queue.healthy).toBe(false)
  expect(await documents.state(ref)).toEqual({ kind: 'document', head })
  await limit(1_000_000)
  expect(written(await documents.write(change(head, 'x'.repeat(500_000)))).version).toBe(2)
  expect([bench.queue.healthy, bench.fatal]).toEqual([true, []])
})
