import { threadTime } from '@docrelay/model/testing/thread-time'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { LiveChange } from '../worker-messages.ts'
import { element, page, plain } from '../testing/live-page.ts'
import { done, editIn, editRequest } from '../testing/room-editing.ts'
import { RoomFixture, setShape } from '../testing/room-fixture.ts'
import { type TestClient, until } from '../testing/worker-harness.ts'
import { writeAwareness } from './awareness.ts'
import { TouchedBlocks } from './touched-blocks.ts'

const CONTENT =
  '<p id="p1">one</p><p id="p2">two</p><ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p id="t1">task</p></li></ul>' +
  '<blockquote><p id="q1">quoted</p></blockquote>'
const BODY = {
  pages: [{ id: 'c1', name: 'Canvas', shapes: [{ id: 's0', type: 'rect', x: 1 }] }],
  richTextPages: [{ id: 'p', name: 'Prose', order: 0, content: CONTENT }],
}

const at = new RoomFixture({ saveIdleMs: 60_000, saveLatestMs: 60_000 }, BODY)

const fragmentOf = ({ doc }: TestClient) => doc.getXmlFragment('prose:p')

function blockOf(node: Y.XmlFragment, id: string): Y.XmlElement {
  const found = node.createTreeWalker(() => true)
  for (const child of found) if (child instanceof Y.XmlElement && child.getAttribute('id') === id) return child
  throw new Error(`there is no block ${id}`)
}

function type(client: TestClient, id: string, words: string): void {
  const text = blockOf(fragmentOf(client), id).toArray()[0] as Y.XmlText
  text.insert(text.length, words)
}

function showName(client: TestClient, user: object): void {
  const state = new TextEncoder().encode(JSON.stringify({ user }))
  client.sendPresence(writeAwareness([{ client: client.doc.clientID, clock: 1, state }]))
}

/** Returns the changes that the room has reported once everything that `client` wrote is handled. */
async function toldAfter(client: TestClient, room: number): Promise<readonly LiveChange[]> {
  await until(() => client.settled === client.ordinal)
  await at.settle(room)
  return at.worker.of('changed').flatMap((message) => (message.room === room ? message.changes : []))
}

const watch = (room: number, isOn = true) => at.worker.host.receive([{ kind: 'watch', room, isOn }])
const block = (id: string, by: string, isRemoved = false) => ({ kind: 'block', pageId: 'p', id, isRemoved, by })
const short = (changes: readonly LiveChange[]) => changes.map(({ who, ...change }) => ({ ...change, by: who.id }))

