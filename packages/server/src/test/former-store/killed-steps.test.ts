import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { connect } from '../../drivers/sql/database.ts'
import type { Database } from '../../drivers/sql/engine.ts'
import { appliedSteps, applySteps, MIGRATIONS, setFact, tableNames } from '../../drivers/sql/migrations/migrate.ts'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { openHost, temporaryStore } from '../../drivers/sql/testing/store-under-test.ts'
import { killMigrations, type StopAt } from './kill-migrations.ts'

const STEPS = Object.keys(MIGRATIONS)
/** Steps that the store of commit 926e332 already has; `former-store.long.test.ts` kills the later ones. */
const FIRST_STEPS = STEPS.slice(0, 3)
const HASH = 'a'.repeat(64)

async function onStore<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await connect(url, { synchronous: 'FULL' }, silentLogger)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Makes a store as the program with only these steps left it, with a document and a recovery point. */
async function makeStore(url: string, steps: readonly string[]): Promise<void> {
  await onStore(url, async ({ engine, writer }) => {
    if (steps.length === 0) return
    await writer.transaction().execute(async (transaction) => {
      await applySteps(transaction, engine.columnTypes, steps)
      await setFact(transaction, 'format', '1')
    })
    await sql`insert into documents (workspace_id, id, version, owner_id, owner_name, shared_with, created_at_ms, updated_at_ms,
      title_changed_at_ms, size_bytes, facts, crc32) values ('w', 'd', 1, '', '', '[]', 0, 0, 0, 1, '{}', 0)`.execute(writer)
    const body = Buffer.from(`{"blobRef":"${HASH}"}`)
    await sql`insert into bodies (key, crc32, body) select key, 0, ${body} from documents`.execute(writer)
    await sql`insert into recovery_points (key, reason, created_at_ms, version, facts, crc32, body)
      select key, 'zeroing', 0, 1, '{}', 0, ${body} from documents`.execute(writer)
  })
}

/** Returns, as text, the contents of the first step's tables that later steps must not change. */
function contentsOf(url: string): Promise<string> {
  return onStore(url, async ({ reader }) => {
    const tables = await tableNames(reader)
    const read = async (query: ReturnType<typeof sql>) => (await query.execute(reader)).rows
    if (!tables.includes('documents')) return JSON.stringify(tables)
    return JSON.stringify([
      await read(sql`select workspace_id, id, version, facts from documents`),
      await read(sql`select key, crc32, body from bodies`),
      await read(sql`select key, reason, version, body from recovery_points`),
    ])
  })
}

const stepsOf = (url: string) => onStore(url, ({ reader }) => appliedSteps(reader))

interface Opened {
  readonly url: string
  remove(): PromiseLike<void> | void
}

const engines: readonly (readonly [string, () => Promise<Opened | string>])[] = [
  ['SQLite', async () => temporaryStore()],
  [
    'PostgreSQL',
    async () => {
      const server = await openPostgresUnderTest()
      return typeof server === 'string' ? server : { url: server.url, remove: () => server[Symbol.asyncDispose]() }
    },
  ],
]

const PLACES = FIRST_STEPS.flatMap((name) =>
  (['before', 'after'] as const).map((moment) => ({ moment, name, title: `${moment} ${name}` })),
)

describe.each(engines)('a kill within one of the first migrations on %s', (_, open) => {
  const killed = new Map<string, { readonly store: Opened; readonly done: readonly string[]; readonly before: string }>()
  let ended: readonly [string | null, string] | null = null
  beforeAll(async () => {
    const stops: StopAt[] = []
    for (const { title, moment, name } of PLACES) {
      const store = await open()
      if (typeof store === 'string') return void process.stderr.write(`skipped on PostgreSQL: ${store}\n`)
      const done = STEPS.slice(0, STEPS.indexOf(name))
      await makeStore(store.url, done)
      killed.set(title, { store, done, before: await contentsOf(store.url) })
      stops.push({ url: store.url, moment, step: 1 })
    }
    ended = await killMigrations(stops)
  })
  afterAll(async () => {
    for (const { store } of killed.values()) await store.remove()
  })

  it.each(PLACES)(
    '[LIFE-29] a kill $title is recorded leaves the store as it was, and the next start runs every migration',
    async ({ title }) => {
      const kept = killed.get(title)
      if (kept === undefined) return
      expect(ended).toEqual(['SIGKILL', ''])
      const { store, done, before } = kept
      // All pending steps run in one transaction, so none is recorded. In a new store even the table of steps is missing.
      expect([await stepsOf(store.url), await contentsOf(store.url)]).toEqual([done, before])
      await (await openHost(store.url))[Symbol.asyncDispose]()
      expect(await stepsOf(store.url)).toEqual(STEPS)
      if (done.length > 0) expect(await contentsOf(store.url)).toBe(before)
    },
  )
})
