import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../drivers/sql/migrations/migrate.ts'
import { openHost } from '../../drivers/sql/testing/store-under-test.ts'
import { relayCommandHere } from '../relay-command.ts'
import { startRelayUnderTest } from '../relay-under-test.ts'
import { contentsOf } from './contents.ts'
import { killMigrations, type StopAt } from './kill-migrations.ts'
import { type FormerStore, formerPostgres, formerSqlite, type Rows } from './open-former.ts'

/** Settings with which nothing expires during a test. */
const ENV = {
  RELAY_TENANCY_MODE: 'shared',
  RELAY_WRITES_PER_SEC: '0',
  RELAY_BLOB_GC_GRACE_SECS: '1000000000',
  RELAY_TOMBSTONE_TTL_DAYS: '36500',
}
const STEPS_THEN = 3

/** Returns only the rows and columns that the former program knew; of migrations and facts, only those that it had written. */
function asThen(now: Rows, then: Rows): Rows {
  return Object.fromEntries(
    Object.entries(then).map(([table, rows]) => {
      const names = Object.keys(rows[0] ?? {})
      const known = (now[table] ?? []).map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? 'missing'])))
      const added = table === 'kysely_migration' || table === 'store_facts'
      return [table, added ? known.filter((row) => rows.some(({ name }) => name === row['name'])) : known]
    }),
  )
}

const opens: readonly (readonly [string, () => Promise<FormerStore | string>])[] = [
  ['SQLite', formerSqlite],
  ['PostgreSQL', formerPostgres],
]

describe.each(opens)('a store written by commit 926e332 on %s', (engine, open) => {
  it('[LIFE-29] keeps every row when it is opened', async (context) => {
    const store = await open()
    if (typeof store === 'string') return context.skip(store)
    await using former = store
    const then = await former.rows()
    for (const table of ['documents', 'updates', 'recovery_points', 'tombstones', 'share_links', 'remembered_writes'])
      expect([table, then[table]?.length]).not.toEqual([table, 0])
    // The documents in the PostgreSQL store were too short for a snapshot.
    if (engine === 'SQLite') expect(then['snapshots']?.length).toBeGreaterThan(0)
    await (await openHost(former.url))[Symbol.asyncDispose]()
    expect(asThen(await former.rows(), then)).toEqual(then)
  })

  it('[LIFE-29] [LIFE-3] is served unchanged: bodies, Y states, points, lists and blobs', async (context) => {
    const store = await open()
    if (typeof store === 'string') return context.skip(store)
    await using former = store
    await using relay = await startRelayUnderTest({ dataDir: former.dataDir, env: { ...ENV, ...former.env } })
    expect(await contentsOf(relay)).toEqual(former.contents)
  })

  it('[LIFE-29] [OPS-10] can be backed up and restored with every row by this program', async (context) => {
    const store = await open()
    if (typeof store === 'string') return context.skip(store)
    await using former = store
    const then = await former.rows()
    const folder = mkdtempSync(join(tmpdir(), 'relay-former-backup-'))
    try {
      const copied = await relayCommandHere(former.dataDir, ['backup', join(folder, 'backup')], former.env)
      expect([copied.code, copied.err]).toEqual([0, ''])
      const restored = await relayCommandHere(join(folder), ['restore', join(folder, 'backup')])
      expect([restored.code, restored.err]).toEqual([0, ''])
      const host = await openHost(`sqlite:${join(folder, 'relay.db')}`)
      expect((await host.documents.list('first')).map(({ id }) => id)).toContain('live')
      expect(restored.out).toMatch(new RegExp(`${countOf(then)} rows`))
      await host[Symbol.asyncDispose]()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  describe('killed within its migrations', () => {
    const pending = Object.keys(MIGRATIONS).slice(STEPS_THEN)
    const places = pending.flatMap((name, i) =>
      (['before', 'after'] as const).map((moment) => ({ moment, name, step: i + 1, title: `${moment} ${name}` })),
    )
    const killed = new Map<string, FormerStore>()
    let then: Rows = {}
    let ended: readonly [string | null, string] | null = null
    beforeAll(async () => {
      const stops: StopAt[] = []
      for (const { title, moment, step } of places) {
        const former = await open()
        if (typeof former === 'string') return
        killed.set(title, former)
        // All stores are copies of one store.
        if (stops.length === 0) then = await former.rows()
        stops.push({ url: former.url, moment, step })
      }
      ended = await killMigrations(stops)
    })
    afterAll(async () => {
      for (const former of killed.values()) await former[Symbol.asyncDispose]()
    })

    it.each(places)('[LIFE-29] a kill $title is recorded loses nothing of the old store', async ({ title }) => {
      const former = killed.get(title)
      if (former === undefined) return
      expect(ended).toEqual(['SIGKILL', ''])
      await (await openHost(former.url))[Symbol.asyncDispose]()
      expect(asThen(await former.rows(), then)).toEqual(then)
    })
  })
})

function countOf(rows: Rows): number {
  return Object.entries(rows)
    .filter(([table]) => !table.startsWith('kysely_'))
    .reduce((sum, [, list]) => sum + list.length, 0)
}
