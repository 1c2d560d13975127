import { sql } from 'kysely'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { creation, update, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { describeUpdateLogContract } from '../../sync/update-log.contract.ts'
import type { AppendOutcome, AppendRecord } from '../../sync/update-log.port.ts'
import type { CommitFault } from './commit-faults.ts'
import { openDatabase } from './database.ts'
import type { Database, OwnNode } from './engine.ts'
import type { StorageHost } from './storage-host.ts'
import { emptyPostgres } from './testing/emptied-postgres.ts'
import { nodeRows } from './testing/nodes-under-test.ts'
import { appendingAtOnce } from './updates.ts'
import { onPostgres } from './testing/on-postgres.ts'
import { openHost, reopenable } from './testing/store-under-test.ts'

await onPostgres((url) => {
  let beside: Database
  beforeAll(async () => {
    beside = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
    return () => beside.close()
  })

  describeUpdateLogContract('PostgreSQL, one of several nodes', async () => {
    await emptyPostgres(url)
    return reopenable(
      url,
      (again) => openHost(again, { node: { inc: null } }),
      () => undefined,
    )
  })

  describe('appends of one of several nodes', () => {
    let host: StorageHost
    /** The faults of the next transactions; `null` lets a transaction succeed. */
    let faults: (CommitFault | null)[] = []
    let count = 0

    beforeEach(async () => {
      const node: OwnNode = { inc: null }
      faults = []
      host = await openHost(url, { node, commitFaults: () => faults.shift() ?? null })
      node.inc = await nodeRows(beside).register()
    })
    afterEach(async () => {
      await sql`drop trigger if exists bad_record on updates`.execute(beside.writer)
      await host[Symbol.asyncDispose]()
    })

    /** Returns the key of a document that this node owns, under epoch 1. */
    const newDocument = async (): Promise<number> => {
      const { key } = written(await host.documents.write(creation({ workspaceId: 'at-once', id: `doc-${count++}` })))
      expect(await host.ownership.acquire(key)).toMatchObject({ kind: 'acquired', epoch: 1 })
      return key
    }
    const record = (key: number, afterSeq: number, more: Partial<AppendRecord> = {}): AppendRecord => ({
      ...{ key, afterSeq, epoch: 1, actor: 'ada', atMs: 5, update: update(1) },
      ...more,
    })
    const append = (...records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> => host.updates.append(records)
    const seqsOf = async (key: number) => (await host.updates.after(key, 0)).map(({ seq }) => seq)
    /** Ends the connections whose statement waits for a lock. Returns their number. */
    const terminateWaiting = async () => {
      const ended = await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and state = 'active' and wait_event_type = 'Lock'`.execute(beside.writer)
      return ended.rows.length
    }

    it('[LIFE-26] one statement for several documents gives each its outcome, and stores only records of moved logs', async () => {
      const [moved, conflicting, fenced] = [await newDocument(), await newDocument(), await newDocument()]
      const outcomes = await append(
        record(moved, 0),
        record(conflicting, 7),
        record(fenced, 0, { epoch: 2 }),
        record(9_999_999, 0),
        record(moved, 1),
      )
      expect(outcomes).toEqual([
        { kind: 'appended', seq: 1 },
        { kind: 'conflict' },
        { kind: 'fenced' },
        { kind: 'gone' },
        { kind: 'appended', seq: 2 },
      ])
      expect(await Promise.all([moved, conflicting, fenced].map(seqsOf))).toEqual([[1, 2], [], []])
    })

    it('[LIFE-7] the bytes of each record are stored under its own sequence and actor', async () => {
      const [one, two] = [await newDocument(), await newDocument()]
      const [short, empty, long] = [update(3), new Uint8Array(), new Uint8Array(70_000).fill(7)]
      await append(
        record(one, 0, { update: short, actor: 'ada' }),
        record(two, 0, { update: empty, actor: "o'neil", atMs: 9 }),
        record(one, 1, { update: long, actor: 'system' }),
      )
      expect(await host.updates.after(one, 0)).toEqual([
        { seq: 1, actor: 'ada', atMs: 5, update: short },
        { seq: 2, actor: 'system', atMs: 5, update: long },
      ])
      expect(await host.updates.after(two, 0)).toEqual([{ seq: 1, actor: "o'neil", atMs: 9, update: empty }])
    })

    it('[LIFE-7] records that need several statements are stored in a transaction with their whole batch', async () => {
      const [plain, remembering] = [await newDocument(), await newDocument()]
      const outcomes = await Promise.all([append(record(plain, 0)), append(record(remembering, 0, { removals: '[]' }))])
      expect(outcomes).toEqual([[{ kind: 'appended', seq: 1 }], [{ kind: 'appended', seq: 1 }]])
      expect(await host.updates.load(remembering)).toMatchObject({ kind: 'loaded', records: [{ seq: 1 }] })
      // The third record continues the log where the first one ends.
      expect(await append(record(plain, 1), record(plain, 5), record(plain, 2))).toEqual([
        { kind: 'appended', seq: 2 },
        { kind: 'conflict' },
        { kind: 'appended', seq: 3 },
      ])
    })

    it('[LIFE-6] when the outcomes of a committed append cannot be read, the error does not say that the append was undone', async () => {
      const damaged = Object.assign(new Error('invalid page'), { code: 'XX001' })
      const reader = {
        selectFrom: () => {
          throw damaged
        },
      } as unknown as Database['reader']
      const append = appendingAtOnce({ ...beside, appendAtOnce: async () => new Set(), reader }, [record(1, 0)])
      const error = await append?.().catch((thrown: unknown) => thrown)
      expect([beside.engine.faultOf(damaged), beside.engine.faultOf(error)]).toEqual(['damage', 'unsaid'])
    })

    it('[LIFE-8] a record that the server refuses does not fail other calls of its batch', async () => {
      await sql`create or replace function refuse_record() returns trigger language plpgsql as $$ begin
        if new.actor = 'bad-record' then raise exception 'sabotaged'; end if; return new; end $$`.execute(beside.writer)
      await sql`create trigger bad_record before insert on updates for each row execute function refuse_record()`.execute(
        beside.writer,
      )
      const [good, bad] = [await newDocument(), await newDocument()]
      const results = await Promise.allSettled([append(record(good, 0)), append(record(bad, 0, { actor: 'bad-record' }))])
      expect(results).toMatchObject([
        { status: 'fulfilled', value: [{ kind: 'appended', seq: 1 }] },
        { status: 'rejected', reason: { code: 'INTERNAL' } },
      ])
      expect(await Promise.all([good, bad].map(seqsOf))).toEqual([[1], []])
      expect(await append(record(bad, 0))).toEqual([{ kind: 'appended', seq: 1 }])
    })

    it.each([
      ['cut', 0],
      ['unanswered', 1],
    ] as const)(
      '[LIFE-6] after the fault "%s" every append is NOT_PERSISTED, and the log continues at its stored end',
      async (fault, stored) => {
        const [one, two] = [await newDocument(), await newDocument()]
        faults = [fault]
        const results = await Promise.allSettled([append(record(one, 0)), append(record(two, 0))])
        expect(results).toMatchObject(Array(2).fill({ status: 'rejected', reason: { code: 'NOT_PERSISTED' } }))
        expect(await seqsOf(one)).toHaveLength(stored)
        expect(await append(record(one, stored))).toEqual([{ kind: 'appended', seq: stored + 1 }])
      },
    )

    it('[LIFE-6] an append whose connection is lost while it waits for a lock is neither stored nor confirmed', async () => {
      const key = await newDocument()
      const locked = await beside.begin()
      await sql`select 1 from log_heads where key = ${key} for update`.execute(locked.writer)
      const lost = append(record(key, 0)).catch((error: { readonly code?: string }) => error.code)
      await expect.poll(terminateWaiting, { interval: 10 }).toBe(1)
      expect(await lost).toBe('NOT_PERSISTED')
      await locked.rollback()
      // The pool may use the lost connection once more, before it learns of its end.
      await expect.poll(() => seqsOf(key).catch(() => null)).toEqual([])
      expect(await append(record(key, 0))).toEqual([{ kind: 'appended', seq: 1 }])
    })
  })

  describe('appends of a relay that has the store for itself', () => {
    let host: StorageHost
    let key: number
    beforeEach(async () => {
      await emptyPostgres(url)
      host = await openHost(url, { onLoss: () => undefined })
      key = written(await host.documents.write(creation({ workspaceId: 'alone', id: crypto.randomUUID() }))).key
    })
    afterEach(() => host[Symbol.asyncDispose]())

    const append = (afterSeq: number) =>
      host.updates.append([{ key, afterSeq, actor: 'ada', atMs: 5, update: update(1) }]).then(
        ([outcome]) => outcome?.kind,
        (error: { readonly code?: string }) => error.code,
      )
    const lengthOfLog = async () => (await host.updates.after(key, 0)).length
    /** Begins an append while another transaction has run `statement`. Ends that transaction with `end` once the append waits for it. */
    const appendBehind = async (statement: string, end: 'commit' | 'rollback') => {
      const other = await beside.begin()
      await sql.raw(statement).execute(other.writer)
      const appended = append(0)
      const waits = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(async () => (await waits.execute(beside.reader)).rows.length, { interval: 10 }).toBe(1)
      await other[end]()
      return appended
    }

    it('[CFG-10] [LIFE-26] an append of a relay whose place was taken is neither stored nor confirmed', async () => {
      expect(await append(0)).toBe('appended')
      await sql`update instances set holder = 'relay-other'`.execute(beside.writer)
      expect(await append(1)).toBe('NOT_PERSISTED')
      expect(await lengthOfLog()).toBe(1)
    })

    it.each([
      ['commit', 'NOT_PERSISTED', 0],
      ['rollback', 'appended', 1],
    ] as const)(
      '[CFG-10] [LIFE-26] an append that waits for a relay that takes the place sees its %s and answers %s',
      async (end, answer, stored) => {
        expect(await appendBehind("update instances set holder = 'relay-other'", end)).toBe(answer)
        expect(await lengthOfLog()).toBe(stored)
      },
    )

    it('[LIFE-5] an append that waited for the row of its log compares the end of the log again', async () => {
      expect(await appendBehind(`update log_heads set last_seq = 4 where key = ${key}`, 'commit')).toBe('conflict')
      expect(await append(4)).toBe('appended')
    })

    it('[LIFE-5] an append that waited for a change of its log row other than of the end is stored', async () => {
      expect(await appendBehind(`update log_heads set covered_seq = covered_seq where key = ${key}`, 'commit')).toBe('appended')
      expect(await lengthOfLog()).toBe(1)
    })
  })
})
