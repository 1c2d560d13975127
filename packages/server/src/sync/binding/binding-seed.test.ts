import { createHash } from 'node:crypto'
import { body, canvasPage, prosePage, rectangle } from '@docrelay/model/testing/builders'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { project, reconcile, removeDoubledProse, seed } from './binding.ts'
import { seedClientId } from './binding-seed.ts'
import { exchange, liveDocument, paragraph, replica, textOf, updatesOf } from '../testing/live-document.ts'

const SAMPLE = body({
  name: 'Plan',
  createdAt: 12,
  pages: [canvasPage('p', rectangle('a'), rectangle('b'))],
  richTextPages: [prosePage('r', '<p>one</p><h2 id="blk-1">two</h2>'), prosePage('empty', '<p></p>')],
  references: { items: { k: { id: 'k' } }, itemOrder: ['k'] },
})

describe('seeding a live document from a stored body', () => {
  it('[YDOC-9] each root is seeded under a client id hashed from its name and content', () => {
    const digest = createHash('sha256').update('shapeOrder:p\u001f["a","b"]', 'utf8').digest()
    const expected = Number(digest.readBigUInt64LE(0) % 2n ** 53n)
    expect(seedClientId('shapeOrder:p', '["a","b"]')).toBe(expected)
    const ydoc = new Y.Doc()
    const roots = seed(ydoc, SAMPLE)
    expect(ydoc.store.clients.has(expected)).toBe(true)
    expect(ydoc.store.clients.has(seedClientId('prose:r', '<p>one</p><h2 id="blk-1">two</h2>'))).toBe(true)
    expect(ydoc.store.clients.has(ydoc.clientID)).toBe(false)
    expect(ydoc.store.clients.size).toBe(roots.size)
  })

  it('[YDOC-9] two nodes seed the same bytes in one update, and a client that receives both has the content once', () => {
    const [one, two] = [new Y.Doc(), new Y.Doc()]
    const updates = [one, two].map((ydoc) => updatesOf(ydoc, () => seed(ydoc, SAMPLE, 'relay', 40)))
    expect(updates[0]).toHaveLength(1)
    expect(updates[0]).toEqual(updates[1])
    const client = new Y.Doc()
    for (const [update] of updates) Y.applyUpdate(client, update as Uint8Array)
    expect(project(client, SAMPLE)).toBe(SAMPLE)
    expect(client.getXmlFragment('prose:r').length).toBe(2)
    expect(client.getMap('metadata').toJSON()).toEqual({ title: 'Plan', createdAt: 12, updatedAt: 40 })
  })

  it('[YDOC-9] only roots without any history are seeded; a root that a client emptied stays empty', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('references').delete('k')
    ydoc.getMap('shapes:p').clear()
    ydoc.getXmlFragment('prose:r').delete(0, 2)
    const reloaded = replica(ydoc)
    expect(seed(reloaded, SAMPLE).size).toBe(0)
    expect(project(reloaded, SAMPLE).canvas.pages[0]?.shapes).toEqual([])
    expect(project(reloaded, SAMPLE).prose.pages[0]?.content).toBe('<p></p>')
  })

  it('[YDOC-9] a root that a client never wrote is seeded at the next write', () => {
    const ydoc = new Y.Doc()
    ydoc.getMap('canvasPages').set('p', { id: 'p', name: 'p' })
    ydoc.getArray('canvasPageOrder').insert(0, ['p'])
    expect([...seed(ydoc, SAMPLE)].sort()).toEqual([
      'metadata',
      'prose:r',
      'prosePageOrder',
      'prosePages',
      'referenceOrder',
      'references',
      'shapeOrder:p',
      'shapes:p',
    ])
    const partial = new Y.Doc()
    partial.getMap('metadata').set('title', 'Plan')
    reconcile(partial, SAMPLE, SAMPLE, 'relay')
    expect(project(partial, SAMPLE)).toBe(SAMPLE)
    expect(partial.getMap('shapes:p').size).toBe(2)
  })

  it('[YDOC-9] [YDOC-5] a page missing from the live page list is not seeded', () => {
    const ydoc = new Y.Doc()
    ydoc.getMap('canvasPages').set('mine', { id: 'mine' })
    ydoc.getMap('prosePages').set('mine', { id: 'mine' })
    const roots = seed(ydoc, SAMPLE)
    expect([roots.has('shapes:p'), roots.has('prose:r'), roots.has('canvasPageOrder')]).toEqual([false, false, false])
  })

  it('[YDOC-9] [YDOC-12] the document writes under its own client id when the seed client id is taken, and for every edit after seeding', () => {
    const ydoc = new Y.Doc()
    const drawn = seedClientId('shapeOrder:p', '["a","b"]')
    const foreign = new Y.Doc()
    foreign.clientID = drawn
    foreign.getMap('other').set('x', 1)
    Y.applyUpdate(ydoc, Y.encodeStateAsUpdate(foreign))
    const own = ydoc.clientID
    seed(ydoc, SAMPLE)
    expect(project(ydoc, SAMPLE)).toBe(SAMPLE)
    expect(Y.getState(ydoc.store, drawn)).toBe(1)
    expect([ydoc.store.clients.has(own), ydoc.clientID]).toEqual([true, own])
    const known = new Set(ydoc.store.clients.keys())
    reconcile(ydoc, SAMPLE, body({ name: 'Other' }), 'relay')
    expect([...ydoc.store.clients.keys()].every((client) => known.has(client))).toBe(true)
  })

  it('[YDOC-12] content that the relay removes from a live document is garbage-collected from its state', () => {
    const ydoc = liveDocument(SAMPLE)
    const full = Y.encodeStateAsUpdate(ydoc).length
    reconcile(ydoc, SAMPLE, body({ name: 'Plan', createdAt: 12, richTextPages: [prosePage('r', '<p>one</p>')] }), 'relay')
    expect(Y.encodeStateAsUpdate(ydoc).length).toBeLessThan(full)
    expect(Buffer.from(Y.encodeStateAsUpdate(ydoc)).includes('blk-1')).toBe(false)
  })

  it('[PROSE-9] a page that holds only an atom or an embedded group is seeded', () => {
    const atoms = body({
      richTextPages: [
        prosePage('math', '<p><span data-math-inline data-latex="x"></span></p>'),
        prosePage('group', '<div data-type="embedded-group" data-group-id="g" data-group-name="n"></div>'),
        prosePage('none', '<p></p>'),
      ],
    })
    const ydoc = liveDocument(atoms)
    expect(['math', 'group', 'none'].map((id) => ydoc.getXmlFragment(`prose:${id}`).length)).toEqual([1, 1, 0])
  })

  it('[YDOC-14] seeding keeps the stored block ids and adds none', () => {
    const ydoc = liveDocument(SAMPLE)
    expect(
      ydoc
        .getXmlFragment('prose:r')
        .toArray()
        .map((node) => (node as Y.XmlElement).getAttribute('id')),
    ).toEqual([undefined, 'blk-1'])
  })
})

