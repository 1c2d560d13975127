import { anyCharacter } from '@docrelay/model/testing/any-character'
import { markdownSoup } from '@docrelay/model/prose/testing/arbitrary-markdown'
import { anyTree, tagSoup } from '@docrelay/model/prose/testing/arbitrary'
import { dangers } from '@docrelay/model/prose/testing/dangers'
import { xssVectors } from '@docrelay/model/prose/testing/xss-vectors'
import { serialiseHtml } from '@docrelay/model/prose/html'
import { proseSchema } from '@docrelay/prosemirror/prose-schema'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { yXmlFragmentToProseMirrorRootNode } from 'y-prosemirror'
import * as Y from 'yjs'
import { openEditor } from '../../sync/testing/editor.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>
type Call = readonly [tool: string, args: Members]

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const PAGE =
  '<h1 id="blk-head">Head</h1><p id="blk-p">Text <strong>bold</strong></p><ul><li><p id="blk-i">Item</p></li></ul>' +
  '<table><tr><td><p id="blk-cell">a</p></td><td><p>b</p></td></tr><tr><td><p>c</p></td><td><p>d</p></td></tr></table>' +
  '<p>{{client}}</p>'

const LIFE = ['cold', 'resident'] as const

/** Puts a document, and opens it as a person when it is to be resident. */
async function opened(docId: string, life: (typeof LIFE)[number]): Promise<Disposable> {
  await relay.rest({ sub: 'ann' }).putDocument(docId, {
    name: 'T',
    pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }],
    richTextPages: [
      { id: 'one', name: 'One', order: 0, content: PAGE },
      { id: 'two', name: 'Two', order: 1, content: '<p id="blk-other">Other</p>' },
    ],
    fields: { fields: { client: { name: 'client', value: 'Ada' } }, order: ['client'] },
  })
  if (life === 'cold') return { [Symbol.dispose]() {} }
  const person = relay.sync(docId, { sub: 'ann', role: 'member' })
  await saved(person)
  return { [Symbol.dispose]: () => person.destroy() }
}

const pagesOf = (doc: Y.Doc): readonly string[] => [...doc.share.keys()].filter((name) => name.startsWith('prose:'))

/** Returns the Y.Doc that a client gets when it opens the document now. */
async function received(docId: string): Promise<Y.Doc> {
  const person = relay.sync(docId, { sub: 'ann', role: 'member' })
  await saved(person)
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(person.doc))
  for (const page of pagesOf(person.doc)) doc.getXmlFragment(page)
  person.destroy()
  return doc
}

/** Checks that the real editor plugin changes nothing. It removes elements from a page that its schema does not know. [PROSE-2] */
function expectUntouched(doc: Y.Doc, what: string): void {
  const pages = pagesOf(doc)
  expect(pages.length, what).toBeGreaterThan(0)
  for (const page of pages) {
    const fragment = doc.getXmlFragment(page)
    const vector = Y.encodeStateVector(doc)
    const update = Y.encodeStateAsUpdate(doc)
    const content = fragment.toString()
    const editor = openEditor(fragment)
    editor.state.doc.check()
    editor.close()
    expect(Y.encodeStateVector(doc), what).toEqual(vector)
    expect(Y.encodeStateAsUpdate(doc), what).toEqual(update)
    expect(fragment.toString(), what).toBe(content)
    expect(editor.state.doc.childCount, what).toBe(Math.max(fragment.length, 1))
    expect(yXmlFragmentToProseMirrorRootNode(fragment, proseSchema).childCount, what).toBe(fragment.length)
  }
}

