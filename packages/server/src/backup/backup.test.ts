import { chownSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashOf, inPieces } from '../blobs/testing/blob-bytes.ts'
import { creation, written } from '../documents/testing/document-writes.ts'
import { migrateAll, planMigration } from '../drivers/sql/migrate-tool.ts'
import { MIGRATIONS, migrateStore } from '../drivers/sql/migrations/migrate.ts'
import { openSqlite } from '../drivers/sql/sqlite.ts'
import { openStoreSource } from '../drivers/sql/store-source.ts'
import { KNOWN_STORE, openStoreTarget } from '../drivers/sql/store-target.ts'
import { onPostgres } from '../drivers/sql/testing/on-postgres.ts'
import { openHost } from '../drivers/sql/testing/store-under-test.ts'
import { silentLogger } from '../kernel/log.ts'
import { backup, type BackupOptions } from './backup.ts'
import { type Manifest, readManifest, writeManifest } from './manifest.ts'
import { restore } from './restore.ts'
import { decodeRows, encodeRow } from './row-file.ts'
import type { Cell, StoreTarget } from './store-archive.port.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'relay-backup-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const urlOf = (name: string) => `sqlite:${join(folder, name)}.db`
const noBlobs = { read: () => Promise.resolve(null) }
const noRestoredBlobs = {
  // oxlint-disable-next-line no-empty-function -- an empty store lists nothing
  async *list() {},
  size: () => Promise.resolve(null),
  receive: () => Promise.reject(new Error('no blob is expected')),
}

async function* oneRow(): AsyncGenerator<readonly Cell[]> {
  yield [1]
}

async function makeStore(name: string, ids: readonly string[]): Promise<void> {
  const host = await openHost(urlOf(name))
  for (const id of ids) written(await host.documents.write(creation({ workspaceId: 'w', id })))
  await host[Symbol.asyncDispose]()
}

async function backUp(name: string, to: string, blobs: BackupOptions['blobs'] = noBlobs) {
  await using source = await openStoreSource(urlOf(name), silentLogger)
  const directory = join(folder, to)
  return await backup({ directory, source, blobs, tokenFile: join(folder, 'none'), program: '1.2.3', nowMs: 0, losses: [] })
}

function restoreInto(name: string, from: string, change: (target: StoreTarget) => StoreTarget = (target) => target) {
  return restore({
    directory: join(folder, from),
    knows: KNOWN_STORE,
    open: async () => ({ target: change(await openStoreTarget(urlOf(name), silentLogger)), blobs: noRestoredBlobs }),
    tokenFile: join(folder, 'none'),
  })
}

function onFile<T>(name: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(join(folder, `${name}.db`))
  try {
    return work(db)
  } finally {
    db.close()
  }
}

const tablesOf = (name: string) =>
  onFile(name, (db) => db.prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite%'").all())

describe('a file of rows', () => {
  const cell = fc.oneof(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger(), fc.constant(null))
  const row = fc.tuple(cell, fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(null)), cell, fc.uint8Array())
  const BINARY = [false, true, false, true]

  it('[OPS-9] rows of a backup file are read back unchanged, whatever the chunks in which the file arrives', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 20 }), fc.integer({ min: 1, max: 100 }), async (rows, pieceBytes) => {
        const file = Buffer.concat(rows.flatMap((cells) => encodeRow(cells)))
        const read: (readonly Cell[])[] = []
        for await (const cells of decodeRows(inPieces(file, pieceBytes), BINARY)) read.push(cells)
        expect(read).toEqual(rows)
      }),
      { seed: 7, numRuns: 100 },
    )
  })

  it('[OPS-10] a row file that ends too early or belongs to another table is refused', async () => {
    const file = Buffer.concat(encodeRow(['a', new Uint8Array(9), 1, new Uint8Array(1)]))
    const read = async (bytes: Uint8Array, binary: readonly boolean[]) => {
      for await (const cells of decodeRows(inPieces(bytes), binary)) void cells
    }
    for (let length = 1; length < file.length; length++) await expect(read(file.subarray(0, length), BINARY)).rejects.toThrow()
    await expect(read(file, [false, true])).rejects.toThrow('the wrong number of columns')
    await expect(read(file, [true, true, true, true])).rejects.toThrow('the wrong type')
  })
})

