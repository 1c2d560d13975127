import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { creation, written } from '../../documents/testing/document-writes.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { openDatabase } from './database.ts'
import type { Database } from './engine.ts'
import { rememberingList } from './head-memory.ts'
import { migrateAll } from './migrate-tool.ts'
import { judgeOccupants } from './postgres-occupants.ts'
import { ABANDONED_MS, BEAT_MS, Place, PlaceLostError } from './postgres-place.ts'
import type { StoreLoss } from './store-loss.ts'
import { openPostgresUnderTest } from './testing/postgres-under-test.ts'
import { openHost } from './testing/store-under-test.ts'

const row = (holder: string, beat: number) => ({ holder, beat })

describe('how a starting relay judges the rows of other relays', () => {
  it.each([
    ['without a row the place is free', [], [], 0, 'free'],
    ['a row seen for the first time is watched', [row('a', 3)], [row('a', 3)], 0, 'watch on'],
    ['a beat that rose means the place is in use', [row('a', 3)], [row('a', 4)], 900, 'in use'],
    ['another holder means the place is in use', [row('a', 3)], [row('b', 1)], 900, 'in use'],
    ['a removed row means the place is free', [row('a', 3)], [], 900, 'free'],
    ['a beat that does not rise is watched longer', [row('a', 3)], [row('a', 3)], ABANDONED_MS - 1, 'watch on'],
    [
      'a beat that did not rise for the whole time means the relay is gone',
      [row('a', 3)],
      [row('a', 3)],
      ABANDONED_MS,
      'abandoned',
    ],
    ['a beat that rose at the last moment means the place is in use', [row('a', 3)], [row('a', 4)], ABANDONED_MS + 1, 'in use'],
    [
      'one beat of two that rose means the place is in use',
      [row('a', 3), row('b', 3)],
      [row('a', 3), row('b', 4)],
      900,
      'in use',
    ],
    ['one of two that has left does not hide the other', [row('a', 3), row('b', 3)], [row('a', 3)], ABANDONED_MS, 'abandoned'],
    [
      'a relay that came while another was watched uses the place',
      [row('a', 3)],
      [row('a', 3), row('b', 1)],
      ABANDONED_MS,
      'in use',
    ],
  ] as const)('[CFG-10] for a starting relay %s', (_, first, now, watchedMs, verdict) => {
    expect(judgeOccupants(first, now, watchedMs, ABANDONED_MS)).toBe(verdict)
  })

  it('[CFG-10] a live relay has at least two heartbeats while it is watched, and a killed one is replaced within 3 s', () => {
    expect(ABANDONED_MS).toBeGreaterThanOrEqual(2 * BEAT_MS)
    expect(ABANDONED_MS).toBeLessThan(3000)
  })
})

const server = await openPostgresUnderTest()

