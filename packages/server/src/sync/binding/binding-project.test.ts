import { EMPTY_BODY } from '@docrelay/model/body-parse'
import type { JsonObject } from '@docrelay/model/json'
import type { ProseElement } from '@docrelay/model/prose/node'
import { bodyOf } from '@docrelay/model/testing/arbitrary'
import { body, canvasPage, group, prosePage, rectangle, written } from '@docrelay/model/testing/builders'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { ProjectionCache, project, reconcile } from './binding.ts'
import { contentTree } from './binding-prose.ts'
import { exchange, liveDocument, paragraph, replica, textOf, updatesOf } from '../testing/live-document.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const SAMPLE = body({
  id: 'doc',
  name: 'Plan',
  tags: ['a'],
  activePageId: 'p',
  pages: [canvasPage('p', rectangle('s1'), rectangle('s2'), rectangle('s3')), canvasPage('q')],
  richTextPages: [prosePage('r', '<p>one</p><p>two</p>'), prosePage('t', '<P>not <b>canonical')],
  references: { items: { k: { id: 'k', type: 'book' } }, itemOrder: ['k'], style: 'apa' },
  fields: { fields: { f: { name: 'f', value: 'v' } }, order: ['f'] },
})

function shapeIds(ydoc: Y.Doc, pageId = 'p') {
  return project(ydoc, SAMPLE)
    .canvas.pages.find((page) => page.id === pageId)
    ?.shapes.map((shape) => shape.id)
}

