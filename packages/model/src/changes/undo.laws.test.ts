import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { pageRouter } from '../canvas/page-router.ts'
import { isRefusal, type EditEnvironment } from '../edit.ts'
import { type EditName, runEdit } from '../edits.ts'
import { blockId, idBearing, idsOf } from '../prose/blocks.ts'
import { serialiseHtml } from '../prose/html.ts'
import { pageTree } from '../prose/page.ts'
import { blockText } from '../prose/text.ts'
import { anyTree } from '../prose/testing/arbitrary.ts'
import { documentBody } from '../testing/arbitrary.ts'
import { body } from '../testing/builders.ts'
import { changesBetween } from './changes-between.ts'
import { undoChanges } from './undo-changes.ts'

/** A random call. Its numbers choose among the pages, blocks and shapes of the document. */
interface Call {
  readonly kind: (typeof kinds)[number]
  readonly picks: readonly [number, number, number]
  readonly html: string
}

const kinds = [
  'page',
  'block',
  'span',
  'insert',
  'delete',
  'move',
  'moveAcross',
  'section',
  'promote',
  'moveSection',
  'addProse',
  'renameProse',
  'deleteProse',
  'reorderProse',
  'addCanvas',
  'renameCanvas',
  'deleteCanvas',
  'reorderCanvas',
  'addShapes',
  'updateShape',
  'connect',
  'deleteShape',
  'reorderShapes',
  'setFields',
  'addReferences',
  'updateReference',
  'deleteReference',
  'title',
] as const

const word = fc.integer({ min: 0, max: 9 }).map((n) => `<p>word ${n}</p>`)
const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom(...kinds),
  picks: fc.tuple(fc.nat(), fc.nat(), fc.nat()),
  html: fc.oneof(word, anyTree.map(serialiseHtml), fc.constant('<p>A <span data-field data-name="f"></span> chip</p>')),
})

function pick<T>(from: readonly T[], number: number): T | undefined {
  return from[number % Math.max(1, from.length)]
}

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const at = list.length === 0 ? 0 : by % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