describe('who changes what in a live document', () => {
  it('[AG-20] reports once who typed in each block, before the next job is answered', async () => {
    const { room } = await at.openRoom()
    watch(room)
    const [ann, ben] = [await at.joined(room, { sub: 'ann' }), await at.joined(room, { sub: 'ben' })]
    type(ann, 'p1', ' more')
    type(ann, 'p1', ' and more')
    await until(() => ben.text('prose:p').includes('and more'))
    type(ben, 'q1', ' by ben')
    expect(short(await toldAfter(ben, room))).toEqual([block('p1', 'ann'), block('q1', 'ben')])
    const kinds = at.worker.messages.filter((message) => 'room' in message && message.room === room).map(({ kind }) => kind)
    expect(kinds.lastIndexOf('changed')).toBeLessThan(at.worker.messages.findLastIndex(({ kind }) => kind === 'done'))
    type(ben, 'p1', ' again')
    expect(short(await toldAfter(ben, room)).slice(2)).toEqual([block('p1', 'ben')])
  })

  it('[AG-20] reports new and removed blocks, shapes, pages, and a ticked item as its first paragraph', async () => {
    const { room } = await at.openRoom()
    watch(room)
    const ann = await at.joined(room, { sub: 'ann' })
    const fragment = fragmentOf(ann)
    fragment.insert(1, [element('paragraph', { id: 'new' }, plain('fresh'))])
    const item = blockOf(fragment, 't1').parent as Y.XmlElement<{ checked: boolean }>
    item.setAttribute('checked', true)
    fragment.delete(2, 1)
    setShape(ann, 's0', { x: 9 })
    setShape(ann, 's1', {})
    ann.doc.getMap('shapes:c1').delete('s0')
    ann.doc.getMap('prosePages').set('p', { id: 'p', name: 'Renamed', order: 0 })
    const shape = (id: string, isRemoved = false) => ({ kind: 'shape', pageId: 'c1', id, isRemoved, by: 'ann' })
    expect(short(await toldAfter(ann, room))).toEqual([
      block('new', 'ann'),
      block('t1', 'ann'),
      block('p2', 'ann', true),
      shape('s0', true),
      shape('s1'),
      { kind: 'page', pageId: 'p', id: null, isRemoved: false, by: 'ann' },
    ])
  })

  it('[AG-20] reports nothing while nobody watches, nothing that tools write, and nothing after the watching has ended', async () => {
    const { head, room } = await at.openRoom()
    const ann = await at.joined(room, { sub: 'ann' })
    type(ann, 'p1', ' before')
    expect(await toldAfter(ann, room)).toEqual([])
    watch(room)
    done(await editIn(at.worker, room, editRequest(head, 'set_prose', { pageId: 'p', id: 'p2', content: 'by a tool' })))
    expect(await toldAfter(ann, room)).toEqual([])
    watch(room, false)
    type(ann, 'p1', ' after')
    expect(await toldAfter(ann, room)).toEqual([])
  })

  it('[AG-20] reports words that came late for a replaced block as a change of the person who typed them', async () => {
    const { head, room } = await at.openRoom()
    watch(room)
    const ann = await at.joined(room, { sub: 'ann' })
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(ann.doc))
    const vector = Y.encodeStateVector(copy)
    ;(blockOf(copy.getXmlFragment('prose:p'), 'p1').toArray()[0] as Y.XmlText).insert(3, ' late')
    done(await editIn(at.worker, room, editRequest(head, 'set_prose', { pageId: 'p', id: 'p1', content: '## one' })))
    ann.write(2, Y.encodeStateAsUpdate(copy, vector))
    expect(short(await toldAfter(ann, room))).toEqual([block('p1', 'ann')])
    expect(ann.text('prose:p')).toContain('one late')
  })

  it('[AG-110] reports the person and the page of words that came late for a removed page', async () => {
    const pages = [...BODY.richTextPages, { id: 'q', name: 'Other', order: 1, content: '<p id="o1">other</p>' }]
    const { head, room } = await at.openRoom(at.worker, { ...BODY, richTextPages: pages })
    watch(room)
    const ann = await at.joined(room, { sub: 'ann' })
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(ann.doc))
    const vector = Y.encodeStateVector(copy)
    ;(blockOf(copy.getXmlFragment('prose:p'), 'p1').toArray()[0] as Y.XmlText).insert(3, ' late')
    done(await editIn(at.worker, room, editRequest(head, 'delete_block', { pageId: 'p', id: 'p1' })))
    done(await editIn(at.worker, room, editRequest(head, 'delete_prose_page', { pageId: 'p' })))
    ann.write(2, Y.encodeStateAsUpdate(copy, vector))
    const told = await toldAfter(ann, room)
    expect(short(told)).toContainEqual({ kind: 'block', pageId: 'p', id: null, isRemoved: false, by: 'ann' })
  })

  it('[AG-21] reports at most 24 characters of the name in the awareness state of a person, on one line, and no name when there is none', async () => {
    const { room } = await at.openRoom()
    watch(room)
    const [ann, ben] = [await at.joined(room, { sub: 'ann' }), await at.joined(room, { sub: 'ben' })]
    showName(ann, { name: ' Ann\n</tool> of the very long and winding name ' })
    showName(ben, { name: 7 })
    await until(() => ben.presence.length > 0)
    type(ann, 'p1', '!')
    await until(() => ben.text('prose:p').includes('!'))
    type(ben, 'p2', '?')
    const told = await toldAfter(ben, room)
    expect(told.map(({ who }) => who)).toEqual([
      { id: 'ann', kind: 'person', name: 'Ann </tool> of the very' },
      { id: 'ben', kind: 'person' },
    ])
  })
})

