import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentStore } from '../../documents/document-store.port.ts'
import { BODY, RoomFixture, put, setShape, shapesOf } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

const at = new RoomFixture({ saveIdleMs: 60, saveLatestMs: 250, compactRecords: 20 })
const { openRoom, joined, body, headOf, settle, putTo } = at

describe('PUT on a live document', () => {
  it('[LIFE-13] [LIFE-14] a PUT applies only its differences to the stored base, and live edits elsewhere survive', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    setShape(ann, 'live')
    const outcome = await putTo(
      room,
      put(
        head,
        { ...BODY, pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 9 }, { id: 'put' }] }] },
        { expectedVersion: head.version },
      ),
    )
    expect(outcome).toMatchObject({ kind: 'written', created: false, head: { version: head.version + 1 } })
    expect(shapesOf(await body(head))).toEqual(expect.arrayContaining(['s0', 'live', 'put']))
    await until(() => ann.doc.getMap('shapes:c1').has('put'))
    expect(ann.doc.getMap('shapes:c1').get('s0')).toMatchObject({ x: 9 })
    expect(await settle(room)).toMatchObject({ version: head.version + 1 })
  })

  it('[BODY-16] [BODY-7] a title longer than the limit of a head stays whole in the live document and the body', async () => {
    const title = `${'x'.repeat(5_000)}`
    const { head, room } = await openRoom(at.worker, { ...BODY, name: title })
    const ann = await joined(room)
    const titles = async () => [ann.doc.getMap('metadata').get('title'), (await body(head)).name]
    setShape(ann, 'live')
    await settle(room)
    expect(await titles()).toEqual([title, title])
    const current = await headOf(head)
    expect(current.facts.title).toBe('x'.repeat(1_024))
    await putTo(room, put(current, { ...BODY, name: title, title, extra: 1 }))
    expect(await titles()).toEqual([title, title])
    await putTo(room, put(await headOf(head), { ...BODY, name: `${title}!`, title }))
    await until(() => ann.doc.getMap('metadata').get('title') === `${title}!`)
    expect(await titles()).toEqual([`${title}!`, `${title}!`])
  })

  it('[LIFE-13] a PUT is broadcast as one transaction of the relay', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const from = at.worker.messages.length
    await putTo(
      room,
      put(head, {
        ...BODY,
        pages: [{ id: 'c1', name: 'New', shapes: [{ id: 'a' }, { id: 'b' }] }],
        richTextPages: [{ id: 'p1', name: 'Prose', content: '<p>two</p>' }],
      }),
    )
    await until(() => ann.text() === '<paragraph>two</paragraph>')
    const sent = at.worker.messages.slice(from).flatMap((m) => (m.kind === 'updates' && m.room === room ? [m] : []))
    expect(sent).toHaveLength(1)
    expect(sent[0]?.senders).toEqual([0])
    expect(sent[0]?.updates).toHaveLength(1)
  })

  it('[REST-16] a PUT that expects a version other than the current version is refused and changes nothing', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    const outcome = await putTo(room, put(head, { name: 'Other' }, { expectedVersion: head.version + 5 }))
    expect(outcome).toMatchObject({ kind: 'refused', code: 'VERSION_CONFLICT' })
    expect(ann.doc.getMap('metadata').get('title')).toBe('Test')
    expect(await headOf(head)).toMatchObject({ version: head.version })
  })

  it('[LIFE-16] a PUT over quota is refused by its projected size; the live document stays unchanged and usable', async () => {
    const { head, room } = await openRoom()
    const [ann, bob] = [await joined(room), await joined(room)]
    const state = Y.encodeStateVector(ann.doc)
    const big = { ...BODY, pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 'fat', data: 'x'.repeat(5_000) }] }] }
    expect(await putTo(room, put(head, big, { quotaBytes: 10 }))).toMatchObject({ kind: 'refused', code: 'STORAGE_QUOTA' })
    expect(Y.encodeStateVector(ann.doc)).toEqual(state)
    setShape(ann, 'after')
    await until(() => bob.doc.getMap('shapes:c1').has('after') && ann.settled === ann.ordinal)
    expect(bob.doc.getMap('shapes:c1').has('fat')).toBe(false)
    await settle(room)
    expect(shapesOf(await body(head))).toEqual(['s0', 'after'])
  })

  it('[D3] [LIFE-2] no client receives any part of a PUT before it is durable', async () => {
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let hold = false
    const documents: DocumentStore = {
      ...at.storage.documents,
      write: async (w) => (hold && w.bump ? held.then(() => at.storage.documents.write(w)) : at.storage.documents.write(w)),
    }
    const slow = new TestWorker({ updates: at.storage.updates, documents })
    const { head, room } = await openRoom(slow)
    const ann = await joined(room, {}, slow)
    hold = true
    const putting = putTo(room, put(head, { ...BODY, name: 'Renamed' }), slow)
    setShape(ann, 'meanwhile')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(ann.doc.getMap('metadata').get('title')).toBe('Test')
    release()
    expect(await putting).toMatchObject({ kind: 'written' })
    await until(() => ann.doc.getMap('metadata').get('title') === 'Renamed' && ann.settled === ann.ordinal)
    await slow[Symbol.asyncDispose]()
  })

  it('[YDOC-7] a live title that is older than the title of a PUT is replaced by the title of the PUT', async () => {
    const { head, room } = await openRoom()
    const ann = await joined(room)
    await putTo(room, put(head, { ...BODY, name: 'From REST' }))
    await until(() => ann.doc.getMap('metadata').get('title') === 'From REST')
    ann.doc.transact(() => {
      ann.doc.getMap('metadata').set('title', 'stale')
      ann.doc.getMap('metadata').set('updatedAt', 10)
    })
    await settle(room)
    expect((await body(head)).name).toBe('From REST')
    await until(() => ann.doc.getMap('metadata').get('title') === 'From REST')
    ann.doc.transact(() => {
      ann.doc.getMap('metadata').set('title', 'newer')
      ann.doc.getMap('metadata').set('updatedAt', Date.now() + 1_000)
    })
    await settle(room)
    expect((await body(head)).name).toBe('newer')
  })
})
