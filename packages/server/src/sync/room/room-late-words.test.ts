import type { EditArgs, EditName } from '@docrelay/model/edits'
import { SYNC } from '@docrelay/protocol/frames'
import { afterAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { DocumentHead, DocumentStore } from '../../documents/document-store.port.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { put, RoomFixture } from '../testing/room-fixture.ts'
import { gatedUpdates, type TestClient, TestWorker, until } from '../testing/worker-harness.ts'
import type { UpdateLog } from '../update-log.port.ts'

const CONTENT =
  '<h1 id="h1">First</h1><p id="p1">one</p><p id="p2">two</p><h1 id="h2">Second</h1><ul><li><p id="i1">item</p></li><li><p id="i2">other</p></li></ul>' +
  '<table><tr><td><p id="c1">left</p></td><td><p id="c2">right</p></td></tr><tr><td><p id="c3">below</p></td><td><p id="c4">end</p></td></tr></table>'
const BODY = {
  pages: [],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: CONTENT }],
}

const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 }, BODY)

/** Types into a copy of a client's document. Returns the update, which the test sends later. */
function heldFrame(client: TestClient, block: string, words: string): Uint8Array {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(client.doc))
  const vector = Y.encodeStateVector(copy)
  const element = blockOf(copy.getXmlFragment('prose:p'), block)
  const text = element?.toArray()[0] as Y.XmlText
  text.insert(text.length, words)
  return Y.encodeStateAsUpdate(copy, vector)
}

function blockOf(node: Y.XmlFragment, id: string): Y.XmlElement | undefined {
  for (const child of node.toArray()) {
    if (!(child instanceof Y.XmlElement)) continue
    const found = child.getAttribute('id') === id ? child : blockOf(child, id)
    if (found !== undefined) return found
  }
  return undefined
}

async function storedContent(head: DocumentHead): Promise<string> {
  return ((await at.body(head)).richTextPages as { content: string }[])[0]?.content ?? ''
}

type Call = { [N in EditName]: readonly [where: string, edit: N, args: EditArgs<N>] }[EditName]

const html = 'html' as const
const CALLS: readonly Call[] = [
  ['p1', 'set_prose', { pageId: 'p', id: 'p1', content: '<h2>one</h2>', format: html }],
  ['p2', 'set_prose', { pageId: 'p', id: 'p2', content: '<ul><li><p>two</p></li></ul>', format: html }],
  ['i2', 'set_prose', { pageId: 'p', content: '<p>All new.</p>', format: html }],
  ['c2', 'set_prose', { pageId: 'p', content: '', format: html }],
  ['p1', 'delete_block', { pageId: 'p', id: 'p1' }],
  ['i1', 'delete_block', { pageId: 'p', id: 'i1' }],
  ['i2', 'move_block', { pageId: 'p', id: 'i2', targetId: 'i1', side: 'before' }],
  ['p2', 'move_block', { pageId: 'p', id: 'p2', targetId: 'h1', side: 'before' }],
  ['p1', 'restructure_outline', { pageId: 'p', op: 'move', index: 0, toIndex: 1 }],
  ['h2', 'restructure_outline', { pageId: 'p', op: 'demote', index: 1 }],
  ['c4', 'edit_table', { pageId: 'p', op: 'deleteRow', row: 1 }],
  ['c3', 'edit_table', { pageId: 'p', op: 'deleteColumn', col: 0 }],
  ['c2', 'edit_table', { pageId: 'p', op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 }],
  ['c3', 'edit_table', { pageId: 'p', op: 'moveRow', from: 1, to: 0 }],
] as never

const pausing: TestWorker[] = []
afterAll(async () => {
  for (const worker of pausing) await worker[Symbol.asyncDispose]()
})

/** A worker whose writes of a version wait until `release` is called. By then all checks of the write have passed. */
function pausedWorker() {
  const { documents } = at.storage
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const store: DocumentStore = {
    ...documents,
    async write(given) {
      if (given.bump) {
        reached.resolve()
        await released.promise
      }
      return documents.write(given)
    },
  }
  const worker = new TestWorker({ ...at.storage, documents: store }, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 } })
  pausing.push(worker)
  return { worker, reached: reached.promise, release: released.resolve }
}