function asEdit(given: DocumentBody, { kind, picks: [a, b, c], html }: Call): readonly [EditName, object] {
  const prose = pick(given.prose.pages, a)
  const canvas = pick(given.canvas.pages, a)
  const tree = prose === undefined ? [] : pageTree(prose).tree
  const ids = [...idBearing(tree).flatMap(({ block }) => blockId(block) ?? []), ...tree.map((_, index) => `@${index}`)]
  const page = { pageId: prose?.id ?? 'none', expectedVersion: 1 }
  const content = { content: html, format: 'html' }
  const [id, other] = [pick(ids, b), pick(ids, c)]
  const drawing = { pageId: canvas?.id ?? 'none' }
  const shapes = canvas?.shapes.map((shape) => shape.id) ?? []
  const items = given.references?.kind === 'references' ? given.references.order : []
  const side = c % 2 === 0 ? 'before' : 'after'
  const order = rotated(
    given.prose.pages.map((each) => each.id),
    b,
  )
  switch (kind) {
    case 'page':
      return ['set_prose', { ...page, ...content }]
    case 'block':
      return ['set_prose', { ...page, ...content, id }]
    case 'span':
      return ['set_prose', { ...page, ...content, id, untilId: other }]
    case 'insert':
      return ['insert_block', { ...page, ...content, id, side }]
    case 'delete':
      return ['delete_block', { ...page, id }]
    case 'move':
      return ['move_block', { ...page, id, targetId: other, side }]
    case 'moveAcross': {
      const there = pick(given.prose.pages, c)
      const places = there === undefined ? [] : idBearing(pageTree(there).tree).flatMap(({ block }) => blockId(block) ?? [])
      const target = pick([...places, '@0'], a)
      return ['move_block', { ...page, id, ...(c % 3 === 0 && { untilId: other }), toPageId: there?.id, targetId: target, side }]
    }
    case 'section':
      return ['insert_section', { ...page, title: 'T', level: 2, body: html, format: 'html', afterIndex: b % 3 }]
    case 'promote':
      return ['restructure_outline', { ...page, op: c % 2 === 0 ? 'promote' : 'demote', index: b % 3 }]
    case 'moveSection':
      return ['restructure_outline', { ...page, op: 'move', index: b % 3, toIndex: c % 3 }]
    case 'addProse':
      return ['add_prose_page', { name: 'New', ...content }]
    case 'renameProse':
      return ['rename_prose_page', { pageId: page.pageId, name: `N${b % 3}` }]
    case 'deleteProse':
      return ['delete_prose_page', { pageId: page.pageId }]
    case 'reorderProse':
      return ['reorder_prose_pages', { order }]
    case 'addCanvas':
      return ['add_canvas_page', { name: 'New' }]
    case 'renameCanvas':
      return ['rename_canvas_page', { ...drawing, name: `N${b % 3}` }]
    case 'deleteCanvas':
      return ['delete_canvas_page', drawing]
    case 'reorderCanvas':
      return [
        'reorder_canvas_page',
        {
          order: rotated(
            given.canvas.pages.map((each) => each.id),
            b,
          ),
        },
      ]
    case 'addShapes': {
      const boxes = [
        { id: 'one', type: 'rectangle', x: b % 500, y: c % 500, text: 'New' },
        { type: 'ellipse', x: 0, y: 9 },
      ]
      return ['add_shapes', { ...drawing, shapes: boxes }]
    }
    case 'updateShape':
      return ['update_shape', { ...drawing, id: pick(shapes, b) ?? 'none', patch: { x: c % 100, text: `L${b % 5}` } }]
    case 'connect':
      return ['connect', { ...drawing, fromId: pick(shapes, b) ?? 'none', toId: pick(shapes, c) ?? 'none' }]
    case 'deleteShape':
      return ['delete_shape', { ...drawing, id: pick(shapes, b) ?? 'none' }]
    case 'reorderShapes':
      return ['reorder_shapes', { ...drawing, order: rotated(shapes, b) }]
    case 'setFields':
      return ['set_fields', { fields: [{ name: pick(['f', 'g', 'a'], b), value: pick(['', 'v', null], c) }] }]
    case 'addReferences':
      return ['add_reference', { items: [{ id: `r${b % 3}`, type: 'book', title: 'T' }] }]
    case 'updateReference':
      return ['update_reference', { id: pick(items, b) ?? 'none', item: { title: `T${c % 3}` } }]
    case 'deleteReference':
      return ['delete_reference', { id: pick(items, b) ?? 'none', force: true }]
    case 'title':
      return ['rename_document', { docId: 'd', name: `Title ${b % 3}` }]
  }
}

let minted = 0
/** Never returns an id twice, as in a real document. */
function environment(): EditEnvironment {
  return { nowMs: Date.UTC(2026, 6, 1) + minted, random: (length) => String(++minted).padStart(length, '0') }
}

function run(given: DocumentBody, drawn: Call): { readonly after: DocumentBody; readonly args: object } {
  const [name, args] = asEdit(given, drawn)
  const answer = runEdit(name, given, args, environment())
  return { after: isRefusal(answer) ? given : answer.body, args }
}

/** The parts of a body that the laws compare: canonical pages, shapes, lists, libraries and title. */
function said(given: DocumentBody) {
  const library = (value: DocumentBody['references'] | DocumentBody['fields']) =>
    value === undefined
      ? null
      : value.kind === 'opaque'
        ? value.value
        : { order: value.order, items: Object.fromEntries(value.items) }
  return {
    prose: given.prose.pages.map((page) => ({ ...page.members, html: serialiseHtml(pageTree(page).tree) })),
    canvas: given.canvas.pages.map((page) => ({ ...page.members, shapes: page.shapes })),
    proseMembers: given.prose.members,
    references: library(given.references),
    fields: library(given.fields),
    members: Object.fromEntries(given.members),
  }
}

