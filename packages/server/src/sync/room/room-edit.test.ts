import type { Json } from '@docrelay/model/json'
import { readAwareness as readAwarenessFrame } from '@docrelay/protocol/codec'
import { afterAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentStore, DocumentWrite } from '../../documents/document-store.port.ts'
import { textOf } from '../testing/live-document.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { put, recording, RoomFixture, setShape, write } from '../testing/room-fixture.ts'
import { type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import { readAwareness } from './awareness.ts'

const PAGE = '<p id="blk-1">one</p><p id="blk-2">two</p><p id="blk-3">three</p>'
const BODY = {
  name: 'Test',
  pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 1 }] }],
  richTextPages: [
    { id: 'p1', name: 'Prose', order: 0, content: PAGE },
    { id: 'p2', name: 'More', order: 1, content: '<p>more</p>' },
  ],
  modifiedAt: 5,
  lastModifiedBy: 'nobody',
}

// The timer never saves in these tests. A body is stored only with an edit or when a test asks for it.
const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 })
const { joined, body, headOf, settle, putTo } = at
const openRoom = (on?: TestWorker) => at.openRoom(on, BODY)
const set = (content: string, id = 'blk-2') => ({ pageId: 'p1', id, content, format: 'html' as const })
const contentOf = async (head: DocumentHead) =>
  ((await body(head)).richTextPages as { content: string }[]).map((page) => page.content)

function type(client: TestClient, block: number, text: string): void {
  textOf(client.doc, 'p1', block).insert(0, text)
}

async function acknowledged(client: TestClient): Promise<void> {
  await until(() => client.settled === client.ordinal)
}

const others: TestWorker[] = []
afterAll(async () => {
  for (const worker of others) await worker[Symbol.asyncDispose]()
})

function workerOn(documents: DocumentStore): TestWorker {
  const worker = new TestWorker({ ...at.storage, documents }, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 } })
  others.push(worker)
  return worker
}

