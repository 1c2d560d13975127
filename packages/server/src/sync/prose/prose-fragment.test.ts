import { serialiseHtml } from '@docrelay/model/prose/html'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { readFragment } from './prose-fragment.ts'
import { createProseCache, forgetTouched } from './prose-fragment-read.ts'
import { element, page, plain, root, shown, text, written } from '../testing/live-page.ts'

describe('writing a page to a live fragment', () => {
  it('[PROSE-7] attributes are written with their Yjs types, without null values and with defaults other than null', () => {
    const doc = page(
      '<h2 id="blk-1">a</h2><h1>b</h1><ol><li><p>x</p></li></ol><ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>x</p></li></ul>' +
        '<table><tr><td colspan="2" colwidth="100,120"><p>x</p></td></tr></table><img src="a" width="640" height="50%">',
    )
    const attributes: unknown[] = []
    for (const node of doc.getXmlFragment(root).createTreeWalker(() => true)) {
      if (node instanceof Y.XmlElement) attributes.push([node.nodeName, node.getAttributes()])
    }
    expect(attributes).toEqual([
      ['heading', { level: 2, id: 'blk-1' }],
      ['heading', { level: 1 }],
      ['orderedList', { start: 1 }],
      ['listItem', {}],
      ['paragraph', {}],
      ['taskList', {}],
      ['taskItem', { checked: true }],
      ['paragraph', {}],
      ['table', {}],
      ['tableRow', {}],
      ['tableCell', { colspan: 2, rowspan: 1, colwidth: [100, 120] }],
      ['paragraph', {}],
      ['image', { src: 'a', width: 640, height: '50%' }],
    ])
  })

  it('[PROSE-7] [PROSE-2] every attribute of every node has the Yjs type of the table', () => {
    const hash = 'a'.repeat(64)
    const html =
      '<p id="i" style="text-align: right">x</p><h4 id="i" style="text-align: left">x</h4><pre id="i"><code class="language-js">x</code></pre>' +
      '<ol start="7" type="a"><li><p></p></li></ol><div data-callout data-variant="tip"><p></p></div>' +
      '<ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p></p></li></ul>' +
      '<div data-gallery data-layout="row"><div class="gallery-items"><img src="a"></div></div>' +
      '<table><tr><th colspan="2" colwidth="1,2.5" scope="col" style="background-color: red; text-align: left"><p></p></th></tr>' +
      '<tr><td rowspan="2" colwidth="9" style="background-color: red; text-align: left"><p></p></td><td><p></p></td></tr><tr><td><p></p></td></tr></table>' +
      '<img src="a" alt="b" title="c" width="12.5" height="30px" data-float="left"><div data-math-block data-latex=""></div>' +
      '<div data-bibliography data-bib-html="&lt;p&gt;" data-scope="all"></div>' +
      '<div data-type="embedded-group" data-group-id="g" data-group-name="n"></div>' +
      '<p><span data-math-inline data-latex="x"></span><span data-citation data-ref-id="r" data-locator="l" data-label="1">1</span>' +
      '<span data-field data-name="n" data-label="2">2</span>' +
      `<span data-file-ref data-blob-ref="blob://${hash}" data-file-name="f" data-mime-type="m" data-file-size="3">f</span></p>`
    const doc = page(html)
    const types = new Map<string, Set<string>>()
    for (const node of doc.getXmlFragment(root).createTreeWalker(() => true)) {
      if (!(node instanceof Y.XmlElement)) continue
      for (const [name, value] of Object.entries(node.getAttributes() as object)) {
        const known = types.get(node.nodeName) ?? new Set<string>()
        types.set(node.nodeName, known.add(`${name} ${Array.isArray(value) ? 'array' : typeof value}`))
      }
    }
    expect(Object.fromEntries([...types].map(([name, found]) => [name, [...found].sort().join(', ')]))).toEqual({
      paragraph: 'id string, textAlign string',
      heading: 'id string, level number, textAlign string',
      codeBlock: 'id string, language string',
      orderedList: 'start number, type string',
      callout: 'variant string',
      taskItem: 'checked boolean',
      gallery: 'layout string',
      tableHeader: 'align string, backgroundColor string, colspan number, colwidth array, rowspan number, scope string',
      tableCell: 'align string, backgroundColor string, colspan number, colwidth array, rowspan number',
      image: 'alt string, float string, height string, src string, title string, width number',
      mathBlock: 'latex string',
      bibliography: 'bibHtml string, scope string',
      embeddedGroup: 'groupId string, groupName string',
      mathInline: 'latex string',
      citationInline: 'label string, locator string, refId string',
      fieldRef: 'label string, name string',
      fileRef: 'blobRef string, fileName string, fileSize string, mimeType string',
    })
    expect(shown(doc)).toBe(html)
  })

  it('[PROSE-7] text between two atoms is one Y.XmlText, and a mark is a formatting key with its attributes', () => {
    const doc = page('<p>a <strong>b</strong><a href="https://x"><mark>c</mark></a><br>d</p>')
    const [paragraph] = doc.getXmlFragment(root).toArray() as Y.XmlElement[]
    const children = paragraph?.toArray() ?? []
    expect(children.map((child) => (child instanceof Y.XmlText ? 'text' : (child as Y.XmlElement).nodeName))).toEqual([
      'text',
      'hardBreak',
      'text',
    ])
    expect((children[0] as Y.XmlText).toDelta()).toEqual([
      { insert: 'a ' },
      { insert: 'b', attributes: { bold: {} } },
      { insert: 'c', attributes: { link: { href: 'https://x' }, highlight: {} } },
    ])
  })

  it('[PROSE-9] an empty page leaves the fragment empty, and a page with only an atom or an embedded group does not', () => {
    expect(page('<p></p>').getXmlFragment(root).length).toBe(0)
    for (const html of [
      '<div data-type="embedded-group" data-group-id="g"></div>',
      '<p><span data-field data-name="n"></span></p>',
      '<p id="blk-1"></p>',
    ]) {
      expect(page(html).getXmlFragment(root).length).toBe(1)
      expect(shown(page(html))).toBe(html)
    }
    expect(readFragment(new Y.Doc().getXmlFragment(root))).toEqual([])
    expect(shown(new Y.Doc())).toBe('<p></p>')
  })
})