function hasRepeatedIds(given: DocumentBody): boolean {
  return given.prose.pages.some((page) => {
    const ids = idsOf(pageTree(page).tree)
    return new Set(ids).size < ids.length
  })
}

const plain = body({
  name: 'Title',
  activePageId: 'p',
  pages: [
    { id: 'c', name: 'Canvas', shapes: [] },
    { id: 'c2', name: 'More', shapes: [{ id: 's', type: 'rectangle', x: 1, y: 2 }] },
  ],
  richTextPages: [
    {
      id: 'p',
      name: 'P',
      content:
        '<h1 id="blk-1">One</h1><p id="blk-2">two</p><hr><hr><ul><li><p id="blk-3">item</p></li><li><p id="blk-4">other</p></li></ul><h2 id="blk-5">Five</h2><p id="blk-6">six</p><blockquote><p id="blk-7">seven</p><p>none</p></blockquote>',
    },
    {
      id: 'q',
      name: 'Q',
      content: '<p>no id</p><p>no id</p><p id="blk-9">A <span data-field data-name="f" data-label="v">v</span></p>',
    },
  ],
  references: { items: { r0: { id: 'r0', type: 'book' }, x: { id: 'x', type: 'book' } }, itemOrder: ['x', 'r0'] },
  fields: { fields: { f: { name: 'f', value: 'v' } }, order: ['f'] },
})

/** A document in which each text occurs once, most of them in lists. */
const lists = body({
  name: 'Lists',
  pages: [],
  richTextPages: [
    ['p', '<h1 id="blk-1">One</h1><ul><li><p id="blk-2">two</p></li><li><p id="blk-3">three</p></li></ul><p id="blk-4">four</p>'],
    ['q', '<ol><li><p id="blk-5">five</p></li><li><p id="blk-6">six</p></li></ol><ul><li><p id="blk-7">seven</p></li></ul>'],
    ['r', '<blockquote><p id="blk-8">eight</p><p id="blk-9">nine</p></blockquote><p>ten</p><ul><li><p>eleven</p></li></ul>'],
  ].map(
    ([id, content]) => ({ id, name: id, content }) as { readonly id: string; readonly name: string; readonly content: string },
  ),
})

const start = fc.oneof({ weight: 3, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: documentBody })

