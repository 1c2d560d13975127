import { readStoredBody } from '@docrelay/model/body-parse'
import { writeStoredBody } from '@docrelay/model/body-write'
import { afterAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead } from '../documents/document-store.port.ts'
import { bodyOf, change, creation, textOf, written } from '../documents/testing/document-writes.ts'
import { openDatabase } from '../drivers/sql/database.ts'
import { openStoredContents } from '../drivers/sql/inspect-store.ts'
import { openRepairStore } from '../drivers/sql/repair-store.ts'
import type { StorageHost } from '../drivers/sql/storage-host.ts'
import type { Writer } from '../drivers/sql/tables.ts'
import { openPostgresUnderTest } from '../drivers/sql/testing/postgres-under-test.ts'
import { openHost, temporaryStore } from '../drivers/sql/testing/store-under-test.ts'
import { systemClock } from '../kernel/clock.ts'
import { systemRandom } from '../kernel/ids.ts'
import { silentLogger } from '../kernel/log.ts'
import { project } from '../sync/binding/binding.ts'
import { seed } from '../sync/binding/binding-seed.ts'
import { buildSound } from '../sync/room/room-content.ts'
import { documentFindings } from '../verify/verify-document.ts'
import { repair } from './repair.ts'

const sqlite = temporaryStore()
const postgres = await openPostgresUnderTest()
if (typeof postgres === 'string') process.stderr.write(`skipped on PostgreSQL: ${postgres}\n`)
afterAll(async () => {
  sqlite.remove()
  if (typeof postgres !== 'string') await postgres[Symbol.asyncDispose]()
})
const engines = [
  { name: 'SQLite', url: sqlite.url },
  ...(typeof postgres === 'string' ? [] : [{ name: 'PostgreSQL', url: postgres.url }]),
]

const EMPTY = '{"name":"Doc","pages":[{"id":"canvas","name":"Canvas","shapes":[]}]}'
const shape = (id: string) => ({ id, type: 'ellipse', x: 1 })
const shapesOf = (doc: Y.Doc) => [...doc.getMap('shapes:canvas').keys()].sort()
const A_NODE = {
  node_id: 'a node of a test',
  mode: 'cluster',
  link_url: null,
  program: 'test',
  state: 'up' as const,
  beat: 1,
  lease_until_ms: 0,
  robbed: 0,
}
const refOf = ({ workspaceId, id }: DocumentHead) => ({ workspaceId, id })

interface Filled {
  readonly head: DocumentHead
  /** The Y.Doc of an editor that has received every update. */
  readonly copy: Y.Doc
}

/**
 * Creates a document whose log has the seed as record 1 and then the shapes s2 to s6, each from a different Y client. The body of the document
 * contains the log through record 3.
 */
async function fill(host: StorageHost, id: string): Promise<Filled> {
  const copy = new Y.Doc()
  seed(copy, readStoredBody(new TextEncoder().encode(EMPTY)))
  const first = written(await host.documents.write(creation({ workspaceId: 'w', id }, EMPTY)))
  await append(host, first, 0, Y.encodeStateAsUpdate(copy))
  let head = first
  for (let seq = 2; seq <= 6; seq++) {
    const typist = new Y.Doc()
    Y.applyUpdate(typist, Y.encodeStateAsUpdate(copy))
    const before = Y.encodeStateVector(typist)
    typist.getMap('shapes:canvas').set(`s${seq}`, shape(`s${seq}`))
    const made = Y.encodeStateAsUpdate(typist, before)
    await append(host, first, seq - 1, made)
    Y.applyUpdate(copy, made)
    if (seq !== 3) continue
    const text = textOf(writeStoredBody(project(copy, readStoredBody(new TextEncoder().encode(EMPTY)))))
    head = written(await host.documents.write(change(first, text, { log: { kind: 'live', lastSeq: 3, append: [] } })))
  }
  return { head, copy }
}

