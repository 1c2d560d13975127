import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { DocumentBody } from './body.ts'
import type { Json } from './json.ts'
import { jsonBytes, MAX_RESULT_BYTES } from './paging.ts'
import { readDocument, readNames, type ReadArgs, type ReadFacts, type ReadName } from './reads.ts'
import { bodyOf } from './testing/arbitrary.ts'
import { body, canvasPage, group, prosePage, rectangle } from './testing/builders.ts'
import { threadTime } from './testing/thread-time.ts'

const facts: ReadFacts = {
  id: 'doc-1',
  serverVersion: 7,
  source: 'relay',
  modifiedAt: 1234,
  access: 'edit',
  collectionId: null,
}

function read<N extends ReadName>(name: N, given: DocumentBody, args: ReadArgs[N], more: Partial<ReadFacts> = {}) {
  const answer = readDocument(name, given, { ...facts, ...more }, args)
  if (answer.kind === 'refused') return { code: answer.code, facts: answer.facts }
  const { serverVersion, source, ...members } = answer.result
  expect([serverVersion, source]).toEqual([7, 'relay'])
  return members
}

const hash = 'ab'.repeat(32)
const text =
  '<p id="intro">Intro</p><h1 id="one">One</h1><p id="a">a</p><ul><li><p id="i">item</p></li></ul><h2 id="two">Two</h2>'

const given = body({
  name: 'Plan',
  lockedBy: 'alice',
  pages: [canvasPage('c1', rectangle('m'), rectangle('r'), group('g', 'm')), canvasPage('c2')],
  richTextPages: [{ ...prosePage('t1', text), order: 3 }, prosePage('t2', '')],
  fields: { fields: { x: { name: 'x', value: '1' } }, order: ['x'] },
  references: { items: { k: { id: 'k', type: 'book' } }, itemOrder: ['k'], style: 'mla' },
})