describe('a manifest', () => {
  const manifest: Manifest = {
    backupFormat: 1,
    createdAt: '2026-11-21T00:00:00.000Z',
    program: '1.2.3',
    store: { format: 1, steps: ['0001-initial'], tables: [] },
    rows: {},
    blobs: 'included',
    lostBlobs: [],
    files: [],
  }

  it('[OPS-10] a manifest is read back, and refused when any character of it was changed', () => {
    const text = writeManifest(manifest)
    expect(readManifest(text, KNOWN_STORE)).toEqual(manifest)
    const letters = [...text].map((letter, i) => ({ letter, i })).filter(({ letter }) => /[a-z0-9]/i.test(letter))
    for (const { letter, i } of letters) {
      const other = `${text.slice(0, i)}${letter === '7' ? '8' : '7'}${text.slice(i + 1)}`
      expect(() => readManifest(other, KNOWN_STORE)).toThrow(/damaged|newer/)
    }
  })

  it('[OPS-10] [LIFE-29] a manifest of a newer store is refused', () => {
    const newer = { ...manifest, store: { ...manifest.store, format: KNOWN_STORE.format + 1 } }
    expect(() => readManifest(writeManifest(newer), KNOWN_STORE)).toThrow('the backup is of a newer store (format 4)')
    const added = { ...manifest, store: { ...manifest.store, steps: ['0001-initial', '9999-x'] } }
    expect(() => readManifest(writeManifest(added), KNOWN_STORE)).toThrow('steps 9999-x')
  })
})