async function append(host: StorageHost, { key }: DocumentHead, afterSeq: number, update: Uint8Array, version?: number) {
  const catchUp = version === undefined ? {} : { catchUp: { version } }
  const [outcome] = await host.updates.append([{ key, afterSeq, actor: 'ann', atMs: 1, update, ...catchUp }])
  expect(outcome).toEqual({ kind: 'appended', seq: afterSeq + 1 })
}

/** Writes the shape `cold` to the body, as a cold write does, and then appends the shape to the log as record 7. */
async function writeCold(host: StorageHost, { head, copy }: Filled): Promise<void> {
  const record = await host.documents.read(refOf(head))
  if (record === null) throw new Error('there is no document')
  const settled = textOf(writeStoredBody(project(copy, readStoredBody(record.body))))
  const whole = written(
    await host.documents.write(change(record.head, settled, { log: { kind: 'live', lastSeq: 6, append: [] } })),
  )
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(copy))
  doc.getMap('shapes:canvas').set('cold', shape('cold'))
  const cold = textOf(writeStoredBody(project(doc, readStoredBody(new TextEncoder().encode(settled)))))
  const ahead = written(await host.documents.write(change(whole, '', { set: { body: bodyOf(cold) } })))
  await append(host, ahead, 6, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(copy)), ahead.version)
}

async function behindItsBack(url: string, work: (writer: Writer) => Promise<unknown>): Promise<void> {
  const database = await openDatabase(url, { synchronous: 'FULL' }, silentLogger)
  await work(database.writer as Writer)
  await database.close()
}
const spoil = (key: number, seq: number) => (writer: Writer) =>
  writer
    .updateTable('updates')
    .set({ bytes: new Uint8Array([7]) })
    .where('key', '=', key)
    .where('seq', '=', seq)
    .execute()
const remove = (key: number, seq: number) => (writer: Writer) =>
  writer.deleteFrom('updates').where('key', '=', key).where('seq', '=', seq).execute()

async function repaired(url: string, id: string) {
  await using store = await openRepairStore(url, systemRandom, silentLogger)
  return await repair({ store, clock: systemClock, random: systemRandom }, { workspaceId: 'w', id })
}

/** Returns the findings of verify about a document, and how many of its bytes were set aside. */
async function damageOf(url: string, id: string): Promise<readonly string[]> {
  await using store = await openStoredContents(url, silentLogger)
  const details: string[] = []
  await store.eachDocument(async (document) => {
    if (document.id !== id) return
    for (const { level, detail } of documentFindings(document, systemRandom)) if (level === 'damage') details.push(detail)
  })
  return details
}

async function setAside(url: string, key: number): Promise<number> {
  let count = 0
  await behindItsBack(url, async (writer) => {
    count = (await writer.selectFrom('set_aside').select('entry').where('key', '=', key).execute()).length
  })
  return count
}