describe('reading a live fragment', () => {
  it('[PROSE-8] reading accepts numbers and booleans as strings and stored defaults, and drops invalid values', () => {
    const doc = written((fragment) =>
      fragment.insert(0, [
        element('heading', { level: '3', id: 'x', textAlign: 'middle' }, plain('a')),
        element('heading', { level: 1, textAlign: null }, plain('b')),
        element('taskList', {}, element('taskItem', { checked: 'true' }, element('paragraph', {}, plain('c')))),
        element('orderedList', { start: '4', type: 'x' }, element('listItem', {}, element('paragraph'))),
        element('callout', { variant: 'note' }, element('paragraph')),
        element('image', { src: 'a', width: '120', height: '3em', extra: 'x' }),
      ]),
    )
    expect(shown(doc)).toBe(
      '<h3 id="x">a</h3><h1>b</h1><ul data-type="taskList"><li data-type="taskItem" data-checked="true"><p>c</p></li></ul>' +
        '<ol start="4"><li><p></p></li></ol><div data-callout data-variant="note"><p></p></div><img src="a" width="120">',
    )
  })

  it('[PROSE-8] reading accepts true for a mark without attributes, hashed keys, extra mark attributes and unknown marks', () => {
    const doc = written((fragment) =>
      fragment.insert(0, [
        element(
          'paragraph',
          {},
          text(
            { insert: 'a', attributes: { bold: true } },
            { insert: 'b', attributes: { 'highlight--AbC123+/': { color: 'red' } } },
            { insert: 'c', attributes: { link: { href: 'https://x', target: '_blank' }, comment: { id: 1 } } },
            { insert: 'd', attributes: { link: { href: 'javascript:x' }, textStyle: { color: null } } },
            { insert: 'e', attributes: { highlight: { color: null } } },
          ),
        ),
      ]),
    )
    expect(shown(doc)).toBe(
      '<p><strong>a</strong><mark style="background-color: red">b</mark><a href="https://x">c</a>d<mark>e</mark></p>',
    )
  })

  it('[PROSE-8] reading passes through unknown elements, joins adjacent texts, and writes nothing', () => {
    const doc = written((fragment) =>
      fragment.insert(0, [
        element('section', {}, element('paragraph', {}, plain('a'), plain('b')), plain('c')),
        plain('d'),
        element('paragraph', {}, element('unknown', {}, plain('e'), element('hardBreak')), plain('')),
      ]),
    )
    const state = Y.encodeStateAsUpdate(doc)
    expect(shown(doc)).toBe('<p>ab</p><p>cd</p><p>e<br></p>')
    expect(Y.encodeStateAsUpdate(doc)).toEqual(state)
  })

  it('[PROSE-24] content outside the model is read repaired and stays unchanged in the live document', () => {
    const doc = written((fragment) =>
      fragment.insert(0, [
        element('blockquote'),
        element('bulletList', {}, element('paragraph', {}, plain('a'))),
        element('table', {}, element('tableRow', {}, element('tableCell'), element('tableCell')), element('tableRow')),
        element('heading', { level: 12 }, plain('h')),
        element('image', { src: 'javascript:x' }),
        element('listItem', {}, element('paragraph', {}, plain('b'))),
      ]),
    )
    const state = Y.encodeStateAsUpdate(doc)
    expect(shown(doc)).toBe(
      '<blockquote><p></p></blockquote><ul><li><p>a</p></li></ul><table><tr><td><p></p></td><td><p></p></td></tr><tr><td><p></p></td><td><p></p></td></tr></table>' +
        '<h6>h</h6><ul><li><p>b</p></li></ul>',
    )
    expect(Y.encodeStateAsUpdate(doc)).toEqual(state)
  })

  it('[PROSE-H20] nesting of any depth is read without a stack overflow', () => {
    const doc = new Y.Doc()
    let parent: Y.XmlFragment = doc.getXmlFragment(root)
    for (let i = 0; i < 2000; i++) {
      const child = new Y.XmlElement('blockquote')
      parent.insert(0, [child])
      parent = child
    }
    parent.insert(0, [element('paragraph', {}, plain('deep'))])
    const html = shown(doc)
    expect(html).toContain('<p>deep</p>')
    expect(html.split('<blockquote>')).toHaveLength(64)
  })

  it('[PROSE-24] a long link that formatting splits into many runs is shown on the first runs only, and no text is lost', () => {
    const doc = written((fragment) => fragment.insert(0, [element('paragraph', {}, plain('ab'.repeat(5000)))]))
    const line = (doc.getXmlFragment(root).get(0) as Y.XmlElement).get(0) as Y.XmlText
    doc.transact(() => {
      line.format(0, line.length, { link: { href: 'u'.repeat(200_000) } })
      for (let i = 0; i < 2000; i++) line.format(i * 2, 1, { bold: {} })
    })
    const html = shown(doc)
    expect(html.match(/<a /g)).toHaveLength(41)
    expect(html.replace(/<[^>]*>/g, '')).toBe('ab'.repeat(5000))
  })

  it('[PROSE-8] a cached reading returns the same objects for unchanged blocks', () => {
    const doc = page('<p>a</p><blockquote><p>b</p></blockquote><p>c</p>')
    const fragment = doc.getXmlFragment(root)
    const cache = createProseCache()
    doc.on('afterTransaction', (transaction: Y.Transaction) => forgetTouched(cache, transaction))
    const first = readFragment(fragment, cache)
    const inner = ((fragment.get(1) as Y.XmlElement).get(0) as Y.XmlElement).get(0) as Y.XmlText
    inner.insert(1, '!')
    const second = readFragment(fragment, cache)
    expect(serialiseHtml(second)).toBe('<p>a</p><blockquote><p>b!</p></blockquote><p>c</p>')
    expect([second[0] === first[0], second[1] === first[1], second[2] === first[2]]).toEqual([true, false, true])
  })
})

