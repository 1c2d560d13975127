import type { DocumentBody } from '@docrelay/model/body'
import { body, canvasPage, group, prosePage, rectangle, written } from '@docrelay/model/testing/builders'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { catchUp, project, reconcile, refuseStaleTitle } from './binding.ts'
import { longestRise, mergeOrder, writeOrder } from './binding-order.ts'
import { exchange, liveDocument, paragraph, replica, textOf, updatesOf } from '../testing/live-document.ts'

function shapesBody(...shapes: Parameters<typeof canvasPage>[1][]): DocumentBody {
  return body({ pages: [canvasPage('p', ...shapes)] })
}

function shapeIds(ydoc: Y.Doc, base: DocumentBody) {
  return project(ydoc, base).canvas.pages[0]?.shapes.map((shape) => shape.id)
}

function proseBody(content: string): DocumentBody {
  return body({ richTextPages: [prosePage('r', content)] })
}

function content(ydoc: Y.Doc, base: DocumentBody) {
  return project(ydoc, base).prose.pages[0]?.content
}

const [A, B, C, D] = [rectangle('a'), rectangle('b'), rectangle('c'), rectangle('d')]

describe('reconciling a live document with an edited body', () => {
  it('[YDOC-2] a changed record replaces its whole live entry with plain JSON, not with Y types', () => {
    const before = shapesBody(A)
    const ydoc = liveDocument(before)
    reconcile(ydoc, before, shapesBody(rectangle('a', { style: { fill: 'red', list: [1] } })), 'relay')
    const entry = ydoc.getMap('shapes:p').get('a')
    expect(entry).toEqual(rectangle('a', { style: { fill: 'red', list: [1] } }))
    expect(entry).not.toBeInstanceOf(Y.AbstractType)
  })

  it('[YDOC-3] [LIFE-13] reconciling writes only the entries whose value changed, in one transaction with the given origin', () => {
    const before = body({
      pages: [canvasPage('p', A, B), canvasPage('q', C)],
      richTextPages: [prosePage('r', '<p>x</p>')],
      tags: ['t'],
    })
    const after = body({
      pages: [canvasPage('p', A, rectangle('b', { x: 4 })), canvasPage('q', C)],
      richTextPages: [prosePage('r', '<p>x</p>')],
      tags: ['t'],
    })
    const ydoc = liveDocument(before)
    const touched: string[] = []
    const origins: unknown[] = []
    ydoc.on('afterTransaction', (transaction: Y.Transaction) => {
      origins.push(transaction.origin)
      for (const [type, keys] of transaction.changed) touched.push(...[...keys].map((key) => `${Y.findRootTypeKey(type)} ${key}`))
    })
    const updates = updatesOf(ydoc, () => reconcile(ydoc, before, after, 'me'))
    expect(updates).toHaveLength(1)
    expect(updates[0]?.length).toBeLessThan(120)
    expect([touched, origins]).toEqual([['shapes:p b'], ['me']])
  })

  it('[YDOC-3] moving one shape deletes one entry of the order and inserts one', () => {
    const before = shapesBody(A, B, C, D)
    const ydoc = liveDocument(before)
    const deltas: unknown[] = []
    ydoc.getArray('shapeOrder:p').observe((event) => deltas.push(event.delta))
    reconcile(ydoc, before, shapesBody(A, C, D, B), 'relay')
    expect(deltas).toEqual([[{ retain: 1 }, { delete: 1 }, { retain: 2 }, { insert: ['b'] }]])
  })

  it('[YDOC-3] an order that a client clears and fills again in one transaction is read as the new order', () => {
    const before = shapesBody(A, B, C)
    const ydoc = liveDocument(before)
    const client = replica(ydoc)
    client.transact(() => {
      const order = client.getArray('shapeOrder:p')
      order.delete(0, 3)
      order.insert(0, ['c', 'a', 'b'])
    })
    exchange(ydoc, client)
    expect(shapeIds(ydoc, before)).toEqual(['c', 'a', 'b'])
    reconcile(ydoc, before, shapesBody(A, B, D, C), 'relay')
    expect(shapeIds(ydoc, before)).toEqual(['c', 'a', 'b', 'd'])
  })

  it('[YDOC-4] an edit of another record leaves repeated and unknown ids of an order as the client wrote them', () => {
    const before = shapesBody(A, B, C)
    const ydoc = liveDocument(before)
    ydoc.getArray('shapeOrder:p').insert(3, ['ghost', 'a'])
    const base = project(ydoc, before)
    reconcile(ydoc, base, shapesBody(B, A, C), 'relay')
    expect(shapeIds(ydoc, before)).toEqual(['b', 'a', 'c'])
    expect(ydoc.getArray('shapeOrder:p').toArray()).toContain('ghost')
  })

  it('[CANVAS-17] [BODY-4] the live order lists a group but not its members', () => {
    const before = shapesBody(A, B, C)
    const after = shapesBody(A, group('g', 'c', 'b'), B, C)
    const ydoc = liveDocument(before)
    reconcile(ydoc, before, after, 'relay')
    expect(ydoc.getArray('shapeOrder:p').toArray()).toEqual(['a', 'g'])
    expect(shapeIds(ydoc, after)).toEqual(['a', 'g', 'c', 'b'])
    reconcile(ydoc, after, before, 'relay')
    expect(ydoc.getArray('shapeOrder:p').toArray()).toEqual(['a', 'b', 'c'])
  })

  it('[CANVAS-17] reordering a page writes no group members into its live order', () => {
    const before = shapesBody(A, group('g', 'c'), C, B)
    const after = shapesBody(group('g', 'c'), C, B, A)
    const ydoc = liveDocument(before)
    ydoc.getMap('shapes:p').set('live', group('live', 'n'))
    ydoc.getMap('shapes:p').set('n', rectangle('n'))
    reconcile(ydoc, before, after, 'relay')
    expect(ydoc.getArray('shapeOrder:p').toArray()).toEqual(['g', 'b', 'a', 'live'])
    expect(shapeIds(ydoc, after)).toEqual(['g', 'c', 'b', 'a', 'live', 'n'])
  })

  it('[LIFE-14] an edit restores no shape deleted live, and undoes no live change of a shape it does not touch', () => {
    const before = shapesBody(A, B, C)
    const ydoc = liveDocument(before)
    ydoc.getMap('shapes:p').delete('a')
    ydoc.getMap('shapes:p').set('b', rectangle('b', { x: 50 }))
    ydoc.getMap('shapes:p').set('n', rectangle('n'))
    const after = shapesBody(rectangle('a', { x: 1 }), B, rectangle('c', { x: 2 }))
    reconcile(ydoc, before, after, 'relay')
    expect(project(ydoc, after).canvas.pages[0]?.shapes.map((shape) => [shape.id, shape.value.x])).toEqual([
      ['b', 50],
      ['c', 2],
      ['n', 0],
    ])
  })

  it('[LIFE-14] an edit does not restore a page that was deleted live, and its additions to that page are dropped', () => {
    const before = body({
      pages: [canvasPage('p', A), canvasPage('q', B)],
      richTextPages: [prosePage('r', '<p>x</p>'), prosePage('s', '')],
    })
    const ydoc = liveDocument(before)
    ydoc.getMap('canvasPages').delete('p')
    ydoc.getMap('prosePages').delete('r')
    const after = body({
      pages: [canvasPage('p', A, C), canvasPage('q', B)],
      richTextPages: [prosePage('r', '<p>y</p>'), prosePage('s', '')],
    })
    reconcile(ydoc, before, after, 'relay')
    const merged = project(ydoc, after)
    expect([merged.canvas.pages.map((page) => page.id), merged.prose.pages.map((page) => page.id)]).toEqual([['q'], ['s']])
    expect(ydoc.getMap('shapes:p').has('c')).toBe(false)
  })

  it('[LIFE-14] a PUT without a container empties the live container, except for entries that a client added meanwhile', () => {
    const before = body({
      pages: [canvasPage('p', A)],
      richTextPages: [prosePage('r', '<p>x</p>')],
      references: { items: { k: {} }, itemOrder: ['k'] },
      fields: { fields: { f: {} }, order: ['f'] },
    })
    const ydoc = liveDocument(before)
    ydoc.getMap('references').set('mine', { id: 'mine' })
    const after = body({ name: 'N' })
    reconcile(ydoc, before, after, 'relay')
    expect(written(project(ydoc, after))).toEqual({
      name: 'N',
      pages: [],
      richTextPages: [],
      references: { items: { mine: { id: 'mine' } }, itemOrder: ['mine'] },
    })
  })

  it('[LIFE-14] a page added both by a client and by a PUT keeps the blocks of both, and shared blocks once', () => {
    const before = proseBody('<p>x</p>')
    const added = prosePage('n', '<p>both</p><p>mine</p><p>end</p>')
    const after = body({ richTextPages: [prosePage('r', '<p>x</p>'), added] })
    const ydoc = liveDocument(before)
    ydoc.getMap('prosePages').set('n', { id: 'n', name: 'n', order: 1 })
    ydoc.getXmlFragment('prose:n').insert(0, [paragraph('both'), paragraph('theirs'), paragraph('end')])
    reconcile(ydoc, before, after, 'relay')
    const page = project(ydoc, after).prose.pages[1]?.content ?? ''
    expect(page.match(/<p>\w+<\/p>/g)?.sort()).toEqual(['<p>both</p>', '<p>end</p>', '<p>mine</p>', '<p>theirs</p>'])
  })

  it('[YDOC-5] adding a page under a page id used before starts with the content of the edit, not with the old content', () => {
    const [full, none] = [shapesBody(A, B), body({ pages: [canvasPage('other')] })]
    const ydoc = liveDocument(full)
    reconcile(ydoc, full, none, 'relay')
    expect(ydoc.getMap('shapes:p').size).toBe(2)
    const again = body({ pages: [canvasPage('other'), canvasPage('p', C)] })
    reconcile(ydoc, none, again, 'relay')
    expect(written(project(ydoc, again))).toEqual(written(again))
  })

  it('[LIFE-14] [PROSE-54] typing in a block that an edit leaves alone keeps every typed character', () => {
    const words = fc
      .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 8 })
      .map((text) => text.replaceAll(/[<>&\s]/g, '_'))
    const blocks = fc.array(fc.tuple(words, fc.boolean()), { minLength: 2, maxLength: 8 })
    const edits = fc.array(fc.tuple(fc.constantFrom('replace', 'remove', 'insert'), fc.nat(), words), { maxLength: 4 })
    fc.assert(
      fc.property(blocks, fc.nat(), words, fc.nat(), edits, (given, chosen, typed, place, changes) => {
        const block = ([text, id]: readonly [string, boolean], i: number) => `<p${id ? ` id="blk-${i}"` : ''}>${i}${text}</p>`
        const html = given.map(block)
        const mine = html[chosen % html.length] as string
        const next = [...html]
        for (const [kind, at, text] of changes) {
          const index = at % (next.length + 1)
          if (kind === 'insert' || next[index] === undefined || next[index] === mine) next.splice(index, 0, `<p>new ${text}</p>`)
          else if (kind === 'remove') next.splice(index, 1)
          else next[index] = `<p>changed ${text}</p>`
        }
        const [before, after] = [proseBody(html.join('')), proseBody(next.join(''))]
        const ydoc = liveDocument(before)
        const client = replica(ydoc)
        const text = textOf(client, 'r', chosen % html.length)
        const at = place % (text.length + 1)
        text.insert(at, `«${typed}»`)
        const expected = text.toString()
        reconcile(ydoc, before, after, 'relay')
        exchange(ydoc, client)
        const shown = client
          .getXmlFragment('prose:r')
          .toArray()
          .map((node) => (node as Y.XmlElement).toArray().join(''))
        expect(shown).toContain(expected)
      }),
      { numRuns: 200 },
    )
  })

  it('[LIFE-14] an edit of a text block keeps the live characters of its unchanged beginning and end', () => {
    const [before, after] = [proseBody('<p>The quick fox jumps</p>'), proseBody('<p>The slow red fox jumps</p>')]
    const ydoc = liveDocument(before)
    const client = replica(ydoc)
    textOf(client, 'r', 0).insert(19, ' far')
    textOf(client, 'r', 0).insert(0, '> ')
    reconcile(ydoc, before, after, 'relay')
    exchange(ydoc, client)
    expect(content(ydoc, after)).toBe('<p>&gt; The slow red fox jumps far</p>')
  })

  it('[YDOC-13] a PUT with HTML outside the content model is repaired in the live document and kept unchanged in the body', () => {
    const put = proseBody('<li>item</li><p>text<h2>heading</h2><script>x</script>')
    const before = proseBody('<p>old</p>')
    const ydoc = liveDocument(before)
    reconcile(ydoc, before, put, 'relay')
    expect(project(ydoc, put)).toBe(put)
    const names = ydoc
      .getXmlFragment('prose:r')
      .toArray()
      .map((node) => (node as Y.XmlElement).nodeName)
    expect(names).toEqual(['bulletList', 'paragraph', 'heading'])
    expect(ydoc.getXmlFragment('prose:r').toString()).not.toContain('script')
  })

  it('[YDOC-14] an edit without block ids adds no block ids to the live document', () => {
    const [before, after] = [proseBody('<p>a</p>'), proseBody('<p>a</p><p id="blk-kept">b</p><p>c</p>')]
    const ydoc = liveDocument(before)
    reconcile(ydoc, before, after, 'relay')
    expect(
      ydoc
        .getXmlFragment('prose:r')
        .toArray()
        .map((node) => (node as Y.XmlElement).getAttribute('id')),
    ).toEqual([undefined, 'blk-kept', undefined])
  })

  it('[YDOC-1] [BODY-10] live title, tags and citation style follow the body, and are removed when the body lacks them', () => {
    const before = body({ name: 'A', tags: ['x'], references: { items: {}, itemOrder: [], style: 'apa' } })
    const after = body({ title: 'B', references: { items: {}, itemOrder: [], style: 'own' } })
    const ydoc = liveDocument(before)
    reconcile(ydoc, before, after, 'relay', 77)
    expect(ydoc.getMap('metadata').toJSON()).toEqual({ title: 'B', updatedAt: 77 })
    expect(project(ydoc, after)).toBe(after)
  })
})