describe.skipIf(typeof server === 'string')('the place of the one relay on a PostgreSQL store', () => {
  const url = typeof server === 'string' ? '' : server.url
  const opened = new Set<Database>()
  afterEach(async () => {
    for (const database of opened) await database.close()
    opened.clear()
  })
  afterAll(async () => {
    if (typeof server !== 'string') await server[Symbol.asyncDispose]()
  })

  interface Relay {
    readonly database: Database
    readonly lost: Promise<Error>
    readonly loss: Promise<StoreLoss>
  }

  async function relay(): Promise<Relay> {
    const lost = Promise.withResolvers<Error>()
    const loss = Promise.withResolvers<StoreLoss>()
    const occupy = { onLost: lost.resolve, onLoss: loss.resolve }
    const database = await openDatabase(url, { synchronous: 'FULL', occupy }, silentLogger)
    opened.add(database)
    return { database, lost: lost.promise, loss: loss.promise }
  }

  async function write(database: Database): Promise<void> {
    const transaction = await database.begin()
    await transaction.commit()
  }

  it('[CFG-10] a second relay is refused while the first lives, and gets the place after the first has left', async () => {
    const first = await relay()
    await expect(relay()).rejects.toThrow('in use by another process')
    await expect(migrateAll(url, silentLogger)).rejects.toThrow('in use by another process')
    await first.database.close()
    opened.delete(first.database)
    await write((await relay()).database)
  })

  it('[CFG-10] a relay notices writes of tools beside it, and does not mistake its own writes for them', async () => {
    const { database } = await relay()
    const before = await database.changedBeside()
    await write(database)
    expect(await database.changedBeside()).toBe(before)
    const tool = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
    opened.add(tool)
    await write(tool)
    const after = await database.changedBeside()
    expect(after).not.toBe(before)
    await write(tool)
    expect(await database.changedBeside()).not.toBe(after)
  })

  it('[CFG-10] [LIFE-26] when the heartbeat of a relay stops another relay takes its place, and the first gets PlaceLostError', async () => {
    const paused = await relay()
    // Sets another holder in the row, so that the beat stands still, as if the relay had stopped.
    await sql`update instances set holder = 'relay-stopped'`.execute(paused.database.reader)
    const next = await relay()
    expect(await paused.lost).toBeInstanceOf(PlaceLostError)
    await expect(paused.database.begin()).rejects.toBeInstanceOf(PlaceLostError)
    await write(next.database)
  })

  describe('a relay that was paused while others had the store', () => {
    /**
     * Takes the place for a relay whose time stands still. `wake` runs the start of its next transaction and returns what the relay is notified of
     * then.
     */
    async function paused() {
      const beside = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
      opened.add(beside)
      const { writer: db } = beside
      const told = Promise.withResolvers<Error | StoreLoss>()
      const place = new Place({
        ...{ db, beats: db, holder: 'relay-paused', connectionsOf: (holder) => holder, timers: manualTime().timers },
        ...{ log: silentLogger, onLost: told.resolve, onLoss: told.resolve },
      })
      await place.take()
      return {
        async wake() {
          await expect(db.transaction().execute((writer) => place.hold(writer))).rejects.toBeInstanceOf(PlaceLostError)
          return told.promise
        },
        async rows() {
          await place.leave()
          return db.selectFrom('instances').select('holder').execute()
        },
      }
    }

    it('[CFG-10] [LIFE-26] a paused relay gets PlaceLostError when another relay has had its place meanwhile', async () => {
      const first = await paused()
      const other = await relay()
      await write(other.database)
      await other.database.close()
      opened.delete(other.database)
      expect(await first.wake()).toBeInstanceOf(PlaceLostError)
      expect(await first.rows()).toEqual([])
    })

    it('[CFG-10] [LIFE-26] a paused relay gets PlaceLostError when one of several nodes has used the store meanwhile', async () => {
      const first = await paused()
      const node = await openDatabase(url, { synchronous: 'FULL', node: { inc: null } }, silentLogger)
      opened.add(node)
      const registry = node.nodes({ onLoss: () => undefined })
      const taken = await registry.register({ nodeId: 'a', linkUrl: 'ws://127.0.0.1:1', program: 'test' })
      if (taken.kind !== 'registered') throw new Error(taken.reason)
      await registry.leave(taken.inc)
      expect(await first.wake()).toBeInstanceOf(PlaceLostError)
      expect(await first.rows()).toEqual([])
    })
  })

  it('[LIFE-5] after a loss in the database, document lists show the present rows of the store', async () => {
    const losses: StoreLoss[] = []
    await using host = await openHost(url, { onLoss: (loss) => losses.push(loss) })
    const head = written(await host.documents.write(creation({ workspaceId: 'lost', id: 'doc' })))
    const list = rememberingList(host.heads)
    expect(await list('lost')).toEqual([head])
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`update log_heads set last_seq = 7 where key = ${head.key}; delete from instances`)
    await client.end()
    await expect.poll(() => losses.length, { timeout: 5_000 }).toBe(1)
    expect(await list('lost')).toEqual([{ ...head, lastSeq: 7 }])
  })

  it('[CFG-10] [LIFE-26] a relay replaces one stopped in an open transaction, which the server rolls back', async () => {
    await (await openDatabase(url, { synchronous: 'FULL' }, silentLogger)).close()
    const stopped = new pg.Client({ connectionString: url, application_name: 'docrelay relay-stopped' })
    stopped.on('error', () => undefined)
    await stopped.connect()
    await stopped.query("insert into instances (holder, place, beat, at_ms) values ('relay-stopped', 'relay', 7, 0)")
    await stopped.query('begin')
    await stopped.query("select 1 from instances where holder = 'relay-stopped' for key share")
    await stopped.query("insert into store_facts (name, value) values ('of-the-stopped', 'x')")
    const { database } = await relay()
    await expect(stopped.query('commit')).rejects.toThrow()
    const facts = await database.reader.selectFrom('store_facts').select('name').where('name', '=', 'of-the-stopped').execute()
    expect(facts).toEqual([])
  })

  it('[LIFE-5] a row of a relay that the database lost is written again, and the loss is reported', async () => {
    const { database, loss } = await relay()
    await database.reader.deleteFrom('instances').execute()
    await expect(database.begin()).rejects.toBeInstanceOf(PlaceLostError)
    expect(await loss).toMatchObject({ kind: 'tail' })
    await write(database)
  })

  it('[LIFE-5] a heartbeat that went back is reported as a loss, and the relay continues', async () => {
    const { database, loss } = await relay()
    await sql`update instances set beat = beat - 5`.execute(database.reader)
    expect(await loss).toMatchObject({ kind: 'tail' })
    await write(database)
  })

  it('[CFG-10] a relay that loses its connections keeps its place and can write', async () => {
    const { database } = await relay()
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.reader)
    await expect(relay()).rejects.toThrow('in use by another process')
    await write(database)
  })

  it('[CFG-10] of two relays that start at once one gets the place', async () => {
    const both = await Promise.allSettled([relay(), relay()])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })
})