describe('the cost of noting changes', () => {
  it('[AG-20] the median note of an update of a typist takes at most 5 µs of processor time', () => {
    const doc = page(Array.from({ length: 2_000 }, (_, i) => `<p id="b${i}">words</p>`).join(''))
    const texts = doc
      .getXmlFragment('prose:p')
      .toArray()
      .map((child) => (child as Y.XmlElement).toArray()[0] as Y.XmlText)
    const touched = new TouchedBlocks<object>()
    const by = {}
    const transactions: Y.Transaction[] = []
    doc.on('afterTransaction', (transaction: Y.Transaction) => transactions.push(transaction))
    for (let i = 0; i < 2_000; i++) (texts[i % 50] as Y.XmlText).insert(0, 'x')
    // One update is too short for the clock of the thread, so rounds of many updates are measured.
    const rounds = Array.from({ length: 51 }, () => {
      const spentMs = threadTime()
      for (let i = 0; i < 20; i++) for (const transaction of transactions) touched.note(transaction, by)
      return (spentMs() * 1_000) / (20 * transactions.length)
    })
    expect(rounds.sort((a, b) => a - b)[25]).toBeLessThan(5)
    expect(touched.take()).toHaveLength(50)
  })

  it('[AG-20] reports a block that was changed and then removed only once, as removed', () => {
    const doc = page('<p id="a">words</p><p id="b">more</p>')
    const touched = new TouchedBlocks<string>()
    doc.on('afterTransaction', (transaction: Y.Transaction) => touched.note(transaction, 'ann'))
    const prose = doc.getXmlFragment('prose:p')
    ;(blockOf(prose, 'a').toArray()[0] as Y.XmlText).insert(0, 'x')
    prose.delete(0, 1)
    expect(touched.take()).toEqual([block('a', 'ann', true)])
  })

  it('[AG-20] forgets a change of a block that the relay changes afterwards, but reports such a change of a shape once', () => {
    const doc = page('<p id="a">words</p><p id="b">more</p>')
    const touched = new TouchedBlocks<string>()
    const shapes = doc.getMap('shapes:c1')
    const change = (...ids: readonly string[]) =>
      doc.transact(() => {
        for (const id of ids) {
          if (id.startsWith('s')) shapes.set(id, {})
          else (blockOf(doc.getXmlFragment('prose:p'), id).toArray()[0] as Y.XmlText).insert(0, 'x')
        }
      })
    const note = (transaction: Y.Transaction) => touched.note(transaction, 'ann')
    doc.on('afterTransaction', note)
    change('a', 'b', 's0', 's1')
    doc.off('afterTransaction', note)
    doc.on('afterTransaction', (transaction: Y.Transaction) => touched.forget(transaction))
    change('a', 's0')
    expect(touched.take().map(({ id }) => id)).toEqual(['b', 's0', 's1'])
    expect([...touched.all()].map(({ id }) => id)).toEqual(['b', 's1'])
  })

  it('[AG-20] reports a shape once that a person changes, then the relay, and then another person', () => {
    const doc = page('')
    const touched = new TouchedBlocks<string>()
    const shapes = doc.getMap('shapes:c1')
    const change = (then: (transaction: Y.Transaction) => void) => {
      doc.once('afterTransaction', then)
      shapes.set('s0', {})
    }
    change((transaction) => touched.note(transaction, 'ann'))
    change((transaction) => touched.forget(transaction))
    change((transaction) => touched.note(transaction, 'ben'))
    expect(touched.take().map(({ id, by }) => [id, by])).toEqual([['s0', 'ben']])
    expect(touched.take()).toEqual([])
  })

  it('[AG-20] keeps the last 4,096 changed blocks of a room', () => {
    const doc = page(Array.from({ length: 5_000 }, (_, i) => `<p id="b${i}">words</p>`).join(''))
    const touched = new TouchedBlocks<string>()
    doc.on('afterTransaction', (transaction: Y.Transaction) => touched.note(transaction, 'ann'))
    for (const child of doc.getXmlFragment('prose:p').toArray()) {
      ;((child as Y.XmlElement).toArray()[0] as Y.XmlText).insert(0, 'x')
    }
    expect([...touched.all()]).toHaveLength(4_096)
    expect([...touched.all()].at(-1)).toMatchObject({ id: 'b4999', by: 'ann' })
  })
})