describe('title of a live document', () => {
  const stored = body({ name: 'Stored', tags: ['s'] })

  it('[YDOC-7] a live title becomes both title members of the body, and live tags its tags', () => {
    const base = body({ name: 'Stored', title: 'Stored', tags: ['s'] })
    const ydoc = liveDocument(base)
    ydoc.getMap('metadata').set('title', 'Live')
    ydoc.getMap('metadata').set('tags', ['l', 'm'])
    expect(refuseStaleTitle(ydoc, base, 0, 'relay')).toBe(false)
    expect(written(project(ydoc, base))).toMatchObject({ name: 'Live', title: 'Live', tags: ['l', 'm'] })
  })

  it('[YDOC-7] a live title older than the stored change is replaced by the stored title with the stored time', () => {
    const ydoc = liveDocument(stored)
    const metadata = ydoc.getMap('metadata')
    metadata.set('title', 'Old')
    metadata.set('updatedAt', 99)
    expect(refuseStaleTitle(ydoc, stored, 100, 'relay')).toBe(true)
    expect(metadata.toJSON()).toEqual({ title: 'Stored', tags: ['s'], updatedAt: 100 })
    expect(project(ydoc, stored)).toBe(stored)
    expect(refuseStaleTitle(ydoc, stored, 100, 'relay')).toBe(false)
  })

  it('[YDOC-7] a live title as new as the stored change, or newer, is kept', () => {
    const ydoc = liveDocument(stored)
    ydoc.getMap('metadata').set('title', 'Live')
    ydoc.getMap('metadata').set('updatedAt', 100)
    expect(updatesOf(ydoc, () => refuseStaleTitle(ydoc, stored, 100, 'relay'))).toEqual([])
    expect(project(ydoc, stored).members.get('name')).toBe('Live')
  })
})