describe('read tools of one document', () => {
  it('[TOOL-get_document] get_document describes the pages and counts of the document', () => {
    expect(read('get_document', given, {})).toEqual({
      id: 'doc-1',
      name: 'Plan',
      modifiedAt: 1234,
      lockedBy: 'alice',
      access: 'edit',
      collectionId: null,
      pages: [
        { id: 'c1', name: 'c1', shapeCount: 3 },
        { id: 'c2', name: 'c2', shapeCount: 0 },
      ],
      prosePages: [
        { id: 't1', name: 't1', order: 3 },
        { id: 't2', name: 't2', order: 1 },
      ],
      fields: [{ name: 'x', value: '1' }],
      referenceCount: 1,
    })
    expect(read('get_document', body({}), {})).toMatchObject({ name: 'Untitled Document', lockedBy: null, referenceCount: 0 })
  })

  it('[TOOL-get_page] get_page returns the shapes bottom first, page by page', () => {
    const ids = (answer: object) => ('shapes' in answer ? (answer.shapes as { id: string }[]).map(({ id }) => id) : answer)
    expect(ids(read('get_page', given, { pageId: 'c1' }))).toEqual(['r', 'g', 'm'])
    const first = read('get_page', given, { pageId: 'c1', limit: 2 })
    expect(first).toMatchObject({ pageId: 'c1', shapeCount: 3 })
    expect(ids(first)).toEqual(['r', 'g'])
    const { nextCursor } = first as { nextCursor: string }
    expect(read('get_page', given, { pageId: 'c1', naming: 'bare', cursor: nextCursor })).toEqual({
      pageId: 'c1',
      shapeCount: 3,
      shapes: [{ id: 'm', kind: 'rectangle', type: 'rectangle', x: 0, y: 0, w: 100, h: 80, style: {} }],
    })
    expect(read('get_page', given, { pageId: 'c2', cursor: nextCursor })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    const later = readDocument('get_page', given, { ...facts, serverVersion: 8 }, { pageId: 'c1', cursor: nextCursor })
    expect(later).toMatchObject({ result: { shapes: [{ id: 'm' }] } })
  })

  it('[TOOL-26] each read of a missing page is refused', () => {
    const code = 'ERR_PAGE_NOT_FOUND'
    expect(read('get_page', given, { pageId: 't1' })).toMatchObject({ code, facts: { kind: 'canvas', otherKind: 'prose' } })
    expect(read('get_shape', given, { pageId: 'x', id: 'r' })).toMatchObject({ code })
    expect(read('get_prose', given, { pageId: 'c1' })).toMatchObject({ code, facts: { kind: 'prose', otherKind: 'canvas' } })
    expect(read('get_outline', given, { pageId: 'x' })).toMatchObject({ code })
    expect(read('get_table', given, { pageId: 'x' })).toMatchObject({ code })
  })

  it('[TOOL-get_shape] [TOOL-get_outline] [TOOL-list_fields] [TOOL-list_references] get_shape, get_outline, list_fields and list_references return their part of the document', () => {
    expect(read('get_shape', given, { pageId: 'c1', id: 'r' })).toMatchObject({ shape: { id: 'r', kind: 'rectangle' } })
    expect(read('get_outline', given, { pageId: 't1', naming: 'bare' })).toMatchObject({
      pageId: 't1',
      outline: [
        { index: 0, level: 1, title: 'One', id: 'one' },
        { index: 1, level: 2, title: 'Two', id: 'two' },
      ],
    })
    expect(read('list_fields', given, {})).toEqual({ fields: [{ name: 'x', value: '1' }], count: 1 })
    expect(read('list_references', given, {})).toEqual({ references: [{ id: 'k', type: 'book' }], style: 'mla', count: 1 })
    expect(read('get_table', given, { pageId: 't1' })).toMatchObject({ code: 'ERR_TABLE_NOT_FOUND' })
  })

  it('[TOOL-list_files] list_files says which bytes the workspace holds', () => {
    const files = body({ pages: [canvasPage('p', { id: 'f', type: 'file', blobRef: hash, fileName: 'a.txt' })] })
    expect(read('list_files', files, {})).toMatchObject({ files: [{ id: 'f', inStore: false, blobRef: null }], count: 1 })
    const held = new Map([[hash, { size: 3, mimeType: 'text/plain' }]])
    expect(read('list_files', files, {}, { held })).toMatchObject({ files: [{ inStore: true, blobRef: hash, sizeBytes: 3 }] })
  })
})

describe('get_prose', () => {
  it('[TOOL-get_prose] get_prose returns one page or all, repaired, as HTML by default', () => {
    expect(read('get_prose', given, { pageId: 't1' })).toEqual({
      page: { id: 't1', name: 't1', order: 3, content: text },
      format: 'html',
    })
    expect(read('get_prose', given, {})).toEqual({
      pages: [
        { id: 't1', name: 't1', order: 3, content: text },
        { id: 't2', name: 't2', order: 1, content: '<p></p>' },
      ],
      format: 'html',
    })
    expect(read('get_prose', body({ richTextPages: [prosePage('p', '<P>a<ul></ul>')] }), { pageId: 'p' })).toMatchObject({
      page: { content: '<p>a</p>' },
    })
    expect(read('get_prose', body({}), {})).toEqual({ pages: [], format: 'html' })
  })

  it('[TOOL-get_prose] [PROSE-41] get_prose returns Markdown, with ids on request', () => {
    expect(read('get_prose', given, { pageId: 't1', format: 'markdown', index: 1 })).toMatchObject({
      page: { content: expect.stringMatching(/^## Two\n*$/) as string },
      format: 'markdown',
    })
    expect(read('get_prose', given, { pageId: 't1', format: 'md', ids: true, index: 1 })).toMatchObject({
      page: { content: expect.stringMatching(/^<!-- two#kwbb -->\n## Two\n*$/) as string },
      format: 'markdown',
    })
  })

  it('[TOOL-get_prose] get_prose returns one block by id, one section by index, and the text before the first heading at index -1', () => {
    const content = (args: object) => {
      const answer = read('get_prose', given, { pageId: 't1', ...args })
      return 'page' in answer ? (answer.page as { content: string }).content : answer
    }
    expect(content({ id: 'i' })).toBe('<p id="i">item</p>')
    expect(content({ index: 0 })).toBe('<h1 id="one">One</h1><p id="a">a</p><ul><li><p id="i">item</p></li></ul>')
    expect(content({ index: -1 })).toBe('<p id="intro">Intro</p>')
    expect(content({ index: 2 })).toEqual({ code: 'ERR_SECTION_INDEX', facts: { index: 2, sectionCount: 2 } })
    expect(content({ id: 'nowhere' })).toMatchObject({ code: 'ERR_ID_NOT_FOUND' })
    expect(content({ id: 'i', index: 0 })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'index' } })
    expect(read('get_prose', given, { id: 'i' })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'pageId' } })
    const noPrefix = body({ richTextPages: [prosePage('p', '<h1 id="h">x</h1>')] })
    expect(read('get_prose', noPrefix, { pageId: 'p', index: -1 })).toMatchObject({ page: { id: 'p', content: '' } })
  })

  it('[TOOL-23] [TOOL-24] parts of get_prose are cut between top-level blocks, across pages, and lose none', () => {
    const long = Array.from({ length: 1500 }, (_, i) => `<p id="b${i}">${'ä"'.repeat(i % 200)}</p>`).join('')
    const pages = body({ richTextPages: [prosePage('p', long), prosePage('q', ''), prosePage('r', text)] })
    for (const args of [{}, { limit: 400 }, { limit: 1 as number | undefined, format: 'html' as const }]) {
      const content = new Map<string, string>()
      let cursor: string | undefined
      let answers = 0
      do {
        const answer = readDocument('get_prose', pages, facts, { ...args, cursor })
        if (answer.kind === 'refused') throw new Error(answer.message)
        expect(jsonBytes(answer.result)).toBeLessThanOrEqual(MAX_RESULT_BYTES)
        for (const page of answer.result['pages'] as { id: string; content: string }[])
          content.set(page.id, (content.get(page.id) ?? '') + page.content)
        cursor = answer.result['nextCursor'] as string | undefined
      } while (cursor !== undefined && ++answers < 20)
      if (answers < 20)
        expect([...content]).toEqual([
          ['p', long],
          ['q', '<p></p>'],
          ['r', text],
        ])
    }
  })
})

describe('get_prose as Markdown', () => {
  it('[TOOL-23] a part of get_prose as Markdown stays within 80,000 bytes, whatever the blocks are', () => {
    const lists = '<ul><li><p id="x">a</p></li></ul><ol><li><p>b</p></li></ol><p></p><hr><pre><code>"\n"</code></pre>'
    for (const html of ['<p></p>'.repeat(20_000), lists.repeat(3000), '<p style="text-align: right">ä</p>'.repeat(4000)]) {
      const pages = body({ richTextPages: [prosePage('p', html)] })
      for (const ids of [false, true]) {
        const answer = readDocument('get_prose', pages, facts, { pageId: 'p', format: 'markdown', ids })
        if (answer.kind === 'refused') throw new Error(answer.message)
        expect(jsonBytes(answer.result)).toBeLessThanOrEqual(MAX_RESULT_BYTES)
        expect(answer.result['nextCursor']).toBeTypeOf('string')
      }
    }
  })
})

describe('laws of all reads', () => {
  it('[CONC-1] a read changes nothing and answers the same twice, for every example document', () => {
    for (const name of ['meeting-minutes', 'reading-list', 'relay-at-a-glance']) {
      const url = new URL(`../../../examples/workspace/${name}.json`, import.meta.url)
      const example = bodyOf(JSON.parse(readFileSync(url, 'utf8')) as Json)
      const before = JSON.stringify(example)
      const [canvas, prose] = [example.canvas.pages[0]?.id ?? '', example.prose.pages[0]?.id ?? '']
      for (const tool of readNames) {
        const pageId = tool === 'get_page' || tool === 'get_shape' ? canvas : prose
        const args = { pageId, id: example.canvas.pages[0]?.shapes[0]?.id ?? '' }
        const once = readDocument(tool, example, facts, tool === 'get_shape' ? args : { pageId })
        expect(readDocument(tool, example, facts, tool === 'get_shape' ? args : { pageId })).toEqual(once)
        if (!['get_shape', 'get_table', 'get_file'].includes(tool)) expect(once.kind).toBe('read')
      }
      expect(JSON.stringify(example)).toBe(before)
    }
  })

  it('[CONC-13] a page of a large document is read within a moment', () => {
    const shapes = Array.from({ length: 6000 }, (_, i) =>
      rectangle(`s${i}`, { width: 100, height: 50, label: `Shape number ${i}` }),
    )
    const html = Array.from({ length: 8000 }, (_, i) => `<h2 id="h${i}">Heading</h2><p id="p${i}">${'words '.repeat(12)}${i}</p>`)
    const large = body({ pages: [canvasPage('c', ...shapes)], richTextPages: [prosePage('t', html.join(''))] })
    const millis = (work: () => unknown) => {
      const times = [0, 0, 0, 0, 0].map(() => {
        const took = threadTime()
        work()
        return took()
      })
      return Math.min(...times)
    }
    expect(millis(() => read('get_page', large, { pageId: 'c' }))).toBeLessThan(100)
    expect(millis(() => read('get_prose', large, { pageId: 't' }))).toBeLessThan(500)
    expect(millis(() => read('list_files', large, {}))).toBeLessThan(100)
  })

  it('[TOOL-23] a part of a page of 30 MB is read without the rest', () => {
    const paragraphs = '<p id="blk-0123456789">A paragraph like another.</p>'.repeat(280_000)
    const huge = body({ richTextPages: [prosePage('t', `${paragraphs}<h2>Middle</h2>${paragraphs}`)] })
    const took = threadTime()
    const first = read('get_prose', huge, { pageId: 't' })
    const second = read('get_prose', huge, { pageId: 't', cursor: String(first['nextCursor']) })
    const prefix = read('get_prose', huge, { pageId: 't', index: -1, format: 'markdown' })
    expect(took()).toBeLessThan(1_000)
    const lengths = [first, second, prefix].map((part) => (part['page'] as { content: string }).content.length)
    for (const length of lengths) expect(length).toBeGreaterThan(40_000)
  })
})