describe('a person who types while an edit waits between its check and its commit', () => {
  it.each(CALLS)('[AG-110] keeps words typed in %s during %s %j', async (where, edit, args) => {
    const { worker, reached, release } = pausedWorker()
    const { head, room } = await at.openRoom(worker)
    const [ann, ben] = [await at.joined(room, {}, worker), await at.joined(room, {}, worker)]
    const outcome = editIn(worker, room, editRequest(head, edit, args as never))
    await reached
    const frame = heldFrame(ann, where, ' §words§')
    Y.applyUpdate(ann.doc, frame, ann)
    ann.write(SYNC.update, frame)
    release()
    done(await outcome)
    await until(() => ann.settled === ann.ordinal)
    for (const client of [ann, ben]) await until(() => client.text('prose:p').split('§words§').length === 2)
    await at.settle(room, worker)
    expect((await storedContent(head)).split('§words§')).toHaveLength(2)
  })
})

describe('a person whose frame arrives after the edit of an agent was committed', () => {
  it.each(CALLS)(
    '[AG-110] words typed in %s during %s %j are once in the live document and in its body',
    async (where, edit, args) => {
      const { head, room } = await at.openRoom()
      const [ann, ben] = [await at.joined(room), await at.joined(room)]
      const frame = heldFrame(ann, where, ' §words§')
      done(await editIn(at.worker, room, editRequest(head, edit, args as never)))
      Y.applyUpdate(ann.doc, frame, ann)
      ann.write(SYNC.update, frame)
      await until(() => ann.settled === ann.ordinal)
      for (const client of [ann, ben]) await until(() => client.text('prose:p').includes('§words§'))
      expect(ann.text('prose:p')).toBe(ben.text('prose:p'))
      // The log holds the words when the frame is acknowledged.
      expect(await at.vectorOf(head)).toEqual(Y.encodeStateVector(ben.doc))
      await at.settle(room)
      expect((await storedContent(head)).split('§words§')).toHaveLength(2)
    },
  )

  it('[AG-110] words typed into a block that a PUT replaces meanwhile are kept', async () => {
    const { head, room } = await at.openRoom()
    const ann = await at.joined(room)
    const frame = heldFrame(ann, 'p1', ' §words§')
    const body = await at.body(head)
    const richTextPages = [{ id: 'p', name: 'Prose', order: 0, content: '<h2 id="p1">one</h2>' }]
    expect(await at.putTo(room, put(head, { ...body, richTextPages }))).toMatchObject({ kind: 'written' })
    ann.write(SYNC.update, frame)
    await until(() => ann.settled === ann.ordinal)
    await at.settle(room)
    expect(await storedContent(head)).toBe('<h2 id="p1">one §words§</h2>')
  })

  it('[AG-110] words that arrive for a replaced block in several frames of one turn are kept', async () => {
    const { head, room } = await at.openRoom()
    const ann = await at.joined(room)
    const frames: Uint8Array[] = []
    const typist = new Y.Doc()
    Y.applyUpdate(typist, Y.encodeStateAsUpdate(ann.doc))
    const text = blockOf(typist.getXmlFragment('prose:p'), 'p1')?.toArray()[0] as Y.XmlText
    typist.on('update', (update: Uint8Array) => frames.push(update))
    for (const letter of ' fast') text.insert(text.length, letter)
    done(
      await editIn(
        at.worker,
        room,
        editRequest(head, 'set_prose', { pageId: 'p', id: 'p1', content: '<h2>one</h2>', format: html }),
      ),
    )
    for (const frame of frames) ann.write(SYNC.update, frame)
    await until(() => ann.settled === ann.ordinal)
    await at.settle(room)
    expect(await storedContent(head)).toContain('<h2 id="p1">one fast</h2>')
  })
})