describe('catching up with a newer stored body', () => {
  it('[YDOC-8] clients with an older state merge with a newer stored body without doubled content', () => {
    const before = body({ name: 'A', pages: [canvasPage('p', A)], richTextPages: [prosePage('r', '<p>one</p><p>two</p>')] })
    const stored = body({
      name: 'B',
      pages: [canvasPage('p', A, B)],
      richTextPages: [prosePage('r', '<p>one</p><p>2</p><p>three</p>')],
    })
    const ydoc = liveDocument(before)
    const client = replica(ydoc)
    textOf(client, 'r', 0).insert(3, ' offline')
    catchUp(ydoc, stored, 'relay', 5)
    expect(written(project(ydoc, stored))).toEqual(written(stored))
    exchange(ydoc, client)
    expect(content(client, stored)).toBe('<p>one offline</p><p>2</p><p>three</p>')
    expect(shapeIds(client, stored)).toEqual(['a', 'b'])
  })

  it('[YDOC-8] content that the newer stored body lacks is removed from the live document', () => {
    const before = body({
      pages: [canvasPage('p', A), canvasPage('q', B)],
      references: { items: { k: {} }, itemOrder: ['k'], style: 'apa' },
    })
    const ydoc = liveDocument(before)
    const stored = body({ pages: [canvasPage('q', B)], references: { items: {}, itemOrder: [] } })
    catchUp(ydoc, stored, 'relay')
    expect(project(ydoc, stored)).toBe(stored)
    expect(ydoc.getMap('references').size).toBe(0)
  })
})