describe('removing prose that an old client seeded twice', () => {
  function doubled(...texts: readonly string[]): Y.Doc {
    const ydoc = new Y.Doc()
    ydoc.getXmlFragment('prose:r').insert(
      0,
      texts.map((text) => paragraph(text, `blk-${text}`)),
    )
    return ydoc
  }

  it('[YDOC-10] a page whose second half repeats the first exactly loses that half in one ordinary update, once', () => {
    const ydoc = doubled('a', 'b', 'a', 'b')
    const client = replica(ydoc)
    expect(updatesOf(ydoc, () => removeDoubledProse(ydoc, 'relay'))).toHaveLength(1)
    exchange(ydoc, client)
    expect(client.getXmlFragment('prose:r').toString()).toBe(
      '<paragraph id="blk-a">a</paragraph><paragraph id="blk-b">b</paragraph>',
    )
    expect(removeDoubledProse(client, 'relay')).toBe(false)
  })

  it.each([
    ['fewer than four children', ['a', 'a']],
    ['an odd number', ['a', 'b', 'a', 'b', 'a']],
    ['halves that differ', ['a', 'b', 'a', 'c']],
  ])('[YDOC-10] doubled prose is not removed from a page with %s', (_, texts) => {
    const ydoc = doubled(...texts)
    expect(updatesOf(ydoc, () => removeDoubledProse(ydoc, 'relay'))).toEqual([])
  })

  it('[YDOC-10] a page whose halves differ only in a mark or an attribute is left unchanged', () => {
    const ydoc = doubled('a', 'b', 'a', 'b')
    textOf(ydoc, 'r', 2).format(0, 1, { bold: {} })
    expect(removeDoubledProse(ydoc, 'relay')).toBe(false)
    const other = doubled('a', 'b', 'a', 'b')
    ;(other.getXmlFragment('prose:r').get(3) as Y.XmlElement).setAttribute('textAlign', 'right')
    expect(removeDoubledProse(other, 'relay')).toBe(false)
  })
})