describe('undo of a call', () => {
  it('[AG-71] a call and its undo, with nobody in between, leave the document as it was', () => {
    fc.assert(
      fc.property(start, fc.array(call, { maxLength: 4 }), call, (given, earlier, drawn) => {
        const before = earlier.reduce((current, each) => run(current, each).after, given)
        const { after, args } = run(before, drawn)
        const { set, counts } = changesBetween(before, after, args)
        const stored = JSON.parse(JSON.stringify(set)) as typeof set
        const undone = undoChanges(after, stored, environment(), pageRouter)
        expect(undone.kept).toEqual([])
        expect(said(undone.body)).toEqual(said(before))
        expect(counts.changed > 0).toBe(before !== after)
      }),
      { numRuns: 600 },
    )
  })

  it('[AG-71] calls undone newest first leave the document as it was', () => {
    fc.assert(
      fc.property(start, fc.array(call, { minLength: 2, maxLength: 5 }), (given, drawn) => {
        const [first] = drawn.slice(0, 1).map((each) => run(given, each).after)
        const sets = []
        let current = first as DocumentBody
        for (const each of drawn.slice(1)) {
          const { after, args } = run(current, each)
          sets.push(changesBetween(current, after, args).set)
          current = after
        }
        for (const set of sets.reverse()) current = undoChanges(current, set, environment(), pageRouter).body
        expect(said(current)).toEqual(said(first as DocumentBody))
      }),
      { numRuns: 300 },
    )
  })

  it('[AG-71] an undo that is undone leaves the document as the call left it', () => {
    fc.assert(
      fc.property(start, fc.array(call, { minLength: 1, maxLength: 3 }), call, (given, earlier, drawn) => {
        const before = earlier.reduce((current, each) => run(current, each).after, given)
        // When stored blocks share an id, an undo makes these blocks share the id again, and then nothing tells them apart.
        fc.pre(!hasRepeatedIds(before))
        const { after, args } = run(before, drawn)
        const undone = undoChanges(after, changesBetween(before, after, args).set, environment(), pageRouter).body
        const again = undoChanges(undone, changesBetween(after, undone, {}).set, environment(), pageRouter)
        expect(again.kept).toEqual([])
        expect(said(again.body)).toEqual(said(after))
      }),
      { numRuns: 300 },
    )
  })

  it('[AG-71] after an undo, the writes of others stay, and each part that the call wrote is gone or in kept', () => {
    fc.assert(
      fc.property(
        fc.array(call, { maxLength: 3 }),
        call,
        fc.array(call, { minLength: 1, maxLength: 3 }),
        (earlier, drawn, others) => {
          const marked = (each: Call, word: string): Call => ({ ...each, html: `<p>${word}</p>` })
          const before = earlier.reduce((current, each) => run(current, each).after, plain)
          const { after, args } = run(before, marked(drawn, 'callword'))
          const present = others.reduce((current, each, index) => run(current, marked(each, `otherword${index}`)).after, after)
          const undone = undoChanges(present, changesBetween(before, after, args).set, environment(), pageRouter)
          const [then, now] = [present, undone.body].map((each) => JSON.stringify(said(each))) as [string, string]
          for (const word of ['otherword0', 'otherword1', 'otherword2']) if (then.includes(word)) expect(now).toContain(word)
          if (now.includes('callword')) expect(undone.kept).not.toEqual([])
          // The same undo lists the same parts again.
          expect(undoChanges(present, changesBetween(before, after, args).set, environment(), pageRouter).kept).toEqual(
            undone.kept,
          )
        },
      ),
      { numRuns: 500 },
    )
  })

  it('[AG-71] when others wrote meanwhile, an undo repeats no block or text and loses none that the call only moved', () => {
    const moves: readonly Call['kind'][] = ['move', 'moveAcross', 'moveAcross', 'moveSection', 'page', 'span', 'delete']
    const moving = fc.tuple(call, fc.nat()).map(([each, number]): Call => ({ ...each, kind: pick(moves, number) ?? 'move' }))
    let reached = 0
    fc.assert(
      fc.property(
        fc.array(moving, { maxLength: 3 }),
        moving,
        fc.array(fc.oneof(moving, call), { minLength: 1, maxLength: 3 }),
        (earlier, drawn, others) => {
          const marked = (each: Call, word: string): Call => ({ ...each, html: `<p>${word}</p>` })
          const before = earlier.reduce((current, each, index) => run(current, marked(each, `early${index}`)).after, lists)
          const { after, args } = run(before, marked(drawn, 'callword'))
          const present = others.reduce((current, each, index) => run(current, marked(each, `otherword${index}`)).after, after)
          const record = changesBetween(before, after, args).set
          const undone = undoChanges(present, record, environment(), pageRouter)
          const [old, then, now] = [before, present, undone.body].map(standing) as [Standing, Standing, Standing]
          const most = (name: string) => (name.startsWith('blk-') ? 1 : Math.max(old.get(name) ?? 0, then.get(name) ?? 0))
          expect([...now].filter(([name, count]) => count > most(name))).toEqual([])
          expect([...then.keys()].filter((name) => old.has(name) && !now.has(name))).toEqual([])
          if (undone.kept.length > 0 && undone.body !== present) reached++
        },
      ),
      { numRuns: 1000 },
    )
    expect(reached).toBeGreaterThan(20)
  })
})

type Standing = ReadonlyMap<string, number>

/** Counts how often each text and each id occurs in the document. */
function standing({ prose }: DocumentBody): Standing {
  const counts = new Map<string, number>()
  for (const page of prose.pages)
    for (const { block } of idBearing(pageTree(page).tree))
      for (const name of [blockText(block), blockId(block) ?? '']) if (name !== '') counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