const at = { pageId: 'one' }
const EXAMPLES: readonly Call[] = [
  ['set_prose', { ...at, id: 'blk-p', content: 'New *text* with ==marks==, `code`, [a link](https://example.org) and ~~none~~' }],
  ['insert_block', { ...at, content: '- [ ] a\n- [x] b\n\n1. one\n2. two', anchor: 'Item', side: 'before' }],
  ['insert_block', { ...at, content: '> quoted\n\n```js\nlet a = 1\n```\n\n---\n\n$$x^2$$', id: 'blk-head' }],
  [
    'insert_block',
    {
      ...at,
      content: '<figure><img src="https://example.org/a.png"><figcaption>C</figcaption></figure>',
      format: 'html',
      anchor: 'Head',
    },
  ],
  ['insert_block', { ...at, content: '{{client}} and {{unknown}} and {{date}}', id: 'blk-p' }],
  ['move_block', { ...at, anchor: 'Head', targetId: 'blk-p', side: 'after' }],
  ['set_prose', { ...at, id: 'blk-cell', content: 'In a *cell*' }],
  ['edit_table', { ...at, op: 'addColumn', col: 1 }],
  ['edit_table', { ...at, op: 'addRow', row: 1 }],
  ['edit_table', { ...at, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 }],
  ['edit_table', { ...at, op: 'setColumnWidth', col: 1, width: 120 }],
  ['insert_section', { ...at, level: 2, title: 'Section', body: 'Body of it.' }],
  ['restructure_outline', { ...at, op: 'move', index: 1, toIndex: 0 }],
  ['restructure_outline', { ...at, op: 'demote', index: 0 }],
  [
    'set_fields',
    {
      fields: [
        { name: 'client', value: 'Bob' },
        { name: 'new', value: 'x' },
      ],
    },
  ],
  ['add_prose_page', { content: '# More\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n{{client}}' }],
  ['delete_block', { ...at, anchor: 'Body of it.' }],
  ['delete_prose_page', { pageId: 'two' }],
]

const target = fc.constantFrom<Members>(
  {},
  { id: 'blk-head' },
  { id: 'blk-p' },
  { id: 'blk-i' },
  { id: 'blk-cell' },
  { anchor: 'Item' },
)
const content: fc.Arbitrary<Members> = fc.oneof(
  anyTree.map((tree) => ({ content: serialiseHtml(tree), format: 'html' })),
  tagSoup.map((html) => ({ content: html, format: 'html' })),
  markdownSoup.map((markdown) => ({ content: markdown })),
  fc.constantFrom(...xssVectors).map((html) => ({ content: html })),
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => ({ content: text })),
)
const index = fc.nat(3)
const tableCall: fc.Arbitrary<Call> = fc
  .oneof(
    fc.record({ op: fc.constantFrom('addRow', 'deleteRow'), row: index }),
    fc.record({ op: fc.constantFrom('addColumn', 'deleteColumn'), col: index }),
    fc.record({ op: fc.constant('mergeCells'), fromRow: index, fromCol: index, toRow: index, toCol: index }),
    fc.record({ op: fc.constant('splitCell'), row: index, col: index }),
  )
  .map((args): Call => ['edit_table', { ...at, ...args }])
const anyCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(target, content).map(([to, given]): Call => ['set_prose', { ...at, ...to, ...given }]) },
  { weight: 3, arbitrary: fc.tuple(target, content).map(([to, given]): Call => ['insert_block', { ...at, ...to, ...given }]) },
  content.map((given): Call => ['add_prose_page', given]),
  fc
    .tuple(content, fc.string({ unit: anyCharacter, maxLength: 20 }), fc.integer({ min: -1, max: 9 }))
    .map(([{ content: body, ...format }, title, level]): Call => ['insert_section', { ...at, ...format, body, title, level }]),
  tableCall,
  target.map((to): Call => ['delete_block', { ...at, ...to }]),
  fc.tuple(fc.string({ unit: anyCharacter, maxLength: 12 }), fc.string({ unit: anyCharacter, maxLength: 12 })).map(
    ([name, value]): Call => [
      'set_fields',
      {
        fields: [
          { name, value },
          { name: 'client', value },
        ],
      },
    ],
  ),
)