describe('merging of orders', () => {
  const ids = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 })

  it('[YDOC-3] an order that nobody else changed becomes the wanted order with the fewest deletions and insertions', () => {
    fc.assert(
      fc.property(ids, ids, (before, after) => {
        const target = mergeOrder(before, before, after, () => true)
        expect(target).toEqual(after)
        const ydoc = new Y.Doc()
        const array = ydoc.getArray<unknown>('order')
        array.insert(0, before)
        let [deleted, inserted] = [0, 0]
        array.observe((event) => {
          for (const part of event.delta) {
            deleted += part.delete ?? 0
            inserted += Array.isArray(part.insert) ? part.insert.length : 0
          }
        })
        writeOrder(array, target, new Set(before.filter((id) => !after.includes(id))))
        expect(array.toArray()).toEqual(after)
        const common = before.filter((id) => after.includes(id)).map((id) => after.indexOf(id))
        expect(before.length - deleted).toBe(longestRise(common).length)
        expect(inserted).toBe(after.length - longestRise(common).length)
      }),
    )
  })

  it('[YDOC-3] [LIFE-14] ids that other clients moved, added or removed keep their place in a merged order', () => {
    expect(mergeOrder(['c', 'a', 'b'], ['a', 'b', 'c'], ['a', 'b', 'x', 'c'], () => true)).toEqual(['c', 'a', 'b', 'x'])
    expect(mergeOrder(['a', 'n', 'b'], ['a', 'b'], ['b', 'a'], () => true)).toHaveLength(3)
    expect(mergeOrder(['b'], ['a', 'b', 'c'], ['c', 'a', 'b'], (id) => id === 'b')).toEqual(['b'])
    fc.assert(
      fc.property(ids, ids, ids, (live, before, after) => {
        const merged = mergeOrder(live, before, after, (id) => live.includes(id) || !before.includes(id))
        expect(new Set(merged).size).toBe(merged.length)
        const gone = before.filter((id) => !after.includes(id))
        for (const id of live) expect(merged.includes(id)).toBe(!gone.includes(id))
      }),
    )
  })
})

describe('prose that a client edits beside a PUT', () => {
  it('[LIFE-14] a block that a client added meanwhile survives an edit of its neighbour', () => {
    const [before, after] = [proseBody('<p>one</p><p>two</p>'), proseBody('<p>1</p><p>two</p>')]
    const ydoc = liveDocument(before)
    ydoc.getXmlFragment('prose:r').insert(1, [paragraph('mine', 'blk-mine')])
    reconcile(ydoc, before, after, 'relay')
    expect(content(ydoc, after)).toBe('<p>1</p><p id="blk-mine">mine</p><p>two</p>')
  })
})