describe('a worker that ends', () => {
  it('[AG-110] stores the successors of removed blocks for the next worker, and nothing for edits of people', async () => {
    const worker = new TestWorker(at.storage, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 } })
    pausing.push(worker)
    const { head, room } = await at.openRoom(worker)
    const ann = await at.joined(room, {}, worker)
    const stored = async () => {
      const log = await at.storage.updates.load(head.key)
      return log.kind === 'loaded' ? log.removals.length : log.kind
    }
    const typist = new Y.Doc()
    Y.applyUpdate(typist, Y.encodeStateAsUpdate(ann.doc))
    const frames: Uint8Array[] = []
    typist.on('update', (update: Uint8Array) => frames.push(update))
    const text = blockOf(typist.getXmlFragment('prose:p'), 'p1')?.toArray()[0] as Y.XmlText
    for (const letter of ' fast') text.insert(text.length, letter)
    const send = async (client: TestClient, sent: readonly Uint8Array[]): Promise<void> => {
      for (const frame of sent) client.write(SYNC.update, frame)
      await until(() => client.settled === client.ordinal)
    }
    await send(ann, frames.slice(0, 2))
    expect(await stored()).toBe(0)
    const asHeading = { pageId: 'p', id: 'p1', content: '<h2>one f</h2>', format: html }
    done(await editIn(worker, room, editRequest(head, 'set_prose', asHeading)))
    expect(await stored()).toBe(1)
    await send(ann, frames.slice(2, 4))
    expect(await stored()).toBeGreaterThan(1)

    // From here on the first worker stores nothing, as if it had been killed.
    const next = await at.worker.open(head)
    const ben = await at.joined(next)
    await send(ben, frames.slice(4))
    await at.settle(next)
    expect(await storedContent(head)).toContain('<h2 id="p1">one fast</h2>')
  })

  it('[AG-110] stores the places of late words for the next worker, even for words that a save stores', async () => {
    const { head, room: before } = await at.openRoom()
    const typist = new Y.Doc()
    Y.applyUpdate(typist, Y.encodeStateAsUpdate((await at.joined(before)).doc))
    const frames: Uint8Array[] = []
    typist.on('update', (update: Uint8Array) => frames.push(update))
    const text = blockOf(typist.getXmlFragment('prose:p'), 'p1')?.toArray()[0] as Y.XmlText
    for (const letter of ' fa') text.insert(text.length, letter)
    const asHeading = { pageId: 'p', id: 'p1', content: '<h2>one</h2>', format: html }
    done(await editIn(at.worker, before, editRequest(head, 'set_prose', asHeading)))

    const gate = gatedUpdates(at.storage.updates)
    let afterRead = (): void => undefined
    const documents: DocumentStore = {
      ...at.storage.documents,
      async read(ref) {
        const record = await at.storage.documents.read(ref)
        setImmediate(() => afterRead())
        return record
      },
    }
    const rooms = { saveIdleMs: 60_000, saveLatestMs: 60_000 }
    const worker = new TestWorker({ ...at.storage, documents, updates: gate.updates }, { rooms })
    pausing.push(worker)
    const room = await worker.open(head)
    const ann = await at.joined(room, {}, worker)
    const stored = async (): Promise<number> => {
      const log = await at.storage.updates.load(head.key)
      return log.kind === 'loaded' ? log.removals.length : 0
    }
    const send = (at: number): number => ann.write(SYNC.update, frames[at] as Uint8Array)
    send(0)
    await until(() => ann.settled === ann.ordinal)
    const ofOneLetter = (await stored()) - 1
    // The append of the second letter is in flight when the save begins. The third letter is stored together with the body.
    gate.close()
    send(1)
    const hasRead = new Promise<void>((resolve) => (afterRead = resolve))
    const settling = at.settle(room, worker)
    await hasRead
    send(2)
    gate.open()
    await settling
    await until(() => ann.settled === ann.ordinal)
    expect([ofOneLetter > 0, await stored()]).toEqual([true, 1 + 3 * ofOneLetter])
  })
})

it('[AG-110] late words are broadcast only when they are durable, so that they stand once after a crash', async () => {
  const order: string[] = []
  const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let isHeld = false
  const updates: UpdateLog = {
    ...at.storage.updates,
    async append(records) {
      if (!isHeld) return at.storage.updates.append(records)
      reached.resolve()
      await released.promise
      order.push('stored')
      return at.storage.updates.append(records)
    },
  }
  const worker = new TestWorker({ ...at.storage, updates }, { rooms: { saveIdleMs: 60_000, saveLatestMs: 60_000 } })
  pausing.push(worker)
  const { head, room } = await at.openRoom(worker)
  const other = await at.openRoom(worker)
  const [ann, ben] = [await at.joined(room, {}, worker), await at.joined(room, {}, worker)]
  const frame = heldFrame(ann, 'p1', ' §words§')
  const asHeading = { pageId: 'p', id: 'p1', content: '<h2>one</h2>', format: html }
  done(await editIn(worker, room, editRequest(head, 'set_prose', asHeading)))
  isHeld = true
  ben.doc.on('update', () => ben.text('prose:p').includes('§words§') && order.push('told'))
  ann.write(SYNC.update, frame)
  await reached.promise
  // Everything sent before this join has arrived when it ends. The client joins another document, because a join here would wait for the words.
  await at.joined(other.room, {}, worker)
  released.resolve()
  await until(() => order.includes('told'))
  expect(order).toEqual(['stored', 'told'])
})