describe('editors that open documents written by tools', () => {
  it('[PROSE-2] the check of opened documents notices an unknown element, which an editor removes', () => {
    const doc = new Y.Doc()
    doc.getXmlFragment('prose:one').insert(0, [new Y.XmlElement('paragraph'), new Y.XmlElement('blink')])
    expect(() => expectUntouched(doc, 'an unknown element')).toThrow()
  })

  for (const life of LIFE) {
    it(`[PROSE-2] [YDOC-13] an editor that opens a document changes nothing after each example call, ${life}`, async () => {
      const docId = `examples-${life}`
      using _open = await opened(docId, life)
      for (const [tool, args] of EXAMPLES) {
        const { isError, result } = await ann.answer(tool, { docId, ...args })
        expect(isError, `${tool}: ${JSON.stringify(result)}`).toBe(false)
        if (life === 'resident') expectUntouched(await received(docId), tool)
      }
      expectUntouched(await received(docId), 'all examples')
    })

    it(`[PROSE-2] [YDOC-13] an editor that opens a document changes nothing after calls of all kinds, ${life}`, async () => {
      const stories = fc.sample(fc.array(anyCall, { minLength: 3, maxLength: 8 }), { seed: 21, numRuns: 25 })
      let written = 0
      for (const [i, story] of stories.entries()) {
        const docId = `fuzz-${life}-${i}`
        using _open = await opened(docId, life)
        for (const [tool, args] of story) written += (await ann.answer(tool, { docId, ...args })).isError ? 0 : 1
        expectUntouched(await received(docId), JSON.stringify(story))
      }
      expect(written).toBeGreaterThan(60)
    })
  }

  for (const life of LIFE) {
    it(`[PROSE-2] [TOOL-6] a document contains no executable content after inserting known XSS vectors, ${life}`, async () => {
      const docId = `hostile-${life}`
      using _open = await opened(docId, life)
      for (const html of xssVectors)
        await ann.answer('insert_block', { docId, ...at, content: html, format: 'html', id: 'blk-p' })
      const doc = await received(docId)
      expectUntouched(doc, 'hostile content')
      const { page, nextCursor } = await ann.call('get_prose', { docId, ...at })
      expect(nextCursor).toBeUndefined()
      expect(dangers((page as { readonly content: string }).content)).toEqual([])
    })

    it(`[TOOL-6] [PROSE-21] calls that do not fit their schema leave the document unchanged, ${life}`, async () => {
      const docId = `refused-${life}`
      using _open = await opened(docId, life)
      const before = await received(docId)
      const misfits: readonly Call[] = [
        ['set_prose', { ...at }],
        ['set_prose', { ...at, content: 7 }],
        ['set_prose', { ...at, content: { type: 'doc' } }],
        ['set_prose', { ...at, content: 'x', format: 'prosemirror' }],
        ['set_prose', { ...at, content: 'x', __proto__x: {} }],
        ['set_prose', { ...at, content: 'x'.repeat(1_048_577) }],
        ['insert_block', { ...at, content: 'x', side: 'inside' }],
        ['insert_block', { ...at, content: ['x'] }],
        ['insert_section', { ...at, level: 'two', title: 'x' }],
        ['edit_table', { ...at, op: 'explode' }],
        ['edit_table', { ...at, op: 'addRow', row: -1 }],
        ['add_prose_page', { content: null, extra: 1 }],
        ['set_fields', { fields: [{ name: 'client', value: 3 }] }],
        ['set_fields', { fields: [] }],
        ['set_prose', { pageId: 'never', content: 'x' }],
      ]
      for (const [tool, args] of misfits) await ann.refused(tool, { docId, ...args })
      const after = await received(docId)
      expect(Y.encodeStateVector(after)).toEqual(Y.encodeStateVector(before))
      expect(Y.encodeStateAsUpdate(after)).toEqual(Y.encodeStateAsUpdate(before))
    })
  }
})
