import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import type { EditEnvironment } from '../edit.ts'
import { documentBody } from '../testing/arbitrary.ts'
import { body, prosePage, written } from '../testing/builders.ts'
import { listFields } from './list-fields.ts'
import { setFields, type SetFields } from './set-fields.ts'

const environment: EditEnvironment = { nowMs: Date.UTC(2026, 10, 21, 9, 5), random: (count) => 'r'.repeat(count) }

const chip = (name: string, label?: string) =>
  label === undefined
    ? `<span data-field data-name="${name}"></span>`
    : `<span data-field data-name="${name}" data-label="${label}">${label}</span>`
const paragraph = (id: string, ...parts: string[]) => `<p id="${id}">${parts.join('')}</p>`

function library(values: { readonly [name: string]: string }, ...pages: readonly string[]): DocumentBody {
  return body({
    fields: {
      fields: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { name, value, note: 'kept' }])),
      order: Object.keys(values),
    },
    richTextPages: pages.map((content, i) => prosePage(`p${i}`, content)),
  })
}

function set(given: DocumentBody, fields: NonNullable<SetFields['fields']>) {
  const edited = setFields(given, { fields }, environment)
  if (edited.kind === 'refused') throw new Error(edited.message)
  return edited
}

describe('setting fields', () => {
  it('[FIELD-2] known names keep their place, new names follow, and the last value of a repeated name counts', () => {
    const edited = set(library({ a: '1', b: '2' }), [
      { name: 'z', value: 'new' },
      { name: 'b', value: 'first' },
      { name: 'y' },
      { name: ' b ', value: 'last' },
    ])
    expect(edited.result).toEqual({
      set: ['z', 'b', 'y'],
      setCount: 3,
      added: ['z', 'y'],
      updated: ['b'],
      chipsUpdated: 0,
    })
    expect(listFields(edited.body)).toEqual([
      { name: 'a', value: '1' },
      { name: 'b', value: 'last' },
      { name: 'z', value: 'new' },
      { name: 'y', value: '' },
    ])
  })

  it('[FIELD-1] fields are stored by name with their order, and unknown members are kept', () => {
    const edited = set(library({ a: '1' }), [
      { name: 'a', value: '2' },
      { name: 'n', value: '3' },
    ])
    expect(written(edited.body)['fields']).toEqual({
      fields: { a: { name: 'a', value: '2', note: 'kept' }, n: { name: 'n', value: '3' } },
      order: ['a', 'n'],
    })
    expect(written(set(body({}), [{ name: 'n', value: 'v' }]).body)['fields']).toEqual({
      fields: { n: { name: 'n', value: 'v' } },
      order: ['n'],
    })
    expect(written(set(body({ fields: { odd: 1 } }), [{ name: 'n' }]).body)['fields']).toEqual({
      odd: 1,
      fields: { n: { name: 'n', value: '' } },
      order: ['n'],
    })
  })

  it('[FIELD-1] one bad name fails the whole call', () => {
    const bad = ['', '   ', 'a{b', 'a}b', 'a\nb', '\u0085', 'x'.repeat(121), '😀'.repeat(121), '字'.repeat(120)]
    for (const name of bad) {
      const refusal = setFields(library({}), { fields: [{ name: 'fine', value: '1' }, { name }] }, environment)
      expect(refusal).toMatchObject({ kind: 'refused', code: 'ERR_BAD_FIELD_NAME', facts: { index: 1 } })
    }
    expect(set(library({}), [{ name: 'x'.repeat(120) }, { name: '__proto__', value: 'v' }]).result.setCount).toBe(2)
  })

  it('[FIELD-2] a value may have 65,536 bytes', () => {
    expect(set(library({}), [{ name: 'a', value: 'x'.repeat(65_536) }]).result.setCount).toBe(1)
    for (const value of ['x'.repeat(65_537), 'ä'.repeat(32_769)])
      expect(setFields(library({}), { fields: [{ name: 'a', value }] }, environment)).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'fields[0].value' },
      })
  })

  it('[FIELD-2] setting the same values again changes nothing', () => {
    const given = library({ a: '1' }, paragraph('x', chip('a', 'stale')))
    const edited = set(given, [{ name: 'a', value: '1' }])
    expect(edited.body).toBe(given)
    expect(edited.result).toMatchObject({ updated: ['a'], chipsUpdated: 0 })
  })

  it('[FIELD-3] null removes the field, and its chips stay without label', () => {
    const edited = set(library({ a: '1', b: '2' }, paragraph('x', 'now ', chip('a', '1'), chip('b', '2'))), [
      { name: 'a', value: null },
      { name: 'c', value: null },
    ])
    expect(edited.result).toEqual({ set: [], setCount: 0, added: [], updated: [], removedNames: ['a'], chipsUpdated: 1 })
    expect(listFields(edited.body)).toEqual([{ name: 'b', value: '2' }])
    expect(edited.body.prose.pages[0]?.content).toBe(paragraph('x', 'now ', chip('a'), chip('b', '2')))
    expect(edited.warnings).toMatchObject([{ field: 'fields', nearest: ['b'] }])
  })
})