describe('edits of a live document', () => {
  it('[CONC-4] an edit reaches every connection as one update of the relay, and its result names the version that contains it', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const from = at.worker.messages.length
    const outcome = done(await editIn(at.worker, room, editRequest(head, 'set_prose', set('<p>2</p><p>and a half</p>'))))
    expect(outcome).toMatchObject({ changed: true, head: { version: head.version + 1 }, result: { pageId: 'p1', ok: true } })
    for (const client of [ann, bob]) await until(() => client.text().includes('and a half'))
    const sent = at.worker.messages.slice(from).flatMap((m) => (m.kind === 'updates' && m.room === room ? [m] : []))
    expect(sent.map(({ senders, updates }) => [senders, updates.length])).toEqual([[[0], 1]])
    expect(await at.vectorOf(head)).toEqual(Y.encodeStateVector(ann.doc))
  })

  it('[CONC-8] [PROSE-50] blocks that the edit does not address keep their live nodes', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const nodes = () => ann.doc.getXmlFragment('prose:p1').toArray()
    const [first, , third] = nodes()
    done(await editIn(at.worker, room, editRequest(head, 'set_prose', set('<p>2</p>'))))
    await until(() => ann.text().includes('>2<'))
    expect([nodes()[0], nodes()[2]]).toEqual([first, third])
    expect(nodes()[0]).toBe(first)
    expect(nodes()[2]).toBe(third)
  })

  it('[LIFE-12] [TOOL-15] an edit stores its version at once and its body later, under that same version', async () => {
    const writes: DocumentWrite[] = []
    const worker = workerOn(recording(at.storage.documents, writes))
    const { head, room } = await openRoom(worker)
    const first = done(await editIn(worker, room, editRequest(head, 'set_prose', set('<p>2</p>'))))
    const second = done(await editIn(worker, room, editRequest(head, 'delete_block', { pageId: 'p1', id: 'blk-3' })))
    expect(writes.map(({ set: { body: stored }, bump }) => [stored === undefined, bump])).toEqual([
      [true, true],
      [true, true],
    ])
    expect([first.head.version, second.head.version]).toEqual([head.version + 1, head.version + 2])
    expect(await settle(room, worker)).toMatchObject({ version: second.head.version })
    expect((await contentOf(head))[0]).toMatch(/^<p id="blk-1">one<\/p><p id="[^"]+">2<\/p>$/)
    const stored = await headOf(head)
    expect([stored.version, stored.coveredSeq]).toEqual([second.head.version, stored.lastSeq])
    expect(await body(head)).toMatchObject({ lastModifiedBy: 'agent' })
    expect(await settle(room, worker)).toMatchObject({ version: second.head.version })
  })

  it('[LIFE-12] letters typed after an edit make the next version', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const { version } = done(await editIn(at.worker, room, editRequest(head, 'set_prose', set('<p>2</p>')))).head
    type(ann, 0, 'typed ')
    await acknowledged(ann)
    expect(await settle(room)).toMatchObject({ version: version + 1 })
    expect((await contentOf(head))[0]).toContain('typed one')
  })

  it('[CONC-7] after a person typed, an edit that expects the earlier version is refused until the caller reads again', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const { version } = done(
      await editIn(at.worker, room, editRequest(head, 'set_prose', set('<p>2</p>'), { expectedVersion: head.version })),
    ).head
    const next = editRequest(head, 'set_prose', set('<p>ONE</p>', 'blk-1'), { expectedVersion: version })
    type(ann, 0, 'typed ')
    await acknowledged(ann)
    const refused = await editIn(at.worker, room, next)
    expect(refused).toMatchObject({
      kind: 'refused',
      code: 'ERR_VERSION_CONFLICT',
      facts: { expectedVersion: version, serverVersion: version + 1 },
    })
    expect(ann.text()).toContain('typed one')
    expect(await editIn(at.worker, room, { ...next, expectedVersion: version + 1 })).toMatchObject({
      head: { version: version + 2 },
    })
  })

  it('[CONC-7] an edit that expects the version just returned succeeds without storing the body in between', async () => {
    const writes: DocumentWrite[] = []
    const worker = workerOn(recording(at.storage.documents, writes))
    const { head, room } = await openRoom(worker)
    let { version } = head
    for (const content of ['a', 'b', 'c']) {
      const request = editRequest(
        head,
        'set_prose',
        { pageId: 'p2', content: `<p>${content}</p>`, format: 'html' },
        { expectedVersion: version },
      )
      version = done(await editIn(worker, room, request)).head.version
    }
    expect(version).toBe(head.version + 3)
    expect(writes.filter((each) => each.set.body !== undefined)).toEqual([])
  })

  it('[TOOL-20] [CONC-7] an edit without expectedVersion is accepted after a person typed, and keeps the typed text', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    type(ann, 0, 'typed ')
    const outcome = done(await editIn(at.worker, room, editRequest(head, 'delete_block', { pageId: 'p1', id: 'blk-3' })))
    expect(outcome.head.version).toBe(head.version + 1)
    await settle(room)
    expect((await contentOf(head))[0]).toMatch(/^<p id="blk-1">(typed )?one/)
    await acknowledged(ann)
    await settle(room)
    expect((await contentOf(head))[0]).toContain('typed one')
  })

  it('[PROSE-54] [TOOL-21] an edit that changes nothing and a dry run write nothing and show no presence', async () => {
    const writes: DocumentWrite[] = []
    const worker = workerOn(recording(at.storage.documents, writes))
    const { head, room } = await openRoom(worker)
    const ann = await joined(room, {}, worker)
    const state = Y.encodeStateVector(ann.doc)
    const agent = { name: 'Scribe', color: '#112233' }
    const dry = await editIn(worker, room, editRequest(head, 'set_prose', set('<p>2</p>'), { dryRun: true, agent }))
    expect(dry).toMatchObject({ kind: 'edited', changed: true, head: { version: head.version }, result: { ok: true } })
    const idle = await editIn(worker, room, editRequest(head, 'set_prose', set('<p id="blk-2">two</p>'), { agent }))
    expect(idle).toMatchObject({ kind: 'edited', changed: false, head: { version: head.version } })
    const refused = await editIn(
      worker,
      room,
      editRequest(head, 'set_prose', set('<p>2</p>', 'blk-none'), { dryRun: true, agent }),
    )
    expect(refused).toMatchObject({ kind: 'refused', code: 'ERR_ID_NOT_FOUND' })
    expect(writes).toEqual([])
    expect([ann.presence, Y.encodeStateVector(ann.doc)]).toEqual([[], state])
  })

  it('[MCP-25] an edit is allowed by the share list of the document, which is read again after a change', async () => {
    const { head, room } = await openRoom()
    const bob = { sub: 'bob', role: 'member' } as const
    const request = editRequest(head, 'set_prose', set('<p>2</p>'), bob)
    expect(await editIn(at.worker, room, request)).toMatchObject({
      kind: 'refused',
      code: 'ERR_EDIT_FORBIDDEN',
      facts: { docId: head.id, role: 'member' },
    })
    await at.storage.documents.write(write(head, { sharedWith: [{ userId: 'bob', permission: 'edit' }] }))
    expect(await editIn(at.worker, room, request)).toMatchObject({ kind: 'edited', head: { version: head.version + 2 } })
  })

  it('[CONC-9] [LIFE-16] an edit that grows a document above its size limit is refused; a shrinking edit is not', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const state = Y.encodeStateVector(ann.doc)
    const grow = editRequest(head, 'insert_block', { ...set('<p>more text</p>') }, { maxDocBytes: head.sizeBytes })
    const sizeBytes = head.sizeBytes + JSON.stringify('<p id="blk-0123456789">more text</p>').length - 2
    expect(await editIn(at.worker, room, grow)).toMatchObject({
      kind: 'refused',
      code: 'ERR_DOC_TOO_LARGE',
      facts: { sizeBytes, maxBytes: head.sizeBytes, source: 'claim' },
    })
    expect(Y.encodeStateVector(ann.doc)).toEqual(state)
    const shrink = editRequest(head, 'delete_block', { pageId: 'p1', id: 'blk-3' }, { maxDocBytes: 10 })
    expect(await editIn(at.worker, room, shrink)).toMatchObject({ kind: 'edited', changed: true })
  })

  it('[CONC-9] [LIFE-16] [TOOL-21] an edit over quota is refused as a dry run and undone as an edit, and the document stays usable', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const state = Y.encodeStateVector(ann.doc)
    const grow = editRequest(head, 'insert_block', { ...set(`<p>${'x'.repeat(500)}</p>`) }, { quotaBytes: 10 })
    for (const dryRun of [true, false])
      expect(await editIn(at.worker, room, { ...grow, dryRun })).toMatchObject({
        code: 'ERR_STORAGE_QUOTA',
        facts: { addedBytes: '<p id=\\"blk-0123456789\\"></p>'.length + 500, quotaBytes: 10, source: 'config' },
      })
    expect(Y.encodeStateVector(ann.doc)).toEqual(state)
    setShape(ann, 'after')
    await until(() => bob.doc.getMap('shapes:c1').has('after') && ann.settled === ann.ordinal)
    await settle(room)
    expect((await contentOf(head))[0]).toBe(PAGE)
  })

  it('[CONC-11] changes of page lists and fields reach the live document, and no later save undoes them', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const added = done(
      await editIn(at.worker, room, editRequest(head, 'add_prose_page', { name: 'New', content: '<p>new</p>', format: 'html' })),
    )
    const { id } = added.result as { id: string }
    done(await editIn(at.worker, room, editRequest(head, 'rename_prose_page', { pageId: 'p2', name: 'Renamed' })))
    done(await editIn(at.worker, room, editRequest(head, 'reorder_prose_pages', { order: [id, 'p2', 'p1'] })))
    done(await editIn(at.worker, room, editRequest(head, 'set_fields', { fields: [{ name: 'Status', value: 'draft' }] })))
    done(await editIn(at.worker, room, editRequest(head, 'rename_document', { docId: head.id, name: 'Other' })))
    const last = done(await editIn(at.worker, room, editRequest(head, 'delete_prose_page', { pageId: 'p1' })))
    expect(last.head).toMatchObject({ version: head.version + 6, facts: { title: 'Other' } })
    await until(() => !ann.doc.getMap('prosePages').has('p1'))
    setShape(ann, 'later')
    await acknowledged(ann)
    await settle(room)
    expect(await body(head)).toMatchObject({
      name: 'Other',
      richTextPages: [
        { id, name: 'New', content: expect.stringContaining('>new</p>') as Json },
        { id: 'p2', name: 'Renamed', content: '<p>more</p>' },
      ],
      fields: { fields: { Status: { value: 'draft' } } },
    })
    expect([ann.doc.getMap('metadata').get('title'), ann.doc.getMap('prosePages').get(id)]).toMatchObject([
      'Other',
      { name: 'New' },
    ])
  })

  it('[LIFE-12] [CONC-11] a deleted page, which the live document cannot express, is stored together with the edit', async () => {
    const writes: DocumentWrite[] = []
    const worker = workerOn(recording(at.storage.documents, writes))
    const { head, room } = await openRoom(worker)
    done(await editIn(worker, room, editRequest(head, 'delete_prose_page', { pageId: 'p2' })))
    // The recovery point before the removal is a copy of the stored body, so the body is saved first. [AG-31]
    expect(writes.map(({ capture, set: { body: stored } }) => [capture?.reason, stored !== undefined])).toEqual([
      [undefined, false],
      ['removal', true],
    ])
  })

  it('[BLOB-2] [CONC-12] an edit that references a blob is stored at once, so that the blob is kept', async () => {
    const hash = 'ab'.repeat(32)
    const { head, room } = await openRoom()
    const file = `<p><span data-file-ref="" data-blob-ref="blob://${hash}" data-file-name="a.txt"></span></p>`
    done(await editIn(at.worker, room, editRequest(head, 'insert_block', { ...set(file) })))
    const named = (await contentOf(head))[0]?.includes(hash) ?? false
    expect((await at.storage.documents.referencing(head.workspaceId, hash)).map(({ id }) => id)).toEqual(named ? [head.id] : [])
    expect(named).toBe(true)
  })

  it('[LIFE-13] a PUT that expects the version of an edit is compared with the body of that version', async () => {
    const { head, room } = await openRoom()
    const { version } = done(await editIn(at.worker, room, editRequest(head, 'insert_block', { ...set('<p>agent</p>') }))).head
    const outcome = await putTo(room, put(head, BODY, { expectedVersion: version }))
    expect(outcome).toMatchObject({ kind: 'written', head: { version: version + 1 } })
    expect((await contentOf(head))[0]).toBe(PAGE)
  })

  it('[LIFE-2] [LIFE-12] version and content of an edit survive a process that ends before the body is stored', async () => {
    const worker = workerOn(at.storage.documents)
    const { head, room } = await openRoom(worker)
    const { version } = done(await editIn(worker, room, editRequest(head, 'set_prose', set('<p>durable</p>')))).head
    worker.abandon()
    expect((await contentOf(head))[0]).toBe(PAGE)
    const next = await at.worker.open(await headOf(head))
    expect(await settle(next)).toMatchObject({ version })
    expect((await contentOf(head))[0]).toContain('durable')
    const ann = await joined(next)
    type(ann, 0, 'typed ')
    await acknowledged(ann)
    expect(await settle(next)).toMatchObject({ version: version + 1 })
  })

  it('[LIFE-12] letters typed after an edit make the next version, also when the process ends before a save', async () => {
    const worker = workerOn(at.storage.documents)
    const { head, room } = await openRoom(worker)
    const ann = await joined(room, {}, worker)
    const { version } = done(await editIn(worker, room, editRequest(head, 'set_prose', set('<p>2</p>')))).head
    type(ann, 0, 'typed ')
    await acknowledged(ann)
    worker.abandon()
    const next = await at.worker.open(await headOf(head))
    expect(await settle(next)).toMatchObject({ version: version + 1 })
    expect((await contentOf(head))[0]).toContain('typed one')
  })

  it('[D3] [LIFE-2] no client receives any part of an edit before it is durable', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const worker = workerOn({ ...at.storage.documents, write: (given) => held.then(() => at.storage.documents.write(given)) })
    const { head, room } = await openRoom(worker)
    const ann = await joined(room, {}, worker)
    const editing = editIn(worker, room, editRequest(head, 'set_prose', set('<p>2</p>')))
    setShape(ann, 'meanwhile')
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(ann.text()).not.toContain('>2<')
    release()
    expect(await editing).toMatchObject({ kind: 'edited' })
    await until(() => ann.text().includes('>2<') && ann.settled === ann.ordinal)
  })
})