describe.each(engines)('relay repair of a log with missing or damaged records, on $name', ({ url }) => {
  const OWN = 'the log, as far as they can be applied; the body was brought up to them'
  const cases = [
    {
      what: 'a damaged record behind what the body holds',
      harm: spoil,
      seq: 5,
      used: `used: 5 records of ${OWN}`,
      lost: 'lost: the edits of record 5 of the log, missing or damaged; a client that still has them brings them back when it connects',
      shapes: ['s2', 's3', 's4', 's6'],
      anew: false,
    },
    {
      what: 'a missing record right behind what the body holds',
      harm: remove,
      seq: 4,
      used: `used: 5 records of ${OWN}`,
      lost: 'lost: the edits of record 4 of the log, missing or damaged; a client that still has them brings them back when it connects',
      shapes: ['s2', 's3', 's5', 's6'],
      anew: false,
    },
    {
      what: 'a damaged record that the body holds',
      harm: spoil,
      seq: 2,
      used: 'used: the stored body, version 2; it has a new lineage, so editors drop their copies',
      lost: 'lost: what the last 3 records of the log changed',
      shapes: ['s2', 's3'],
      anew: true,
    },
  ]
  it.each(cases)('[CFG-11] [LIFE-5] repair of $what restores as much of the document as possible', async (given) => {
    const { harm, seq, used, lost, shapes, anew } = given
    const id = `record-${seq}`
    const host = await openHost(url)
    const { head, copy } = await fill(host, id)
    await host[Symbol.asyncDispose]()
    await behindItsBack(url, harm(head.key, seq))
    const rows = harm === remove ? 5 : 6
    expect((await damageOf(url, id)).join()).toMatch(new RegExp(`records? ${seq}\\b`))
    const report = await repaired(url, id)
    const title = `repaired document "${id}" of workspace "w"`
    expect(report).toEqual({ kind: 'repaired', lines: [title, used, lost, 'the old rows are kept in the table set_aside'] })
    expect([await damageOf(url, id), await setAside(url, head.key)]).toEqual([[], rows])
    const again = await openHost(url)
    const log = await again.updates.load(head.key)
    const updates = log.kind === 'loaded' && log.snapshot !== null ? [log.snapshot.update] : []
    const { doc, gap } = buildSound(updates, systemRandom)
    const body = textOf((await again.documents.read(refOf(head)))?.body)
    expect([
      gap,
      shapesOf(doc),
      JSON.parse(body)
        .pages[0].shapes.map((one: { id: string }) => one.id)
        .sort(),
    ]).toEqual([null, shapes, shapes])
    const state = await again.documents.state(refOf(head))
    expect(state.kind === 'document' && state.head.lineage !== head.lineage).toBe(anew)
    const former = await again.documents.formerClients(refOf(head), systemClock.nowMs())
    expect(former.length > 0).toBe(anew)
    // Where the history continues, a client that has the lost content gives it back.
    if (!anew) {
      Y.applyUpdate(doc, Y.encodeStateAsUpdate(copy))
      expect(shapesOf(doc)).toEqual(['s2', 's3', 's4', 's5', 's6'])
    }
    await again[Symbol.asyncDispose]()
    expect(await repaired(url, id)).toMatchObject({ kind: 'sound' })
  })

  it('[CFG-11] a repair adds a feed row with the new end of the log only when several nodes use the store', async () => {
    for (const [id, told] of [
      ['alone', []],
      ['shared', [{ kind: 'repaired', docId: 'shared', seq: 7, isOwn: false }]],
    ] as const) {
      if (id === 'shared') await behindItsBack(url, (writer) => writer.insertInto('nodes').values(A_NODE).execute())
      const host = await openHost(url)
      const { head } = await fill(host, id)
      const { top } = await host.changeFeed.begin()
      await host[Symbol.asyncDispose]()
      await behindItsBack(url, spoil(head.key, 5))
      expect(await repaired(url, id)).toMatchObject({ kind: 'repaired' })
      await using again = await openHost(url)
      const { rows } = await again.changeFeed.read({ above: top, gaps: [], limit: 9, asksOpen: false })
      expect(rows).toMatchObject(told)
      expect(await again.documents.state(refOf(head))).toMatchObject({ head: { lastSeq: 7 } })
    }
    await behindItsBack(url, (writer) => writer.deleteFrom('nodes').execute())
  })

  it('[CFG-11] [LIFE-15] repair keeps a write to the body whose own log record is damaged', async () => {
    const host = await openHost(url)
    const filled = await fill(host, 'cold')
    await writeCold(host, filled)
    await host[Symbol.asyncDispose]()
    await behindItsBack(url, spoil(filled.head.key, 7))
    const { kind, lines } = await repaired(url, 'cold')
    expect([kind, lines[1]]).toEqual(['repaired', expect.stringContaining('used: the stored body')])
    const again = await openHost(url)
    expect(textOf((await again.documents.read(refOf(filled.head)))?.body)).toContain('"cold"')
    await again[Symbol.asyncDispose]()
    expect(await damageOf(url, 'cold')).toEqual([])
  })
})
