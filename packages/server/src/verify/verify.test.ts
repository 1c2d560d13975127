import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { bodyChecksum, snapshotChecksum } from '../drivers/sql/checksum.ts'
import { fillSmallStore } from '../test/faults/verify-store.ts'
import { generator, OPEN_LIMITS } from '../test/faults/mixed-load.ts'
import { relayCommandHere } from '../test/relay-command.ts'
import { type RelayUnderTest, startRelayUnderTest, until } from '../test/relay-under-test.ts'
import { pause } from '../test/wire-client.ts'
import { findingsIn, flipOneBit } from './testing/bit-flips.ts'
import { patience } from '../kernel/testing/patience.ts'

let relay: RelayUnderTest
const folder = mkdtempSync(join(tmpdir(), 'relay-verify-'))

beforeAll(async () => {
  relay = await startRelayUnderTest()
  await fillSmallStore(relay)
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

let copies = 0
/** Changes a copy of the store with `change` and returns the findings of verify about the copy. */
async function after(change: (db: DatabaseSync) => void): Promise<string[]> {
  const copy = join(folder, String(copies++))
  cpSync(relay.dataDir, copy, { recursive: true })
  const db = new DatabaseSync(join(copy, 'relay.db'), { enableForeignKeyConstraints: false })
  change(db)
  db.close()
  const found = await findingsIn(copy)
  return found.map(({ level, what, docId, detail }) =>
    [level, what, docId, detail].filter((part) => part !== undefined).join(' '),
  )
}

const keyOf = (db: DatabaseSync, id: string) => Number(db.prepare('select key from documents where id = ?').get(id)?.['key'])

describe('an undamaged store', () => {
  it('[OPS-11] verify of an undamaged store has no finding and changes no byte', async () => {
    const bytes = () => readFileSync(join(relay.dataDir, 'relay.db'))
    const before = bytes()
    expect(await findingsIn(relay.dataDir)).toEqual([])
    expect(bytes().equals(before)).toBe(true)
  })

  it('[OPS-11] [CFG-12] verify prints its result as one line, or as one JSON object with --json', async () => {
    const [text, json] = await Promise.all([
      relayCommandHere(relay.dataDir, ['verify']),
      relayCommandHere(relay.dataDir, ['verify', '--json']),
    ])
    expect(text.out).toMatch(/^read: 4 documents, \d+ recovery points?, 4 blobs; found: damage 0, notes 0; set aside earlier: 0/)
    const { summary } = JSON.parse(json.out) as { summary: unknown }
    expect(summary).toMatchObject({ documents: 4, blobs: 4, damages: 0, notes: 0, setAside: 0 })
    expect([text.code, json.code]).toEqual([0, 0])
  })
})

describe('blob files without a row', () => {
  it('[OPS-11] verify reports blob bytes that no row names as a note with their size, not as damage', async () => {
    const copy = join(folder, 'stray')
    cpSync(relay.dataDir, copy, { recursive: true })
    mkdirSync(join(copy, 'blobs', 'ab'), { recursive: true })
    writeFileSync(join(copy, 'blobs', 'ab', 'c'.repeat(62)), 'stray')
    const run = await relayCommandHere(copy, ['verify', '--json'])
    expect(run.code).toBe(0)
    expect(JSON.parse(run.out.split('\n')[0] ?? '')).toEqual({
      level: 'note',
      what: 'blob',
      hash: `ab${'c'.repeat(62)}`,
      detail: expect.stringContaining('no workspace holds these 5 bytes'),
    })
  })
})

describe('a store under writes', () => {
  it('[OPS-11] verify of a store under writes or after a kill has no finding', async () => {
    await using busy = await startRelayUnderTest({ env: OPEN_LIMITS })
    const random = generator(5)
    let running = true
    const work = ['a', 'b'].flatMap((id) => [
      putAgainAndAgain(busy, id, random, () => running),
      editNowAndThen(busy, id, random, () => running),
    ])
    const found: unknown[] = []
    for (let i = 0; i < 8; i++) {
      await pause(100)
      found.push(...(await findingsIn(busy.dataDir)))
    }
    await busy.kill()
    running = false
    found.push(...(await findingsIn(busy.dataDir)))
    await Promise.allSettled(work)
    expect(found).toEqual([])
  })
})

async function putAgainAndAgain(busy: RelayUnderTest, id: string, random: () => number, running: () => boolean): Promise<void> {
  for (let i = 0; running(); i++) {
    const shapes = Array.from({ length: Math.floor(random() * 5) }, (_, n) => ({ id: `s${n}`, type: 'rectangle', x: i }))
    const content = `<h1>T${i}</h1><p>some <strong>bold</strong> ${i}</p><ul><li>q</li></ul>`
    const body = {
      name: `${id} ${i % 3}`,
      other: { deep: [i] },
      pages: [{ id: 'canvas', name: 'Canvas', shapes }],
      richTextPages: [{ id: 'one', name: 'One', content }],
    }
    await busy
      .rest()
      .putDocument(id, body)
      .catch(() => undefined)
    await pause(20 + random() * 100)
  }
}

async function editNowAndThen(busy: RelayUnderTest, id: string, random: () => number, running: () => boolean): Promise<void> {
  await pause(100)
  while (running()) {
    const client = busy.sync(id)
    await until('the client', () => client.state.synced || !running())
    for (let i = 0; i < 8 && running(); i++) {
      const choice = random()
      const page = client.doc.getXmlFragment('prose:one')
      if (choice < 0.3) client.doc.getMap('shapes:canvas').set(`e${i}`, { id: `e${i}`, type: 'ellipse', x: i })
      else if (choice < 0.5) client.doc.getMap('metadata').set('title', `live ${i}`)
      else if (choice < 0.8) {
        const paragraph = new Y.XmlElement('paragraph')
        paragraph.insert(0, [new Y.XmlText(`t${i}`)])
        page.insert(0, [paragraph])
      } else if (page.length > 1) page.delete(0, 1)
      await pause(random() * 50)
    }
    client.destroy()
  }
}

describe('a damaged store', () => {
  it('[OPS-11] verify finds each of 40 flipped bits in a store', { timeout: patience(60_000) }, async () => {
    const random = generator(20_261_121)
    const missed: string[] = []
    for (let i = 0; i < 40; i++) {
      const { where, found } = await flipOneBit(relay.dataDir, random)
      if (found.length === 0) missed.push(where)
    }
    expect(missed).toEqual([])
  })

  it.each<[string, (db: DatabaseSync) => void, RegExp]>([
    [
      'a body that differs from its Y state, with a valid checksum',
      (db) => {
        const key = keyOf(db, 'doc-0')
        const text = Buffer.from(db.prepare('select body from bodies where key = ?').get(key)?.['body'] as Uint8Array).toString()
        const body = Buffer.from(text.replace('text of doc-0', 'lies of doc-0'))
        db.prepare('update bodies set body = ?, crc32 = ? where key = ?').run(body, bodyChecksum(key, body), key)
      },
      /^damage document doc-0 its body and its Y state, which holds all of it, say different things$/,
    ],
    [
      'a snapshot with its checksum that cannot be decoded',
      (db) => {
        const key = keyOf(db, 'doc-0')
        const bytes = new Uint8Array([1, 1, 200, 200])
        const row = db.prepare('select through_seq, state_vector from snapshots where key = ? order by through_seq desc').get(key)
        const seq = Number(row?.['through_seq'])
        const sum = snapshotChecksum(key, seq, row?.['state_vector'] as Uint8Array, bytes)
        db.prepare('update snapshots set bytes = ?, crc32 = ? where key = ? and through_seq = ?').run(bytes, sum, key, seq)
      },
      /^damage document doc-0 the snapshot through \d+ cannot be decoded: /,
    ],
    [
      'a snapshot under the state vector of another content',
      (db) => {
        const key = keyOf(db, 'doc-0')
        const row = db.prepare('select through_seq, bytes from snapshots where key = ? order by through_seq desc').get(key)
        const vector = Y.encodeStateVector(new Y.Doc())
        const seq = Number(row?.['through_seq'])
        const sum = snapshotChecksum(key, seq, vector, row?.['bytes'] as Uint8Array)
        db.prepare('update snapshots set state_vector = ?, crc32 = ? where key = ? and through_seq = ?').run(
          vector,
          sum,
          key,
          seq,
        )
      },
      /^damage document doc-0 the state vector of the snapshot through \d+ is not that of its content$/,
    ],
    [
      'a record that is missing',
      (db) =>
        db
          .prepare('delete from updates where key = ? and seq = (select max(seq) from updates where key = ?)')
          .run(keyOf(db, 'doc-1'), keyOf(db, 'doc-1')),
      /^damage document doc-1 records (\d+) to \1 are missing$/,
    ],
    [
      'rows of a document that does not exist',
      (db) => db.exec("delete from documents where id = 'doc-2'"),
      /^damage store log_heads has rows of document key \d+, which does not exist$/,
    ],
    [
      'a document row with an older sequence than its log',
      (db) => db.prepare('update log_heads set covered_seq = last_seq + 1 where key = ?').run(keyOf(db, 'doc-3')),
      /^damage document doc-3 its body is said to hold the log through \d+, which ends at \d+$/,
    ],
    [
      'a reference that is not recorded',
      (db) => db.prepare('delete from blob_refs where key = ?').run(keyOf(db, 'doc-3')),
      /^damage document doc-3 the reference to blob [0-9a-f]{64} is not recorded$/,
    ],
    [
      'a blob that is referenced and not metered',
      (db) => db.exec('update blob_grants set metered = 0'),
      /^damage document doc-\d blob [0-9a-f]{64} is referenced and not metered$/,
    ],
    [
      'a blob without bytes',
      (db) => db.exec(`insert into blob_grants values ('w', '${'a'.repeat(64)}', 1, 'image/png', 0, 1, null, null, 0)`),
      /^damage blob its bytes are missing$/,
    ],
    [
      'a blob of another size than a workspace has recorded',
      (db) => db.exec('update blob_grants set size_bytes = size_bytes + 1'),
      /^damage blob it has \d+ bytes where a workspace has recorded \d+$/,
    ],
    [
      'a document that also has a tombstone',
      (db) => db.exec("insert into tombstones select workspace_id, id, 0, 1, '', null, null from documents where id = 'doc-0'"),
      /^damage store document "doc-0" exists and is said to be deleted$/,
    ],
    [
      'a referenced blob without a grant, as no damage',
      (db) => db.exec('delete from blob_grants'),
      /^note document doc-\d blob [0-9a-f]{64} is referenced, and the workspace does not hold it$/,
    ],
  ])('[OPS-11] verify reports %s', async (_, change, expected) => {
    const found = await after(change)
    expect(found.filter((line) => expected.test(line)).length).toBeGreaterThan(0)
  })

  it('[OPS-11] [CFG-12] verify of a damaged store exits with 1 and prints one line per finding', async () => {
    const copy = join(folder, 'as-command')
    cpSync(relay.dataDir, copy, { recursive: true })
    const db = new DatabaseSync(join(copy, 'relay.db'))
    db.exec("update documents set owner_name = 'somebody else' where id = 'doc-0'; update updates set crc32 = 1")
    const records = Number(db.prepare('select count(*) as n from updates').get()?.['n'])
    db.close()
    const { code, out } = await relayCommandHere(copy, ['verify'])
    const lines = out.trim().split('\n')
    expect([code, lines.filter((line) => line.startsWith('damage: ')).length]).toEqual([1, 1 + records])
    expect(lines.find((line) => line.startsWith('note: document'))).toContain('`relay repair` with its id')
    expect(lines[0]).toBe('damage: document "doc-0" of workspace "default": its row does not have its checksum')
    const json = await relayCommandHere(copy, ['verify', '--json'])
    expect(JSON.parse(json.out.split('\n')[0] ?? '')).toMatchObject({ level: 'damage', docId: 'doc-0', workspace: 'default' })
  })
})