describe('presence of agents in a live document', () => {
  const agent = { name: 'Scribe', color: '#112233' }
  const shown = (client: TestClient) =>
    client.presence.flatMap((frame) => {
      const update = readAwarenessFrame(frame.subarray(1))
      const states = update === null ? null : readAwareness(update)
      return (states ?? []).map((state) => ({
        client: state.client,
        state: JSON.parse(new TextDecoder().decode(state.json)) as unknown,
      }))
    })

  it('[PRES-1] [PRES-2] an edit shows its agent before its update, and each principal has its own client id', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const from = at.worker.messages.length
    const edit = (content: string, sub: string) =>
      editIn(at.worker, room, editRequest(head, 'set_prose', set(content), { agent, sub }))
    await edit('<p id="blk-2">a</p>', 'ada')
    await edit('<p id="blk-2">b</p>', 'ada')
    await edit('<p id="blk-2">c</p>', 'bob')
    await until(() => ann.text().includes('>c<') && ann.presence.length === 3)
    const kinds = at.worker.messages.slice(from).flatMap((m) => (m.kind === 'updates' || m.kind === 'awareness' ? [m.kind] : []))
    expect(kinds).toEqual(['awareness', 'updates', 'awareness', 'updates', 'awareness', 'updates'])
    const [first, second, third] = shown(ann)
    const callId = expect.stringMatching(/^call-/) as string
    const user = { id: 'ada', name: 'Scribe', color: '#112233', kind: 'agent', page: 'p1', selection: ['blk-2'], callId }
    expect(first?.state).toEqual({ user, cursor: { anchor: expect.any(Object), head: expect.any(Object) } })
    expect(second?.client).toBe(first?.client)
    expect(third?.client).not.toBe(first?.client)
    expect(third?.state).toMatchObject({ user: { id: 'bob' } })
  })

  it('[PRES-3] the presence of an agent ends when the worker stops, and a refused edit shows none', async () => {
    const worker = workerOn(at.storage.documents)
    const { head, room } = await openRoom(worker)
    const ann = await joined(room, {}, worker)
    await editIn(worker, room, editRequest(head, 'set_prose', set('<p>a</p>', 'blk-none'), { agent }))
    await editIn(worker, room, editRequest(head, 'set_prose', set('<p>a</p>'), { agent }))
    await until(() => ann.presence.length === 1)
    await worker.host.drain()
    await until(() => ann.presence.length === 2)
    const [first, last] = shown(ann)
    expect(last).toEqual({ client: first?.client, state: null })
  })
})
