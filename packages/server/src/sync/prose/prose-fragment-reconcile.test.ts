import { describe, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { element, page, plain, reconcile, root, shown, text, tree, written } from '../testing/live-page.ts'
import { reconcileFragment } from './prose-fragment.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

describe('reconciling a live page with a new version', () => {
  it('[LIFE-14] [PROSE-50] a changed word in a large page is an update of a few dozen bytes', () => {
    const html = Array.from({ length: 1000 }, (_, i) => `<p id="blk-${i}">paragraph ${i} says something</p>`).join('')
    const doc = page(html)
    const update = reconcile(doc, html, html.replace('paragraph 500 says something', 'paragraph 500 tells something'))
    expect(shown(doc)).toContain('paragraph 500 tells something')
    expect(update.length).toBeLessThan(100)
  })

  it('[LIFE-14] an equal page writes nothing, even if both pages are empty in different forms', () => {
    for (const html of ['<p>a</p><hr>', '<p></p>']) expect(reconcile(page(html), html, html).length).toBeLessThanOrEqual(13)
    const doc = written((fragment) => fragment.insert(0, [element('paragraph')]))
    expect(reconcile(doc, '', '<p></p>').length).toBeLessThanOrEqual(13)
    expect(doc.getXmlFragment(root).length).toBe(1)
  })

  it('[PROSE-64] the first words of an empty page replace its empty paragraph', () => {
    const doc = written((fragment) => fragment.insert(0, [element('paragraph')]))
    reconcile(doc, '<p></p>', '<h1>a</h1>')
    expect(shown(doc)).toBe('<h1>a</h1>')
    const empty = new Y.Doc()
    reconcile(empty, '<p></p>', '<p>a</p>')
    expect(shown(empty)).toBe('<p>a</p>')
  })

  it('[LIFE-14] the unchanged beginning and end of a changed text block keep their live characters', () => {
    const doc = page('<p>one two <strong>three</strong> four</p>')
    const live = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    const ends = [Y.createRelativePositionFromTypeIndex(live, 2), Y.createRelativePositionFromTypeIndex(live, 16)]
    reconcile(doc, '<p>one two <strong>three</strong> four</p>', '<p>one 2 <strong>3</strong> four</p>')
    expect(shown(doc)).toBe('<p>one 2 <strong>3</strong> four</p>')
    expect(ends.map((end) => Y.createAbsolutePositionFromRelativePosition(end, doc)?.index)).toEqual([2, 10])
  })

  it('[LIFE-14] a change of marks only formats the live text', () => {
    const doc = page('<p>one two three</p>')
    const live = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    const inside = Y.createRelativePositionFromTypeIndex(live, 5)
    reconcile(doc, '<p>one two three</p>', '<p>one <strong>two</strong> <a href="#x">three</a></p>')
    expect(shown(doc)).toBe('<p>one <strong>two</strong> <a href="#x">three</a></p>')
    expect(Y.createAbsolutePositionFromRelativePosition(inside, doc)?.index).toBe(5)
    reconcile(doc, '<p>one <strong>two</strong> <a href="#x">three</a></p>', '<p>one two <a href="#y">three</a></p>')
    expect(shown(doc)).toBe('<p>one two <a href="#y">three</a></p>')
  })

  it('[LIFE-14] text typed meanwhile into a changed block stays, on both sides of the change', () => {
    const doc = page('<p>alpha beta gamma</p>')
    const live = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    live.insert(16, ' END')
    live.insert(0, 'START ')
    reconcile(doc, '<p>alpha beta gamma</p>', '<p>alpha BETA gamma</p>')
    expect(shown(doc)).toBe('<p>START alpha BETA gamma END</p>')
  })

  it('[LIFE-14] a block that a client deleted meanwhile stays deleted, and a block that a client added meanwhile stays', () => {
    const html = '<p id="blk-a">a</p><p id="blk-b">b</p><p id="blk-c">c</p>'
    const doc = page(html)
    doc.getXmlFragment(root).delete(1, 1)
    doc.getXmlFragment(root).insert(2, [element('paragraph', {}, plain('new'))])
    reconcile(doc, html, '<p id="blk-a">a1</p><p id="blk-b">b1</p><p id="blk-c">c1</p><hr>')
    expect(shown(doc)).toBe('<p id="blk-a">a1</p><p id="blk-c">c1</p><hr><p>new</p>')
  })

  it('[LIFE-14] a block that a client put in the place of a removed block is not removed', () => {
    const doc = page('<p>a</p><p>b</p><p>c</p>')
    doc.getXmlFragment(root).delete(1, 1)
    doc.getXmlFragment(root).insert(1, [element('paragraph', {}, plain('something else'))])
    reconcile(doc, '<p>a</p><p>b</p><p>c</p>', '<p>a</p><p>c</p>')
    expect(shown(doc)).toBe('<p>a</p><p>something else</p><p>c</p>')
  })

  it('[PROSE-43] moved blocks keep their id, and the blocks they pass keep their live nodes', () => {
    const html = '<p id="blk-a">a</p><p id="blk-b">b</p><p id="blk-c">c</p>'
    const doc = page(html)
    const nodes = doc.getXmlFragment(root).toArray()
    reconcile(doc, html, '<p id="blk-c">c</p><p id="blk-a">a</p><p id="blk-b">b</p>')
    expect(shown(doc)).toBe('<p id="blk-c">c</p><p id="blk-a">a</p><p id="blk-b">b</p>')
    expect(
      doc
        .getXmlFragment(root)
        .toArray()
        .slice(1)
        .every((node, i) => node === nodes[i]),
    ).toBe(true)
  })

  it('[CONC-13] removing and inserting many blocks does not walk the page once per block', () => {
    const paragraphs = (write: (i: number) => string) => Array.from({ length: 600 }, (_, i) => write(i)).join('')
    const paragraph = (i: number) => `<p id="blk-${i}">${i}</p>`
    const before = paragraphs(paragraph)
    const doc = page(before)
    const walks = [vi.spyOn(Y.XmlFragment.prototype, 'delete'), vi.spyOn(Y.XmlFragment.prototype, 'insert')]
    const after = paragraphs((i) => (i % 2 === 0 ? '' : i % 3 === 0 ? `${paragraph(i)}<hr>` : paragraph(i)))
    reconcile(doc, before, after)
    const ofPage = walks.flatMap((walk) => walk.mock.contexts).filter((of) => of === doc.getXmlFragment(root))
    for (const walk of walks) walk.mockRestore()
    expect(ofPage).toHaveLength(0)
    expect(shown(doc)).toBe(after)
    expect(doc.getXmlFragment(root)).toHaveLength(400)
  })

  it('[PROSE-50] blocks without id keep their live nodes when a block named as moved passes them', () => {
    const table = '<table><tr><td><p id="blk-cell">c</p></td></tr></table>'
    const others = ['<hr>', '<img src="https://example.org/a.png">', '<hr>', '<img src="https://example.org/b.png">']
    const before = [table, ...others].join('')
    for (let place = 0; place <= others.length; place++) {
      const doc = page(before)
      const fragment = doc.getXmlFragment(root)
      const [, ...nodes] = fragment.toArray()
      const after = others.toSpliced(place, 0, table).join('')
      doc.transact(() => reconcileFragment(fragment, tree(before), tree(after), undefined, new Set(['blk-cell'])))
      expect(shown(doc)).toBe(after)
      expect(
        fragment
          .toArray()
          .toSpliced(place, 1)
          .every((node, i) => node === nodes[i]),
        `to ${place}`,
      ).toBe(true)
    }
  })

  it('[LIFE-14] changing one cell or list item keeps the live nodes of the other cells and items', () => {
    const html = '<ul><li><p>a</p></li><li><p>b</p></li></ul><table><tr><td><p>c</p></td><td><p>d</p></td></tr></table>'
    const doc = page(html)
    const cell = (column: number) => ((doc.getXmlFragment(root).get(1) as Y.XmlElement).get(0) as Y.XmlElement).get(column)
    const other = cell(0)
    const first = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0)
    reconcile(doc, html, html.replace('>d<', '>D<').replace('>b<', '>B<'))
    expect(shown(doc)).toBe(html.replace('>d<', '>D<').replace('>b<', '>B<'))
    expect(cell(0)).toBe(other)
    expect((doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0)).toBe(first)
  })

  it('[PROSE-7] a line break inserted into a text and removed again leaves one Y.XmlText', () => {
    const doc = page('<p>one two</p>')
    reconcile(doc, '<p>one two</p>', '<p>one <br>two</p>')
    expect(shown(doc)).toBe('<p>one <br>two</p>')
    reconcile(doc, '<p>one <br>two</p>', '<p>one two</p>')
    expect(shown(doc)).toBe('<p>one two</p>')
    expect((doc.getXmlFragment(root).get(0) as Y.XmlElement).length).toBe(1)
  })

  it('[PROSE-7] a changed attribute is set on the same live node; a removed attribute gets its default or disappears', () => {
    const before =
      '<h2 id="blk-1" style="text-align: center">a</h2><ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>x</p></li></ul>'
    const after = '<h1 id="blk-1">a</h1><ul data-type="taskList"><li data-type="taskItem" data-checked="false"><p>x</p></li></ul>'
    const doc = page(before)
    const heading = doc.getXmlFragment(root).get(0) as Y.XmlElement
    reconcile(doc, before, after)
    expect(shown(doc)).toBe(after)
    expect(doc.getXmlFragment(root).get(0)).toBe(heading)
    expect(heading.getAttributes()).toEqual({ level: 1, id: 'blk-1' })
  })

  it('[YDOC-13] a list of two items is removed when a client deletes one item and an edit the other item', () => {
    const html = '<p>x</p><ul><li><p>a</p></li><li><p>b</p></li></ul>'
    const doc = page(html)
    ;(doc.getXmlFragment(root).get(1) as Y.XmlElement).delete(0, 1)
    reconcile(doc, html, '<p>x</p><ul><li><p>a</p></li></ul>')
    expect(doc.getXmlFragment(root).length).toBe(1)
    expect(shown(doc)).toBe('<p>x</p>')
  })

  it('[PROSE-24] a block outside the content model is repaired when it changes, but not when another block changes', () => {
    const broken = (fragment: Y.XmlFragment) =>
      fragment.insert(0, [element('section', {}, element('paragraph', {}, plain('a'))), element('paragraph', {}, plain('b'))])
    const other = written(broken)
    reconcile(other, '<p>a</p><p>b</p>', '<p>a</p><p>B</p>')
    expect((other.getXmlFragment(root).get(0) as Y.XmlElement).nodeName).toBe('section')
    const itself = written(broken)
    reconcile(itself, '<p>a</p><p>b</p>', '<p>A</p><p>b</p>')
    expect(shown(itself)).toBe('<p>A</p><p>b</p>')
    expect((itself.getXmlFragment(root).get(0) as Y.XmlElement).nodeName).toBe('paragraph')
  })

  it('[PROSE-8] unknown marks stay on text that does not change', () => {
    const doc = written((fragment) =>
      fragment.insert(0, [
        element(
          'paragraph',
          {},
          text({ insert: 'a ' }, { insert: 'noted', attributes: { comment: { id: 1 } } }, { insert: ' z' }),
        ),
      ]),
    )
    reconcile(doc, '<p>a noted z</p>', '<p>a noted Z</p>')
    const live = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    expect(live.toDelta()).toEqual([{ insert: 'a ' }, { insert: 'noted', attributes: { comment: { id: 1 } } }, { insert: ' Z' }])
  })

  it('[LIFE-14] reconciling a changed text never splits a surrogate pair', () => {
    const doc = page('<p>a😀b</p>')
    reconcile(doc, '<p>a😀b</p>', '<p>a😁b</p>')
    expect(shown(doc)).toBe('<p>a😁b</p>')
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc))
    expect(shown(copy)).toBe('<p>a😁b</p>')
  })

  it('[PROSE-54] blocks without ids at the unchanged beginning and end of a page keep their nodes', () => {
    const before = '<p>a</p><p>b</p><p>c</p><p>d</p>'
    const doc = page(before)
    const nodes = doc.getXmlFragment(root).toArray()
    reconcile(doc, before, '<p>a</p><h2>new</h2><p>other</p><p>d</p>')
    const now = doc.getXmlFragment(root).toArray()
    expect(shown(doc)).toBe('<p>a</p><h2>new</h2><p>other</p><p>d</p>')
    expect([now[0] === nodes[0], now[3] === nodes[3]]).toEqual([true, true])
  })

  it('[LIFE-14] content that an editor types live and also saves with the whole page appears once', () => {
    const doc = page('<p id="blk-a">one</p>')
    const now = '<p id="blk-a">one two three</p><p id="blk-b">new</p><hr><p>more text here</p>'
    reconcile(doc, '<p id="blk-a">one</p>', now)
    reconcile(doc, '<p id="blk-a">one</p>', now)
    expect(shown(doc)).toBe(now)
    reconcile(doc, '<p id="blk-a">one</p>', '<p id="blk-a">one two</p><p id="blk-b">ne</p><hr><p>more text he</p>')
    expect(shown(doc)).toBe(now)
    reconcile(
      doc,
      '<p id="blk-a">one</p>',
      '<p id="blk-a">one two three four</p><p id="blk-b">news</p><hr><p>more text here!</p>',
    )
    expect(shown(doc)).toBe('<p id="blk-a">one two three four</p><p id="blk-b">news</p><hr><p>more text here!</p>')
  })

  it('[LIFE-14] a rewritten sentence is complete even when another client deletes the old sentence at the same time', () => {
    const doc = page('<p id="blk-a">The old words of this line.</p>')
    const other = new Y.Doc()
    Y.applyUpdate(other, Y.encodeStateAsUpdate(doc))
    const theirs = (other.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    theirs.delete(0, theirs.length)
    reconcile(doc, '<p id="blk-a">The old words of this line.</p>', '<p id="blk-a">Nobody knows what stood here!</p>')
    expect(shown(doc)).toBe('<p id="blk-a">Nobody knows what stood here!</p>')
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(other))
    expect(shown(doc)).toBe('<p id="blk-a">Nobody knows what stood here!</p>')
  })

  it('[CONC-13] rewriting a text of 16,000 formatted words walks the text once, not once per word', {
    timeout: patience(60_000),
  }, () => {
    const words = (count: number, mark: string) => `<p>${`word <${mark}>more</${mark}> `.repeat(count).trimEnd()}</p>`
    const [small, large] = [words(50, 'em'), words(16_000, 'strong')]
    const doc = page(small)
    const took = threadTime()
    reconcile(doc, small, large)
    reconcile(doc, large, small)
    // An implementation with one look-up per word takes half a minute.
    expect(took()).toBeLessThan(8_000)
    expect(shown(doc)).toBe(small)
  })
})
