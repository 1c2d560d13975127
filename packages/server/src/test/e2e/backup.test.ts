import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOf } from '../../blobs/testing/blob-bytes.ts'
import { MIGRATIONS, migrateStore } from '../../drivers/sql/migrations/migrate.ts'
import { openSqlite } from '../../drivers/sql/sqlite.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openPostgresUnderTest } from '../../drivers/sql/testing/postgres-under-test.ts'
import { manifestOf, rowsOf } from '../backup-files.ts'
import { relayCommandHere } from '../relay-command.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'
import { patience } from '../../kernel/testing/patience.ts'

const folder = mkdtempSync(join(tmpdir(), 'relay-backup-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function newFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  return path
}

describe('backup, restore and migrate', () => {
  let relay: RelayUnderTest
  const backup = join(folder, 'source')

  beforeAll(async () => {
    relay = await startRelayUnderTest()
    for (const id of ['live', 'cold', 'deleted']) {
      await relay.rest().putDocument(id, { name: id, richTextPages: [{ id: 'text', name: 'Text', content: '<p>one</p>' }] })
    }
    const client = relay.sync('live')
    await saved(client)
    client.doc.getMap('metadata').set('title', 'by a person')
    await saved(client)
    client.destroy()
    await relay.rest().deleteDocument('deleted')
    await relay.stop()
    const done = await relayCommandHere(relay.dataDir, ['backup', backup])
    expect([done.code, done.err]).toEqual([0, expect.not.stringContaining('relay:')])
  })
  afterAll(() => relay?.[Symbol.asyncDispose]())

  /** Copies the backup and changes one thing in the copy. */
  function changed(name: string, change: (path: string) => void): string {
    const path = join(folder, name)
    cpSync(backup, path, { recursive: true })
    change(path)
    return path
  }

  async function refusal(name: string, path: string): Promise<string> {
    const dataDir = newFolder(`refused-${name}`)
    const { code, out, err } = await relayCommandHere(dataDir, ['restore', path])
    expect([code, out, readdirSync(dataDir)]).toEqual([1, '', []])
    return err.trim().split('\n').at(-1) ?? ''
  }

  it('[OPS-9] a backup consists of files that only their owner can read, with a hash of each', () => {
    const { files, rows, store } = manifestOf(backup)
    expect(statSync(backup).mode & 0o777).toBe(0o700)
    for (const { path, sha256, bytes } of files) {
      const content = readFileSync(join(backup, path))
      expect([statSync(join(backup, path)).mode & 0o777, hashOf(content), content.byteLength]).toEqual([0o600, sha256, bytes])
    }
    expect(rows).toMatchObject({ documents: 2, bodies: 2, tombstones: 1 })
    expect(store.tables.find(({ name }) => name === 'documents')?.identity).toEqual({ column: 'key', last: 3 })
  })

  it('[OPS-10] a client from before the restore merges with the restored documents, and no row key is used twice', async () => {
    const dataDir = newFolder('lineage')
    expect((await relayCommandHere(dataDir, ['restore', backup])).code).toBe(0)
    await using second = await startRelayUnderTest({ dataDir })
    const client = second.sync('live')
    await saved(client)
    expect(client.doc.getMap('metadata').get('title')).toBe('by a person')
    expect(client.doc.getXmlFragment('prose:text').toString()).toBe('<paragraph>one</paragraph>')
    expect(await second.rest().getDocument('live')).toMatchObject({ name: 'by a person' })
    await expect(second.rest().putDocument('deleted', { name: 'again' })).rejects.toMatchObject({ code: 'TOMBSTONED' })
    await second.rest().putDocument('new', { name: 'new' })
    await second.stop()
    const after = join(folder, 'lineage-backup')
    await relayCommandHere(dataDir, ['backup', after])
    const documents = manifestOf(after).store.tables.find(({ name }) => name === 'documents')
    expect(documents?.identity?.last).toBe(4)
    client.destroy()
  })

  it('[OPS-10] a backup moves a store from SQLite to PostgreSQL and back without a changed row', {
    timeout: patience(60_000),
  }, async (context) => {
    const server = await openPostgresUnderTest()
    if (typeof server === 'string') return context.skip(server)
    await using _server = server
    const env = { RELAY_STORAGE_URL: server.url, RELAY_CLUSTER_SINGLE_NODE: 'true' }
    const [there, back] = [join(folder, 'there'), join(folder, 'back')]
    const dataDir = newFolder('postgres-data')
    expect(await relayCommandHere(dataDir, ['restore', backup], env)).toMatchObject({ code: 0 })
    expect((await relayCommandHere(dataDir, ['restore', backup], env)).err).toContain('the database is not empty')
    expect(await relayCommandHere(dataDir, ['verify'], env)).toMatchObject({ code: 0 })
    expect((await relayCommandHere(dataDir, ['backup', there], env)).code).toBe(0)
    expect(await rowsOf(there)).toEqual(await rowsOf(backup))
    expect(manifestOf(there).store).toEqual(manifestOf(backup).store)
    const sqliteDir = newFolder('sqlite-data')
    expect((await relayCommandHere(sqliteDir, ['restore', there])).code).toBe(0)
    expect((await relayCommandHere(sqliteDir, ['backup', back])).code).toBe(0)
    expect(await rowsOf(back)).toEqual(await rowsOf(backup))
    {
      await using second = await startRelayUnderTest({ dataDir, env })
      await second.rest().putDocument('new', { name: 'new' })
      expect(await second.rest().getDocument('live')).toMatchObject({ name: 'by a person' })
    }
    await onServer(
      server.url,
      "update bodies set body = body || '\\x20'; update documents set version = version + 1 where id = 'cold'",
    )
    const damaged = await relayCommandHere(dataDir, ['verify'], env)
    expect(damaged.code).toBe(1)
    expect(damaged.out).toContain('damage: document "cold" of workspace "default": its row does not have its checksum')
    expect(damaged.out.match(/its body does not have its checksum/g)).toHaveLength(3)
  })

  it('[OPS-10] restore refuses a damaged, unfinished or newer backup before it writes anything', async () => {
    const flip = (file: string) => (path: string) => {
      const bytes = readFileSync(join(path, file))
      bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
      writeFileSync(join(path, file), bytes)
    }
    const edit = (change: (manifest: Record<string, unknown>) => void) => (path: string) => {
      const manifest = JSON.parse(readFileSync(join(path, 'manifest.json'), 'utf8')) as Record<string, unknown>
      change(manifest)
      writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest))
    }
    const cases: readonly [string, (path: string) => void, RegExp][] = [
      ['row', flip('tables/bodies.rows'), /tables\/bodies\.rows is not what was written/],
      ['missing', (path) => rmSync(join(path, 'tables/updates.rows')), /tables\/updates\.rows is missing/],
      ['unfinished', (path) => rmSync(join(path, 'manifest.json')), /has no manifest\.json: .* interrupted/],
      ['own-hash', edit((manifest) => (manifest['createdAt'] = 'yesterday')), /manifest\.json is damaged/],
      ['newer', edit((manifest) => (manifest['backupFormat'] = 2)), /format 2, newer than the 1/],
    ]
    await Promise.all(
      cases.map(async ([name, change, expected]) => {
        expect(await refusal(name, changed(`changed-${name}`, change))).toMatch(expected)
      }),
    )
  })

  it('[OPS-9] backup refuses a folder that is not empty and leaves it unchanged', async () => {
    const path = newFolder('not-empty')
    writeFileSync(join(path, 'mine'), 'mine')
    const done = await relayCommandHere(relay.dataDir, ['backup', path])
    expect([done.code, done.out, readdirSync(path)]).toEqual([1, '', ['mine']])
    expect(done.err).toContain('is not empty')
  })

  it('[OPS-10] restore refuses a store that is not empty and leaves it unchanged, whether its relay runs or not', async () => {
    const before = readFileSync(join(relay.dataDir, 'relay.db'))
    expect((await relayCommandHere(relay.dataDir, ['restore', backup])).err).toContain('the database is not empty')
    expect(readFileSync(join(relay.dataDir, 'relay.db')).equals(before)).toBe(true)
    await relay.restart()
    expect((await relayCommandHere(relay.dataDir, ['restore', backup])).err).toContain('in use by another process')
    await relay.stop()
    const dataDir = newFolder('with-blobs')
    mkdirSync(join(dataDir, 'blobs/ab'), { recursive: true })
    writeFileSync(join(dataDir, 'blobs/ab', 'c'.repeat(62)), 'x')
    expect((await relayCommandHere(dataDir, ['restore', backup])).err).toContain('the blob store is not empty')
  })

  it('[OPS-10] after an interrupted restore no relay starts on the store, and the restore can be repeated', async () => {
    const dataDir = newFolder('interrupted')
    const db = new DatabaseSync(join(dataDir, 'relay.db'))
    db.exec(
      "create table store_facts (name text primary key, value text not null); insert into store_facts values ('restore-unfinished', 'begun')",
    )
    db.close()
    await expect(startRelayUnderTest({ dataDir })).rejects.toThrow(/a restore into it was not finished/)
    expect((await relayCommandHere(dataDir, ['backup', join(folder, 'of-unfinished')])).err).toContain('was not finished')
    expect((await relayCommandHere(dataDir, ['restore', backup])).code).toBe(0)
    await using second = await startRelayUnderTest({ dataDir })
    expect(await second.rest().getDocument('cold')).toMatchObject({ name: 'cold' })
  })

  it('[OPS-9] [OPS-10] a backup without --blobs omits the blobs of an object store, and its restore needs the object store', async () => {
    const env = {
      RELAY_BLOBS_URL: 's3://bucket?endpoint=http://127.0.0.1:1&region=none&path_style=true',
      RELAY_S3_ACCESS_KEY_ID: 'key',
      RELAY_S3_SECRET_ACCESS_KEY: 'secret-of-the-object-store',
    }
    const target = join(folder, 'without-objects')
    expect(await relayCommandHere(relay.dataDir, ['backup', target], env)).toMatchObject({ code: 0 })
    expect([manifestOf(target).blobs, readdirSync(target).sort()]).toEqual(['elsewhere', ['manifest.json', 'tables']])
    const empty = newFolder('without-objects-restored')
    const refused = await relayCommandHere(empty, ['restore', target], env)
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('The object store failed: ECONNREFUSED') })
    // The refused restore has not begun, so the store can be filled from another backup.
    expect((await relayCommandHere(empty, ['restore', backup])).code).toBe(0)
  })

  it('[CFG-11] [LIFE-29] migrate lists the pending migrations, and makes a backup before it runs them', async () => {
    const dataDir = newFolder('older')
    const { engine, writer, close } = openSqlite(join(dataDir, 'relay.db'), { synchronous: 'FULL' }, silentLogger)
    await migrateStore(writer, engine.columnTypes, (transaction) => engine.lockStore(transaction), '0001-initial')
    await close()
    const migrate = (...more: string[]) => relayCommandHere(dataDir, ['migrate', ...more])
    const pending = Object.keys(MIGRATIONS).slice(1)
    const lineOf = (name: string) =>
      `${name}: passes over about \\d+ bytes, takes about 1 s and \\d+ bytes of disk; relay serve does it as well\\n`
    expect((await migrate('--plan')).out).toMatch(
      new RegExp(
        `^${pending.map((name) => `pending ${lineOf(name)}`).join('')}relay migrate writes a backup .*: about \\d+ bytes\\n$`,
      ),
    )
    expect((await relayCommandHere(dataDir, ['verify'])).err).toContain(
      `lacks the steps ${pending.join(', ')}: run \`relay migrate\` first`,
    )
    const done = await migrate()
    expect(done.code).toBe(0)
    expect(done.out).toMatch(new RegExp(`^backup .*\\n${pending.map((name) => `applied ${lineOf(name)}`).join('')}$`))
    const made = readdirSync(dataDir).filter((name) => name.startsWith('backup-before-'))
    expect(manifestOf(join(dataDir, made[0] ?? '')).store.steps).toEqual(['0001-initial'])
    expect(await migrate()).toMatchObject({ code: 0, out: 'the store is up to date\n' })
    expect((await migrate('--plan')).out).toBe('the store is up to date\n')
  })
})

async function onServer(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statements)
  await client.end()
}
