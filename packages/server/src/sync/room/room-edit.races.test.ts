import { isOutdated } from '@docrelay/model/edit'
import { afterAll, describe, expect, it } from 'vitest'
import type { DocumentHead, DocumentStore, DocumentWrite } from '../../documents/document-store.port.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { recording, RoomFixture, setShape, write } from '../testing/room-fixture.ts'
import { TestWorker, until } from '../testing/worker-harness.ts'

const PAGE = '<p id="blk-1">one</p><p id="blk-2">two</p><p id="blk-3">three</p>'
const BODY = { name: 'Test', pages: [], richTextPages: [{ id: 'p1', name: 'Prose', order: 0, content: PAGE }] }

const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 })
const set = { pageId: 'p1', id: 'blk-2', content: '<p>2</p>', format: 'html' } as const

const others: TestWorker[] = []
afterAll(async () => {
  for (const worker of others) await worker[Symbol.asyncDispose]()
})

/** A worker whose first `times` writes of a version all lose a race: another writer stores a version before each. */
function overtaken(times: number): TestWorker {
  const { documents } = at.storage
  let left = times
  const store: DocumentStore = {
    ...documents,
    async write(given) {
      if (given.bump && left > 0) {
        left--
        const state = await documents.state(given.ref)
        if (state.kind === 'document') await documents.write(write(state.head, { collectionId: `c${left}` }))
      }
      return documents.write(given)
    },
  }
  return workerOn(store)
}

function workerOn(documents: DocumentStore): TestWorker {
  const worker = new TestWorker({ ...at.storage, documents }, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 } })
  others.push(worker)
  return worker
}

async function contentOf(head: DocumentHead): Promise<string | undefined> {
  return ((await at.body(head)).richTextPages as { content: string }[])[0]?.content
}

describe('edits of a live document that another process also stores', () => {
  it('[CONC-3] [LIFE-13] when another process stored a version meanwhile, that version is merged and the edit is computed again', async () => {
    const worker = overtaken(1)
    const { head, room } = await at.openRoom(worker, BODY)
    const outcome = done(await editIn(worker, room, editRequest(head, 'set_prose', set)))
    expect(outcome.head).toMatchObject({ version: head.version + 2, collectionId: 'c0' })
    await at.settle(room, worker)
    expect(await contentOf(head)).toMatch(/one.*>2<.*three/)
  })

  it('[TOOL-22] an edit whose request id another process has used meanwhile is undone, and the caller gets the stored answer', async () => {
    const once = { requestId: 'r', request: 'twice', digest: 'd' }
    const { documents } = at.storage
    let isFirst = true
    const worker = workerOn({
      ...documents,
      async write(given) {
        if (given.once !== undefined && isFirst) {
          isFirst = false
          const state = await documents.state(given.ref)
          const other = { ...given.once, answer: '{"result":{"pageId":"p1"},"notes":{}}' }
          if (state.kind === 'document') await documents.write({ ...write(state.head, { collectionId: 'c' }), once: other })
        }
        return documents.write(given)
      },
    })
    const { head, room } = await at.openRoom(worker, BODY)
    const ann = await at.joined(room, {}, worker)
    const version = head.version + 1
    expect(await editIn(worker, room, { ...editRequest(head, 'set_prose', set), once })).toEqual({
      kind: 'repeated',
      answer: { result: { pageId: 'p1' }, notes: {} },
      version,
    })
    const reused = { ...once, digest: 'other' }
    expect(await editIn(worker, room, { ...editRequest(head, 'set_prose', set), once: reused })).toMatchObject({
      code: 'ERR_REQUEST_ID_REUSED',
    })
    expect(ann.text()).not.toContain('>2<')
    const next = done(await editIn(worker, room, { ...editRequest(head, 'set_prose', set), once: { ...once, request: 'next' } }))
    expect(next.head).toMatchObject({ version: version + 1, collectionId: 'c' })
    const { result, effects, head: stored } = next
    const told = { digest: 'd', answer: JSON.stringify({ result, effects, notes: {} }), version: stored.version }
    expect(await documents.remembered(head.workspaceId, { request: 'next', sinceMs: 0 })).toEqual(told)
    await at.settle(room, worker)
    expect(await contentOf(head)).toMatch(/one.*>2<.*three/)
  })

  it('[AG-72] an undo of a call that is already undone is tried once and refused, and the document stays usable', async () => {
    const writes: DocumentWrite[] = []
    const worker = workerOn(recording(at.storage.documents, writes))
    const list = { ...BODY.richTextPages[0], content: `${PAGE}<ul><li><p>oranges</p></li></ul>` }
    const { head, room } = await at.openRoom(worker, { ...BODY, richTextPages: [list] })
    const ann = await at.joined(room, {}, worker)
    const whole = { pageId: 'p1', content: PAGE, format: 'html' } as const
    const { callId = '' } = done(await editIn(worker, room, editRequest(head, 'set_prose', whole))).effects
    const [call] = await at.storage.calls.read(head.key, [callId])
    const targets = [{ callId, record: new TextDecoder().decode(call?.record ?? undefined) }]
    const undo = () => editIn(worker, room, editRequest(head, 'undo', { callId, targets }))
    expect(done(await undo()).result).toMatchObject({ undone: [callId] })
    const before = writes.length
    const late = await undo()
    expect([isOutdated(late), late.kind, writes.length - before]).toEqual([true, 'refused', 1])
    await until(() => ann.text().includes('oranges'))
    expect(ann.text().split('oranges')).toHaveLength(2)
    done(await editIn(worker, room, editRequest(head, 'set_prose', set)))
    await at.settle(room, worker)
    expect(await contentOf(head)).toMatch(/one.*>2<.*three.*oranges/)
  })

  it('[CONC-3] after five lost races an edit writes nothing, answers ERR_VERSION_CONFLICT with attempts and serverVersion, and the document stays usable', async () => {
    const worker = overtaken(5)
    const { head, room } = await at.openRoom(worker, BODY)
    const ann = await at.joined(room, {}, worker)
    const stored = head.version + 5
    expect(await editIn(worker, room, editRequest(head, 'set_prose', set))).toMatchObject({
      code: 'ERR_VERSION_CONFLICT',
      facts: { serverVersion: stored, attempts: 5 },
    })
    expect(ann.text()).not.toContain('>2<')
    setShape(ann, 'later')
    await until(() => ann.settled === ann.ordinal)
    const next = done(await editIn(worker, room, editRequest(head, 'set_prose', { ...set, content: '<p>after</p>' })))
    expect(next.head.version).toBe(stored + 1)
    await at.settle(room, worker)
    expect(await contentOf(head)).toMatch(/^<p id="blk-1">one<\/p><p id="blk-2">after<\/p><p id="blk-3">three<\/p>$/)
  })
})