describe('chips of fields', () => {
  it('[FIELD-4] a changed value is shown in every chip with that name on all pages, and other pages keep their bytes', () => {
    const odd = '<P>not canonical <b>x</b></P>'
    const table = `<table><tr><td>${paragraph('t', chip('a', '1'))}</td></tr></table>`
    const given = library({ a: '1', b: '2' }, paragraph('x', chip('a'), chip('b', '2'), chip('a', '1')), odd, table)
    const edited = set(given, [{ name: 'a', value: 'new' }])
    expect(edited.result.chipsUpdated).toBe(3)
    const [first, second, third] = edited.body.prose.pages
    expect(first?.content).toBe(paragraph('x', chip('a', 'new'), chip('b', '2'), chip('a', 'new')))
    expect(second).toBe(given.prose.pages[1])
    expect(third?.content).toBe(table.replace('data-label="1">1', 'data-label="new">new'))
  })

  it('[FIELD-4] a value that makes all chips together too large is refused before writing; a smaller one passes', () => {
    const chips = (count: number) => paragraph('blk-1', ...Array.from({ length: count }, () => chip('a')))
    const value = 'x'.repeat(65_536)
    const call = (given: DocumentBody, text: string) => setFields(given, { fields: [{ name: 'a', value: text }] }, environment)
    expect(call(library({ a: '' }, chips(64), chips(64)), value)).toMatchObject({ result: { chipsUpdated: 128 } })
    const expected = 'values that the chips of the document show with at most 8388608 characters together'
    for (const pages of [[chips(64), chips(65)], [chips(20_000)]])
      expect(call(library({ a: '' }, ...pages), value)).toMatchObject({
        kind: 'refused',
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'fields', expected, got: pages.length === 2 ? 129 * 65_536 : 20_000 * 65_536 },
      })
    const long = chip('a', value)
    const full = library(
      { a: value },
      ...Array.from({ length: 3 }, () => paragraph('blk-1', ...Array.from({ length: 60 }, () => long))),
    )
    expect(call(full, value.slice(1))).toMatchObject({ result: { chipsUpdated: 180 } })
    expect(call(full, value)).toMatchObject({ result: { chipsUpdated: 0 } })
  })

  it('[FIELD-4] chips with an unknown name show the value once a field with this name is added', () => {
    const edited = set(library({}, paragraph('x', chip('a'))), [{ name: 'a', value: 'here' }])
    expect(edited.body.prose.pages[0]?.content).toBe(paragraph('x', chip('a', 'here')))
  })

  it('[FIELD-6] values are never read as markup', () => {
    const value = '<b>"x"</b> & {{a}}\n$y$'
    const edited = set(library({ a: '1' }, paragraph('x', chip('a', '1'))), [{ name: 'a', value }])
    const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    expect(edited.body.prose.pages[0]?.content).toBe(
      `<p id="x"><span data-field data-name="a" data-label="${escaped.replaceAll('"', '&quot;')}">${escaped}</span></p>`,
    )
    expect(listFields(edited.body)).toEqual([{ name: 'a', value }])
  })

  it('[FIELD-5] today and now are set with a warning, and their chips show the UTC time of the write', () => {
    const edited = set(library({}, paragraph('x', chip('today'), chip('now', '08:00'))), [
      { name: 'today', value: 'mine' },
      { name: 'now', value: 'mine' },
    ])
    expect(edited.body.prose.pages[0]?.content).toBe(paragraph('x', chip('today', '2026-11-21'), chip('now', '09:05')))
    expect(edited.warnings).toHaveLength(2)
    expect(listFields(edited.body)[0]).toEqual({ name: 'today', value: 'mine' })
  })

  it('[PROSE-24] repairs of a page that is written are reported as warnings', () => {
    const edited = set(library({ a: '1' }, `${paragraph('x', chip('a', '1'))}<ul></ul>`), [{ name: 'a', value: '2' }])
    expect(edited.warnings).toHaveLength(1)
    expect(edited.fixes).toEqual([])
  })
})

describe('laws of setting fields', () => {
  const field = fc.record({
    name: fc.constantFrom('a', 'b', '10', '__proto__', 'n'),
    value: fc.constantFrom('1', '2', '', null),
  })

  it('[FIELD-2] setting fields twice equals setting them once, and the order names each field once', () => {
    fc.assert(
      fc.property(documentBody, fc.array(field, { minLength: 1, maxLength: 6 }), (given, fields) => {
        const once = set(given, fields)
        expect(set(once.body, fields).body).toBe(once.body)
        const names = listFields(once.body).map(({ name }) => name)
        expect(new Set(names).size).toBe(names.length)
        for (const { name, value } of new Map(fields.map((entry) => [entry.name, entry])).values())
          expect(names.includes(name)).toBe(value !== null)
        expect(once.body.canvas).toBe(given.canvas)
        expect(once.body.references).toBe(given.references)
      }),
      { seed: 7, numRuns: 200 },
    )
  })
})

describe('names to remove', () => {
  const given = library({ a: '1', b: '2' }, paragraph('x', chip('a', '1')))

  it('[AG-81] a name in remove is removed as by a value of null, also when the call sets other fields', () => {
    const removed = setFields(given, { remove: [' a '], fields: [{ name: 'c', value: '3' }] }, environment)
    expect(removed).toEqual(
      setFields(
        given,
        {
          fields: [
            { name: 'c', value: '3' },
            { name: 'a', value: null },
          ],
        },
        environment,
      ),
    )
    expect(removed).toMatchObject({ result: { removedNames: ['a'], set: ['c'] } })
  })

  it('[AG-81] a name that is set and removed, a bad name and an empty call are refused', () => {
    const argument = (args: SetFields) => setFields(given, args, environment)
    expect(argument({ remove: ['a'], fields: [{ name: 'a' }] })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'remove[0]' },
    })
    expect(argument({ remove: ['a}'] })).toMatchObject({ code: 'ERR_BAD_FIELD_NAME' })
    expect(argument({})).toMatchObject({ code: 'ERR_BAD_ARGUMENT', facts: { argument: 'fields' } })
  })
})
