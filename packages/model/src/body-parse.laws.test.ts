import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EMPTY_BODY, parseBody, readStoredBody } from './body-parse.ts'
import { writeBody, writeStoredBody } from './body-write.ts'
import { equalJson, type Json, type JsonObject } from './json.ts'
import { bodyOf, bodyValue, json } from './testing/arbitrary.ts'
import { canvasPage, group, prosePage, rectangle, written } from './testing/builders.ts'

function rewritten(value: Json): JsonObject {
  return written(bodyOf(value))
}

function refusal(value: Json) {
  const parsed = parseBody(value)
  return parsed.ok ? null : parsed.path
}

describe('parseBody and writeBody', () => {
  it('[BODY-1] [BODY-2] [BODY-7] a body in either form or any mix is written back as the same value', () => {
    fc.assert(
      fc.property(bodyValue, (value) => {
        const text = writeBody(bodyOf(value))
        expect(equalJson(JSON.parse(text) as Json, value)).toBe(true)
        expect(writeBody(readStoredBody(new TextEncoder().encode(text)))).toBe(text)
      }),
      { numRuns: 500 },
    )
  })

  it('[BODY-4] [BODY-7] an accepted body is written so that reading it again changes nothing', () => {
    const names = fc.constantFrom(
      'pages',
      'pageOrder',
      'richTextPages',
      'references',
      'fields',
      'items',
      'order',
      'shapes',
      'id',
      'childIds',
    )
    const loose = fc.dictionary(
      names,
      fc.oneof(json, fc.dictionary(names, fc.oneof(json, fc.array(fc.dictionary(names, json), { maxLength: 3 })))),
      {
        noNullPrototype: true,
      },
    )
    let accepted = 0
    fc.assert(
      fc.property(loose as fc.Arbitrary<JsonObject>, (value) => {
        const parsed = parseBody(value)
        if (!parsed.ok) return
        accepted++
        const text = writeBody(parsed.body)
        expect(writeBody(bodyOf(JSON.parse(text) as Json))).toBe(text)
      }),
      { numRuns: 500 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('[BODY-7] the order of members is kept', () => {
    const value = {
      zeta: 1,
      pages: [{ z: 1, id: 'p', shapes: [{ y: 1, id: 's', a: 2 }], name: 'P' }],
      name: 'N',
      richTextPages: { activePageId: 'q', pages: { q: { content: '<p>x</p>', id: 'q', b: 1 } }, extra: true, pageOrder: ['q'] },
      alpha: 2,
      references: { style: 'apa', items: {}, itemOrder: [] },
      fields: { note: 1, fields: {}, order: [] },
    }
    expect(writeBody(bodyOf(value))).toBe(JSON.stringify(value))
  })

  it('[BODY-2] each page container keeps its own form, and pages of one container may differ in theirs', () => {
    const value = {
      pages: {
        p: { id: 'p', shapes: { s: { id: 's' } }, shapeOrder: ['s'] },
        q: { id: 'q', shapes: [{ id: 't' }] },
      },
      pageOrder: ['q', 'p'],
      richTextPages: [prosePage('r', '<p>r</p>')],
    }
    expect(rewritten(value)).toEqual(value)
    expect(bodyOf(value).canvas.pages.map((page) => page.id)).toEqual(['q', 'p'])
  })

  it('[BODY-3] a missing page container is written empty in the form of the other one, else as a list', () => {
    expect(rewritten({})).toEqual({ pages: [], richTextPages: [] })
    expect(rewritten({ pages: {}, pageOrder: [] })).toEqual({
      pages: {},
      pageOrder: [],
      richTextPages: { pages: {}, pageOrder: [] },
    })
    expect(rewritten({ richTextPages: { pages: {}, pageOrder: [] } })).toMatchObject({ pages: {}, pageOrder: [] })
    expect(writeBody(EMPTY_BODY)).toBe('{"pages":[],"richTextPages":[]}')
  })

  it('[BODY-3] references and fields are written only when present, and unchanged when they have no entries', () => {
    const value = { pages: [], richTextPages: [], references: { style: 'apa', order: 7 }, fields: { fields: ['a'], order: 'x' } }
    expect(rewritten(value)).toEqual(value)
    expect(bodyOf(value).references?.kind).toBe('opaque')
    expect(Object.keys(rewritten({ pages: [] }))).not.toContain('references')
  })

  it('[BODY-1] the member order is read where itemOrder is missing, and keeps its name', () => {
    const items = { x: { id: 'x' }, y: { id: 'y' } }
    expect(rewritten({ references: { items, order: ['y', 'x'] } }).references).toEqual({ items, order: ['y', 'x'] })
    const both = { items, itemOrder: ['y', 'x'], order: ['x'] }
    expect(rewritten({ references: both }).references).toEqual(both)
  })

  it('[BODY-4] [YDOC-4] an order loses repeated and unknown ids and gets the unlisted ones by createdAt, then by id', () => {
    const page = (id: string, createdAt?: number) => ({ id, ...(createdAt === undefined ? {} : { createdAt }) })
    const pages = { n: page('n'), m: page('m'), late: page('late', 9), early: page('early', 3), first: page('first') }
    expect(rewritten({ pages, pageOrder: ['first', 'ghost', 5, 'first'] }).pageOrder).toEqual([
      'first',
      'early',
      'late',
      'm',
      'n',
    ])
    expect(rewritten({ references: { items: { b: {}, a: {} }, itemOrder: ['b', 'b', 'c'] } }).references).toMatchObject({
      itemOrder: ['b', 'a'],
    })
  })

  it('[BODY-4] in keyed form the key replaces a different id, and an entry without id gets it', () => {
    expect(rewritten({ pages: { p: { id: 'other', shapes: { s: { id: 't' } } }, q: {} } })).toMatchObject({
      pages: { p: { id: 'p', shapes: { s: { id: 's' } } }, q: { id: 'q' } },
    })
  })

  it('[BODY-4] a list entry without id gets one, the same for a repeated PUT and never one in use', () => {
    const value = {
      pages: [{ name: 'P', shapes: [{ x: 1 }, { x: 1 }, { id: 's' }] }],
      richTextPages: [{ name: 'Q', content: '' }],
    } as const
    const once = rewritten(value) as unknown as {
      pages: { id: string; shapes: { id: string }[] }[]
      richTextPages: { id: string }[]
    }
    expect(once.pages[0]?.id).toMatch(/^page-[A-Za-z0-9]{12}$/)
    expect(once.richTextPages[0]?.id).toMatch(/^page-[A-Za-z0-9]{12}$/)
    const ids = once.pages[0]?.shapes.map((shape) => shape.id) ?? []
    expect(ids[0]).toMatch(/^shape-[A-Za-z0-9]{10}$/)
    expect(ids[2]).toBe('s')
    expect(new Set(ids).size).toBe(3)
    expect(rewritten(value)).toEqual(once)
  })

  it('[BODY-4] [CANVAS-17] members of a group come directly after it in list form and outside shapeOrder in keyed form', () => {
    const shapes = [rectangle('a'), rectangle('m2'), group('g', 'm1', 'm2', 'ghost'), rectangle('z'), rectangle('m1')]
    const list = rewritten({ pages: [canvasPage('p', ...shapes)] }) as unknown as { pages: { shapes: { id: string }[] }[] }
    expect(list.pages[0]?.shapes.map((shape) => shape.id)).toEqual(['a', 'g', 'm1', 'm2', 'z'])
    const keyed = Object.fromEntries(shapes.map((shape) => [shape.id as string, shape]))
    expect(rewritten({ pages: { p: { shapes: keyed, shapeOrder: ['m1', 'z', 'a'] } } })).toMatchObject({
      pages: { p: { shapeOrder: ['z', 'a', 'g'] } },
    })
  })

  it('[CANVAS-17] nested groups, groups with a common member and groups that contain each other lose no shape', () => {
    const ids = (...shapes: JsonObject[]) =>
      bodyOf({ pages: [canvasPage('p', ...shapes)] }).canvas.pages[0]?.shapes.map((shape) => shape.id)
    expect(ids(rectangle('x'), group('inner', 'x'), rectangle('y'), group('outer', 'y', 'inner'))).toEqual([
      'outer',
      'y',
      'inner',
      'x',
    ])
    expect(ids(group('g', 'x'), group('h', 'x'), rectangle('x'))).toEqual(['g', 'x', 'h'])
    expect(ids(rectangle('r'), group('b', 'a'), group('a', 'b', 'a'))).toEqual(['r', 'a', 'b'])
  })

  it.each<[string, Json, string]>([
    ['a body that is a list', [], ''],
    ['a page that is no object', { pages: [1] }, '/pages/0'],
    ['a keyed page that is no object', { pages: { 'a/b~': null } }, '/pages/a~1b~0'],
    ['a shape that is no object', { pages: [{ id: 'p', shapes: [{ id: 's' }, 'x'] }] }, '/pages/0/shapes/1'],
    ['pages of another type', { pages: null }, '/pages'],
    ['shapes of another type', { pages: { p: { shapes: 'x' } } }, '/pages/p/shapes'],
    ['richTextPages of another type', { richTextPages: 3 }, '/richTextPages'],
    ['its pages as a list', { richTextPages: { pages: [] } }, '/richTextPages/pages'],
    ['an order that is no list', { pages: {}, pageOrder: {} }, '/pageOrder'],
    ['references as a list', { references: [] }, '/references'],
    ['fields as null', { fields: null }, '/fields'],
    ['a reference that is no object', { references: { items: { r: 'x' } } }, '/references/items/r'],
    ['a field that is no object', { fields: { fields: { f: 1 } } }, '/fields/fields/f'],
    ['content that is no string', { richTextPages: [{ id: 'p', content: null }] }, '/richTextPages/0/content'],
    ['content of a keyed page', { richTextPages: { pages: { p: { content: {} } } } }, '/richTextPages/pages/p/content'],
    ['two list entries of one id', { pages: [{ id: 'p' }, { id: 'p' }] }, '/pages/1/id'],
    ['two shapes of one id', { pages: [{ id: 'p', shapes: [{ id: 's' }, { id: 's' }] }] }, '/pages/0/shapes/1/id'],
  ])('[BODY-5] %s is refused with its path', (_, value, path) => {
    expect(refusal(value)).toBe(path)
  })

  it('[BODY-5] [BODY-11] ids may have 1 to 256 bytes without control characters', () => {
    expect(refusal({ pages: [{ id: '' }] })).toBe('/pages/0/id')
    expect(refusal({ pages: [{ id: 7 }] })).toBe('/pages/0/id')
    expect(refusal({ pages: [{ id: 'a\u0001' }] })).toBe('/pages/0/id')
    expect(refusal({ pages: { ['ä'.repeat(129)]: {} } })).toBe(`/pages/${'ä'.repeat(129)}`)
    expect(refusal({ pages: { ['ä'.repeat(128)]: {} } })).toBeNull()
    expect(refusal({ references: { items: { '\n': {} } } })).toBe('/references/items/\n')
    expect(refusal({ fields: { fields: { '': {} } } })).toBe('/fields/fields/')
    expect(refusal({ pages: [{ id: 'a/b\\..~%', shapes: [{ id: '__proto__' }] }] })).toBeNull()
  })

  it('[BODY-6] a shape may be any object and is written unchanged', () => {
    const odd = { id: 's', type: 42, x: 'left', childIds: 'none', deep: { waypoints: [null, { '': [] }] } }
    expect(rewritten({ pages: [canvasPage('p', odd)] })).toMatchObject({ pages: [{ shapes: [odd] }] })
  })

  it('[BODY-7] [BODY-8] members named __proto__ survive at every depth and change no prototype', () => {
    const text =
      '{"__proto__":{"polluted":1},"pages":[{"id":"p","__proto__":{"a":1},"shapes":[{"id":"s","__proto__":{"b":1},"deep":{"__proto__":null}}]}],' +
      '"richTextPages":{"pages":{"__proto__":{"id":"__proto__","content":"<p>x</p>"}},"pageOrder":["__proto__"]},' +
      '"references":{"items":{"__proto__":{"__proto__":1}},"itemOrder":["__proto__"]}}'
    expect(writeBody(bodyOf(JSON.parse(text) as Json))).toBe(text)
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  it('[BODY-14] a body is stored as compact JSON', () => {
    const bytes = writeStoredBody(bodyOf({ name: 'ä', pages: [], richTextPages: [] }))
    expect(new TextDecoder().decode(bytes)).toBe('{"name":"ä","pages":[],"richTextPages":[]}')
    expect(bytes.length).toBe(43)
  })

  it('[BODY-9] prose content is written exactly as it was PUT', () => {
    const content = '<P Style="x">not <b>canonical</P>\r\n<script>'
    expect(rewritten({ richTextPages: [prosePage('p', content)] })).toMatchObject({ richTextPages: [{ content }] })
    expect(rewritten({ richTextPages: [{ id: 'p', name: 'without' }] }).richTextPages).toEqual([{ id: 'p', name: 'without' }])
  })
})