describe('live tables that lack many cells', () => {
  /** Returns a table of 100 empty rows above one cell of `width` columns. */
  const ragged = (width: number) =>
    element(
      'table',
      {},
      ...Array.from({ length: 100 }, () => element('tableRow')),
      element('tableRow', {}, element('tableCell', { colspan: width }, element('paragraph', {}, plain('kept')))),
    )
  const cellsOf = (html: string) => html.split('<td').length - 1

  it('[PROSE-24] [PROSE-21] missing cells of live tables are completed up to the same limit as in HTML, with a cache and without one', () => {
    const doc = written((fragment) =>
      fragment.insert(
        0,
        Array.from({ length: 40 }, () => ragged(190)),
      ),
    )
    const fragment = doc.getXmlFragment(root)
    const html = shown(doc)
    expect(cellsOf(html)).toBe(2 * (19_000 + 1))
    expect(html.split('kept')).toHaveLength(41)

    const cache = createProseCache()
    doc.on('afterTransaction', (transaction: Y.Transaction) => forgetTouched(cache, transaction))
    const read = () => serialiseHtml(readFragment(fragment, cache))
    expect(read()).toBe(html)
    const first = readFragment(fragment, cache)
    expect(readFragment(fragment, cache).every((block, index) => block === first[index])).toBe(true)
    fragment.delete(0, 1)
    expect(read()).toBe(shown(doc))
    fragment.insert(5, [ragged(110)])
    expect(cellsOf(shown(doc))).toBe(2 * (19_000 + 1) + 11_000 + 1)
    expect(read()).toBe(shown(doc))
  })
})