describe('projecting a live document to a body', () => {
  it('[YDOC-1] each shared root of the live document holds its part of the body as plain values', () => {
    const ydoc = liveDocument(SAMPLE)
    expect(ydoc.getMap('metadata').toJSON()).toEqual({ title: 'Plan', tags: ['a'], citationStyle: 'apa' })
    expect(ydoc.getMap('canvasPages').toJSON()).toEqual({ p: { id: 'p', name: 'p' }, q: { id: 'q', name: 'q' } })
    expect(ydoc.getArray('canvasPageOrder').toArray()).toEqual(['p', 'q'])
    expect(ydoc.getMap('shapes:p').get('s1')).toEqual(rectangle('s1'))
    expect(ydoc.getArray('shapeOrder:p').toArray()).toEqual(['s1', 's2', 's3'])
    expect(ydoc.getMap('prosePages').get('r')).toEqual({ id: 'r', name: 'r', order: 0 })
    expect(ydoc.getArray('prosePageOrder').toArray()).toEqual(['r', 't'])
    expect(ydoc.getXmlFragment('prose:r').toString()).toBe('<paragraph>one</paragraph><paragraph>two</paragraph>')
    expect([ydoc.getMap('references').toJSON(), ydoc.getArray('referenceOrder').toArray()]).toEqual([
      { k: { id: 'k', type: 'book' } },
      ['k'],
    ])
    expect([ydoc.getMap('fields').toJSON(), ydoc.getArray('fieldOrder').toArray()]).toEqual([
      { f: { name: 'f', value: 'v' } },
      ['f'],
    ])
  })

  it('[YDOC-1] a live change of any shared root appears in the projected body', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('metadata').set('title', 'New')
    ydoc.getMap('metadata').set('tags', ['b'])
    ydoc.getMap('metadata').set('citationStyle', 'mla')
    ydoc.getMap('canvasPages').set('q', { id: 'q', name: 'renamed' })
    ydoc.getMap('shapes:p').delete('s2')
    ydoc.getMap('references').set('l', { id: 'l' })
    ydoc.getMap('fields').delete('f')
    expect(written(project(ydoc, SAMPLE))).toMatchObject({
      name: 'New',
      tags: ['b'],
      pages: [{ shapes: [{ id: 's1' }, { id: 's3' }] }, { name: 'renamed' }],
      references: { items: { k: {}, l: { id: 'l' } }, itemOrder: ['k', 'l'], style: 'mla' },
      fields: { fields: {}, order: [] },
    })
  })

  it('[YDOC-2] a nested Y type is read as its JSON value and stays unchanged', () => {
    const ydoc = liveDocument(SAMPLE)
    const nested = new Y.Map<unknown>([
      ['id', 's4'],
      ['points', Y.Array.from([1, new Y.Map([['x', 2]])])],
    ])
    ydoc.getMap('shapes:p').set('s4', nested)
    const base = project(ydoc, SAMPLE)
    expect(base.canvas.pages[0]?.shapes.at(-1)?.value).toEqual({ id: 's4', points: [1, { x: 2 }] })
    reconcile(ydoc, base, body({ ...written(base), name: 'Other' }), 'relay')
    expect(ydoc.getMap('shapes:p').get('s4')).toBe(nested)
    expect(updatesOf(ydoc, () => project(ydoc, base))).toEqual([])
    ;(nested.get('points') as Y.Array<unknown>).push([3])
    expect(project(ydoc, base).canvas.pages[0]?.shapes.at(-1)?.value).toEqual({ id: 's4', points: [1, { x: 2 }, 3] })
  })

  it('[YDOC-2] live values that JSON cannot express are read as the nearest JSON value', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('shapes:p').set('s1', { id: 's1', big: 7n, none: undefined, endless: Infinity, bytes: new Uint8Array([1, 2]) })
    ydoc.getMap('shapes:p').set('s2', 'no shape')
    expect(project(replica(ydoc), SAMPLE).canvas.pages[0]?.shapes.map((shape) => shape.value)).toEqual([
      { id: 's1', big: 7, endless: null, bytes: [1, 2] },
      rectangle('s3'),
    ])
  })

  it('[YDOC-4] a live order skips repeated and unknown ids and appends unlisted records by createdAt, then by id', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getArray('canvasPageOrder').insert(0, ['q', 'ghost', 'q'])
    ydoc.getMap('canvasPages').set('z', { id: 'z', createdAt: 5 })
    ydoc.getMap('canvasPages').set('y', { id: 'y', createdAt: 9 })
    ydoc.getMap('canvasPages').set('x', { id: 'x' })
    const before = Y.encodeStateAsUpdate(ydoc)
    expect(project(ydoc, SAMPLE).canvas.pages.map((page) => page.id)).toEqual(['q', 'p', 'z', 'y', 'x'])
    expect(Y.encodeStateAsUpdate(ydoc)).toEqual(before)
  })

  it('[YDOC-4] [CANVAS-17] members of a live group are read directly after their group, even if the order lists them elsewhere', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('shapes:p').set('g', group('g', 's3', 's1'))
    ydoc.getArray('shapeOrder:p').insert(0, ['g'])
    expect(shapeIds(ydoc)).toEqual(['g', 's3', 's1', 's2'])
  })

  it('[YDOC-5] a live page list replaces the stored list unless the live list is empty', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('canvasPages').delete('p')
    const shrunk = project(ydoc, SAMPLE)
    expect(shrunk.canvas.pages.map((page) => page.id)).toEqual(['q'])
    expect(ydoc.getMap('shapes:p').size).toBe(3)
    ydoc.getMap('canvasPages').delete('q')
    expect(project(ydoc, shrunk).canvas).toBe(shrunk.canvas)
    for (const id of ['r', 't']) ydoc.getMap('prosePages').delete(id)
    expect(project(ydoc, SAMPLE).prose.pages.map((page) => page.id)).toEqual(['r', 't'])
  })

  it('[YDOC-5] a shared root of a page that is not in the page list stays out of the body', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('shapes:lost').set('s', rectangle('s'))
    ydoc.getXmlFragment('prose:lost').insert(0, [paragraph('lost')])
    expect(project(ydoc, SAMPLE)).toBe(SAMPLE)
  })

  it('[YDOC-6] unknown roots and metadata keys stay in the live document, and members that it cannot hold in the body', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('metadata').set('theme', 'dark')
    ydoc.getMap('plugins').set('x', 1)
    expect(project(ydoc, SAMPLE)).toBe(SAMPLE)
    const next = body({ ...written(SAMPLE), activePageId: 'q', lockedBy: 'u', whiteboard: { a: 1 } })
    expect(updatesOf(ydoc, () => reconcile(ydoc, SAMPLE, next, 'relay'))).toEqual([])
    expect(written(project(ydoc, next))).toMatchObject({ activePageId: 'q', lockedBy: 'u', whiteboard: { a: 1 } })
    expect(ydoc.getMap('metadata').get('theme')).toBe('dark')
  })

  it('[YDOC-13] a node outside the content model is projected repaired and stays unchanged in the live document', () => {
    const ydoc = liveDocument(SAMPLE)
    const odd = new Y.XmlElement('widget')
    odd.insert(0, [paragraph('inside')])
    ydoc.getXmlFragment('prose:r').push([odd])
    const before = Y.encodeStateAsUpdate(ydoc)
    expect(project(ydoc, SAMPLE).prose.pages[0]?.content).toBe('<p>one</p><p>two</p><p>inside</p>')
    expect(Y.encodeStateAsUpdate(ydoc)).toEqual(before)
  })

  it('[YDOC-14] loading, reading and client edits add no block ids', () => {
    const ydoc = liveDocument(SAMPLE)
    textOf(ydoc, 'r', 0).insert(0, 'x')
    const next = project(ydoc, SAMPLE)
    expect(next.prose.pages[0]?.content).toBe('<p>xone</p><p>two</p>')
    expect(ydoc.getXmlFragment('prose:r').toString()).not.toContain('id=')
  })

  it('[BODY-9] stored HTML of a page stays byte for byte until that page changes live', () => {
    const ydoc = liveDocument(SAMPLE)
    textOf(ydoc, 'r', 1).insert(3, '!')
    const first = project(ydoc, SAMPLE)
    expect(first.prose.pages.map((page) => page.content)).toEqual(['<p>one</p><p>two!</p>', '<P>not <b>canonical'])
    textOf(ydoc, 't', 0).insert(0, 'now ')
    expect(project(ydoc, first).prose.pages[1]?.content).toBe('<p>now not <strong>canonical</strong></p>')
  })

  it('[BODY-2] a page that a client adds is stored as an array entry or a keyed entry, like the pages of its body', () => {
    for (const keyed of [false, true]) {
      const empty = bodyOf(keyed ? { pages: {}, richTextPages: { pages: {} } } : {})
      const ydoc = liveDocument(empty)
      ydoc.getMap('canvasPages').set('n', { id: 'n', name: 'N' })
      ydoc.getMap('shapes:n').set('s', rectangle('s'))
      ydoc.getMap('prosePages').set('m', { id: 'm', name: 'M', order: 0 })
      const [page, prose] = [
        { id: 'n', name: 'N' },
        { id: 'm', name: 'M', order: 0, content: '<p></p>' },
      ]
      expect(written(project(ydoc, empty))).toEqual(
        keyed
          ? {
              pages: { n: { ...page, shapes: { s: rectangle('s') }, shapeOrder: ['s'] } },
              pageOrder: ['n'],
              richTextPages: { pages: { m: prose }, pageOrder: ['m'] },
            }
          : { pages: [{ ...page, shapes: [rectangle('s')] }], richTextPages: [prose] },
      )
    }
  })

  it('[BODY-3] the body gets references and fields when a client adds the first entry', () => {
    const bare = body({ pages: [], richTextPages: [], fields: { note: 1 } })
    const ydoc = liveDocument(bare)
    ydoc.getMap('metadata').set('citationStyle', 'apa')
    expect(project(ydoc, bare)).toBe(bare)
    ydoc.getMap('references').set('k', { id: 'k' })
    ydoc.getMap('fields').set('f', { name: 'f', value: 1 })
    expect(written(project(ydoc, bare))).toMatchObject({
      references: { items: { k: { id: 'k' } }, itemOrder: ['k'], style: 'apa' },
      fields: { note: 1, fields: { f: { name: 'f', value: 1 } }, order: ['f'] },
    })
  })

  it('[BODY-7] __proto__ and constructor members, which the live document cannot hold, stay with their record when it changes live', () => {
    const shape = JSON.parse('{"id":"s","__proto__":{"a":1},"constructor":2,"deep":{"__proto__":3,"x":1}}') as JsonObject
    const base = body({ pages: [canvasPage('p', shape)] })
    const ydoc = liveDocument(base)
    expect(project(ydoc, base)).toBe(base)
    const live = ydoc.getMap('shapes:p').get('s') as JsonObject
    ydoc.getMap('shapes:p').set('s', { ...live, x: 9 })
    const next = project(ydoc, base)
    const found = next.canvas.pages[0]?.shapes[0]?.value as JsonObject
    expect(JSON.stringify(found)).toBe('{"id":"s","deep":{"x":1,"__proto__":3},"x":9,"__proto__":{"a":1},"constructor":2}')
    expect(project(ydoc, next)).toBe(next)
  })

  it('[LIFE-9] a live record with another id than its key, or with none, is projected with its key as id', () => {
    const ydoc = liveDocument(SAMPLE)
    ydoc.getMap('shapes:p').set('s1', { id: 'other', x: 1 })
    ydoc.getMap('canvasPages').set('n', { name: 'N' })
    const next = project(ydoc, SAMPLE)
    expect(next.canvas.pages[0]?.shapes[0]?.value).toEqual({ id: 's1', x: 1 })
    expect(next.canvas.pages[2]?.members).toEqual({ id: 'n', name: 'N' })
  })

  it('[LIFE-12] projecting returns the same objects for unchanged parts, and the same body when nothing changed', () => {
    const ydoc = liveDocument(SAMPLE)
    const cache = new ProjectionCache()
    expect(project(ydoc, SAMPLE, cache)).toBe(SAMPLE)
    ydoc.getMap('shapes:p').set('s2', rectangle('s2', { x: 5 }))
    const next = project(ydoc, SAMPLE, cache)
    expect(next.prose).toBe(SAMPLE.prose)
    expect(next.references).toBe(SAMPLE.references)
    expect(next.canvas.pages[1]).toBe(SAMPLE.canvas.pages[1])
    expect(next.canvas.pages[0]?.shapes[0]).toBe(SAMPLE.canvas.pages[0]?.shapes[0])
    ydoc.getMap('shapes:p').set('s2', rectangle('s2'))
    expect(written(project(ydoc, next, cache))).toEqual(written(SAMPLE))
    expect(project(ydoc, SAMPLE, cache)).toBe(SAMPLE)
  })

  it('[YDOC-5] [LIFE-9] projected over an empty body, a live document yields only its own content', () => {
    const ydoc = liveDocument(SAMPLE)
    const client = replica(ydoc)
    exchange(ydoc, client)
    expect(project(client, EMPTY_BODY).members).toEqual(
      new Map<string, unknown>([
        ['name', 'Plan'],
        ['tags', ['a']],
      ]),
    )
    expect(project(new Y.Doc(), EMPTY_BODY)).toBe(EMPTY_BODY)
  })

  it('[LIFE-9] projecting after an edit of one character costs a small share of a full projection', () => {
    const text = Array.from(
      { length: 1500 },
      (_, i) => `<p id="blk-${i}">Paragraph ${i} with <strong>some</strong> text in it.</p>`,
    ).join('')
    const shapes = Array.from({ length: 2000 }, (_, i) => rectangle(`shape-${i}`, { x: i, label: `Shape ${i}` }))
    const large = body({ pages: [canvasPage('p', ...shapes)], richTextPages: [prosePage('r', text)] })
    const ydoc = liveDocument(large)
    const cache = new ProjectionCache()
    let stored = project(ydoc, large, cache)
    const elapsed = (work: () => void): number => {
      const took = threadTime()
      work()
      return took()
    }
    const best = (work: () => void): number => Math.min(...Array.from({ length: 5 }, () => elapsed(work)))
    const small = Math.min(
      ...Array.from({ length: 30 }, (_, i) => {
        textOf(ydoc, 'r', 50 * i).insert(0, 'x')
        return elapsed(() => {
          stored = project(ydoc, stored, cache)
        })
      }),
    )
    const full = best(() => project(ydoc, large))
    expect(stored.prose.pages[0]?.content.match(/>xParagraph/g)).toHaveLength(30)
    expect(full / small).toBeGreaterThan(10)
  })

  it('[CONC-13] after one changed word the projection rebuilds one table row and still knows the live node of each row', () => {
    const cells = Array.from({ length: 400 }, (_, i) => `<tr><td><p id="blk-${i}">some words ${i}</p></td></tr>`).join('')
    const ydoc = liveDocument(body({ pages: [], richTextPages: [prosePage('r', `<table>${cells}</table>`)] }))
    const cache = new ProjectionCache()
    cache.attach(ydoc)
    const contentNow = () => project(ydoc, SAMPLE, cache).prose.pages.find(({ id }) => id === 'r')?.content as string
    const rowsNow = () => (contentTree(contentNow())[0] as ProseElement).content as readonly ProseElement[]
    const before = rowsNow()
    expect(before.map((row) => cache.prose.origins.has(row))).toEqual(before.map(() => true))
    const first = ydoc.getXmlFragment('prose:r').get(0) as Y.XmlElement
    const word = (((first.get(7) as Y.XmlElement).get(0) as Y.XmlElement).get(0) as Y.XmlElement).get(0) as Y.XmlText
    word.insert(0, 'x')
    const after = rowsNow()
    expect(after.flatMap((row, i) => (row === before[i] ? [] : [i]))).toEqual([7])
    expect(cache.prose.origins.get(after[7] as ProseElement)).toBe(first.get(7))
  })
})