describe('a restore', () => {
  it('[OPS-10] a restore that fails half way leaves a marked store without rows, and a repeated one succeeds', async () => {
    await makeStore('source', ['a', 'b'])
    await backUp('source', 'backup')
    const failing = (target: StoreTarget): StoreTarget => ({
      ...target,
      fill: (layout, rows, objects) =>
        target.fill(
          layout,
          async function* (table) {
            yield* rows(table)
            if (table.name === 'bodies') throw new Error('the disk is full')
          },
          objects,
        ),
    })
    await expect(restoreInto('target', 'backup', failing)).rejects.toThrow('the disk is full')
    expect(tablesOf('target')).toEqual([{ name: 'store_facts' }])
    await expect(openHost(urlOf('target'))).rejects.toThrow('a restore into it was not finished')
    expect(await restoreInto('target', 'backup')).toMatchObject({ blobs: 0, manifest: { rows: { documents: 2 } } })
    await using host = await openHost(urlOf('target'))
    expect((await host.documents.list('w')).map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it.each(['1', '2'])('[LIFE-29] [OPS-10] a store of format %s is backed up and restored with its format', async (format) => {
    await makeStore('source', ['a'])
    onFile('source', (db) => db.exec(`update store_facts set value = '${format}' where name = 'format'`))
    await backUp('source', 'backup')
    expect(await restoreInto('target', 'backup')).toMatchObject({ manifest: { store: { format: Number(format) } } })
    await using host = await openHost(urlOf('target'))
    expect((await host.documents.list('w')).map(({ id }) => id)).toEqual(['a'])
    const stored = onFile('target', (db) => db.prepare("select value from store_facts where name = 'format'").get())
    expect(stored).toEqual({ value: format })
  })

  it('[LIFE-29] [OPS-10] restoring a backup of an older format migrates it to this program', async () => {
    const { engine, writer, close } = openSqlite(join(folder, 'old.db'), { synchronous: 'FULL' }, silentLogger)
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction), '0001-initial')
    await close()
    onFile('old', (db) => db.exec("insert into revocations (jti, revoked_at_ms) values ('jti', 1)"))
    await backUp('old', 'backup')
    await restoreInto('target', 'backup')
    await using host = await openHost(urlOf('target'))
    expect(await host.revocations.all()).toEqual([{ jti: 'jti', revokedAtMs: 1 }])
    expect(onFile('target', (db) => db.prepare('select count(*) as n from kysely_migration').get())).toEqual({
      n: Object.keys(MIGRATIONS).length,
    })
  })

  it('[YDOC-8] [OPS-10] a restored store assigns no row key that was used before the backup, even for a deleted row', async () => {
    const host = await openHost(urlOf('source'))
    const { key } = written(await host.documents.write(creation({ workspaceId: 'w', id: 'gone' })))
    await host.documents.remove({ workspaceId: 'w', id: 'gone' }, key, 1)
    await host[Symbol.asyncDispose]()
    await backUp('source', 'backup')
    await restoreInto('target', 'backup')
    await using second = await openHost(urlOf('target'))
    expect(written(await second.documents.write(creation({ workspaceId: 'w', id: 'new' }))).key).toBe(key + 1)
  })
})

describe('a backup', () => {
  it('[OPS-9] a backup names missing or damaged blobs and contains all others', async () => {
    await makeStore('source', [])
    const good = new TextEncoder().encode('hello\n')
    const [GOOD, OTHER, MISSING] = [
      '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
      'b'.repeat(64),
      'c'.repeat(64),
    ]
    onFile('source', (db) => {
      for (const [workspace, hash] of [
        ['v', GOOD],
        ['w', GOOD],
        ['w', OTHER],
        ['w', MISSING],
      ])
        db.prepare('insert into blob_grants values (?, ?, 6, ?, 0, 1, null, null, 0)').run(
          workspace ?? '',
          hash ?? '',
          'image/png',
        )
    })
    const read = async (hash: string) => (hash === MISSING ? null : inPieces(good))
    expect(await backUp('source', 'backup', { read })).toMatchObject({ blobs: 1, lostBlobs: [OTHER, MISSING] })
  })

  it('[OPS-9] [BLOB-24] a backup holds a blob whose object an upload replaces during the copy', async () => {
    await makeStore('source', [])
    const good = new TextEncoder().encode('hello\n')
    const hash = hashOf(good)
    const [former, newer] = [`${hash}.00000001`, `${hash}.00000002`]
    onFile('source', (db) => {
      db.exec(`insert into blob_grants values ('w', '${hash}', 6, 'image/png', 0, 1, null, null, 0)`)
      db.exec(`insert into blob_objects values ('${former}', '${hash}', 'valid', 0)`)
    })
    const asked: string[] = []
    const read = async (object: string) => {
      asked.push(object)
      if (object === newer) return inPieces(good)
      onFile('source', (db) => db.exec(`update blob_objects set object = '${newer}'`))
      return null
    }
    expect(await backUp('source', 'backup', { read })).toMatchObject({ blobs: 1, lostBlobs: [] })
    expect(asked).toEqual([former, newer])
  })

  const OTHERS = `create table _litestream_seq (id integer primary key, seq integer); insert into _litestream_seq values (1, 7)`

  it('[OPS-9] [OPS-10] a backup leaves out tables of other programs, reports their names, and can be restored', async () => {
    await makeStore('source', ['a'])
    onFile('source', (db) => db.exec(OTHERS))
    expect((await backUp('source', 'backup')).others).toEqual(['_litestream_seq'])
    await restoreInto('target', 'backup')
    expect(tablesOf('target')).not.toContainEqual({ name: '_litestream_seq' })
    expect(onFile('target', (db) => db.prepare('select id from documents').all())).toEqual([{ id: 'a' }])
  })

  it('[OPS-10] a backup by a former release that contains tables of other programs is restored without them', async () => {
    await makeStore('source', ['a'])
    const directory = join(folder, 'backup')
    {
      await using source = await openStoreSource(urlOf('source'), silentLogger)
      const other = { name: '_litestream_seq', columns: ['id'], binary: [], identity: null }
      const withOthers: typeof source = {
        ...source,
        atOneMoment: (work) =>
          source.atOneMoment((moment) =>
            work({
              ...moment,
              layout: { ...moment.layout, tables: [other, ...moment.layout.tables] },
              rows: (table) => (table === other ? oneRow() : moment.rows(table)),
            }),
          ),
      }
      const given = { blobs: noBlobs, tokenFile: join(folder, 'none'), program: '1.2.3', nowMs: 0, losses: [] }
      await backup({ directory, source: withOthers, ...given })
    }
    expect((await restoreInto('target', 'backup')).others).toEqual(['_litestream_seq'])
    expect(onFile('target', (db) => db.prepare('select id from documents').all())).toEqual([{ id: 'a' }])
  })

  it('[OPS-9] an interrupted backup has no manifest', async () => {
    await makeStore('source', [])
    onFile('source', (db) =>
      db.exec(`insert into blob_grants values ('w', '${'a'.repeat(64)}', 6, 'image/png', 0, 1, null, null, 0)`),
    )
    const read = () => Promise.reject(new Error('cut off'))
    await expect(backUp('source', 'backup', { read })).rejects.toThrow('cut off')
    await expect(restoreInto('target', 'backup')).rejects.toThrow(/has no manifest\.json/)
  })

  it('[OPS-9] [OPS-12] after a backup by root the files of the store still belong to its owner', async (context) => {
    if (process.getuid?.() !== 0) return context.skip('needs root')
    await makeStore('source', ['a'])
    chownSync(join(folder, 'source.db'), 65_534, 65_534)
    await backUp('source', 'backup')
    const owners = readdirSync(folder)
      .filter((name) => /^source\.db(-wal|-shm)?$/.test(name))
      .map((name) => statSync(join(folder, name)).uid)
    expect(new Set(owners)).toEqual(new Set([65_534]))
    expect(owners.length).toBeGreaterThan(1)
  })

  it('[OPS-9] a backup of a missing file, of another file or of a database without a store is refused with the reason', async () => {
    writeFileSync(join(folder, 'text.db'), 'this is no database, and long enough to have a header')
    onFile('empty', (db) => db.exec('create table mine (x)'))
    await expect(backUp('text', 'one')).rejects.toThrow(/not a database/)
    await expect(backUp('empty', 'two')).rejects.toThrow('the database holds no store of a relay')
    await expect(backUp('missing', 'three')).rejects.toThrow(/cannot read the store .*missing\.db/)
  })
})

await onPostgres((url) =>
  it('[OPS-9] [OPS-10] PostgreSQL: a backup leaves out tables of other programs, whatever their types', async () => {
    const host = await openHost(url)
    written(await host.documents.write(creation({ workspaceId: 'w', id: 'a' })))
    await host[Symbol.asyncDispose]()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(
      `create table spatial_ref_sys (id int generated always as identity, place point, facts json); insert into spatial_ref_sys (place, facts) values ('(1,2)', '{"a":1}')`,
    )
    await client.end()
    await using source = await openStoreSource(url, silentLogger)
    const given = { blobs: noBlobs, tokenFile: join(folder, 'none'), program: '1.2.3', nowMs: 0, losses: [] }
    expect((await backup({ directory: join(folder, 'backup'), source, ...given })).others).toEqual(['spatial_ref_sys'])
    await restoreInto('target', 'backup')
    expect(onFile('target', (db) => db.prepare('select id from documents').all())).toEqual([{ id: 'a' }])
  }),
)

describe('migrations', () => {
  it('[CFG-11] [LIFE-29] pending migrations are listed with their size and applied', async () => {
    const { engine, writer, close } = openSqlite(join(folder, 'old.db'), { synchronous: 'FULL' }, silentLogger)
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction), '0001-initial')
    await close()
    const { steps, storeBytes } = await planMigration(urlOf('old'), silentLogger)
    expect(steps.map(({ name }) => name)).toEqual(Object.keys(MIGRATIONS).slice(1))
    for (const step of steps) expect(step).toMatchObject({ safe: true, seconds: 1, spaceBytes: expect.any(Number) })
    expect(storeBytes).toBeGreaterThan(4096)
    await migrateAll(urlOf('old'), silentLogger)
    expect((await planMigration(urlOf('old'), silentLogger)).steps).toEqual([])
  })
})
