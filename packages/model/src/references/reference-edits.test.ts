import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import type { Edited, EditEnvironment, Refusal } from '../edit.ts'
import type { Json, JsonObject } from '../json.ts'
import { body, prosePage, written } from '../testing/builders.ts'
import { addReferences, type AddReferences } from './add-references.ts'
import { deleteReference } from './delete-reference.ts'
import { listReferences } from './list-references.ts'
import { updateReference, type UpdateReference } from './update-reference.ts'

const environment: EditEnvironment = { nowMs: 0, random: (count) => 'r'.repeat(count) }

const cite = (refId: string) => `<span data-citation data-ref-id="${refId}" data-label="[1]">[1]</span>`
const paragraph = (id: string, ...parts: string[]) => `<p id="${id}">${parts.join('')}</p>`

function library(items: readonly JsonObject[], ...pages: readonly string[]): DocumentBody {
  const ids = items.map(({ id }) => id as string)
  return body({
    references: {
      items: Object.fromEntries(items.map((item) => [item['id'] as string, item])),
      itemOrder: ids,
      style: 'mla',
      note: 'kept',
    },
    richTextPages: pages.map((content, index) => prosePage(`p${index}`, content)),
  })
}

function edited<R>(answer: Edited<R> | Refusal): Edited<R> {
  if (answer.kind === 'refused') throw new Error(answer.message)
  return answer
}
const refusal = <R>(answer: Edited<R> | Refusal) => {
  if (answer.kind === 'edited') throw new Error('the edit was made')
  return { code: answer.code, facts: answer.facts, message: answer.message }
}
const add = (given: DocumentBody, args: AddReferences) => edited(addReferences(given, args, environment))
const update = (given: DocumentBody, args: UpdateReference) => edited(updateReference(given, args, environment))
const stored = (given: DocumentBody): JsonObject => written(given)['references'] as JsonObject

const smith: JsonObject = { id: 'smith', type: 'book', title: 'A', DOI: 'https://doi.org/10.1000/ABC', extra: { deep: [1] } }

describe('adding references', () => {
  it('[REF-1] items are stored by id with their order, and unknown members of library and items are kept', () => {
    const { body: after, result } = add(library([smith]), { items: [{ id: 'jones', type: 'article', odd: { a: null } }] })
    expect(stored(after)).toEqual({
      items: { smith, jones: { id: 'jones', type: 'article', odd: { a: null } } },
      itemOrder: ['smith', 'jones'],
      style: 'mla',
      note: 'kept',
    })
    expect(result).toEqual({ added: ['jones'], addedCount: 1, skipped: 0, duplicates: [] })
    expect(stored(add(body({}), { items: [{ id: 'one', type: 'book' }] }).body)).toEqual({
      items: { one: { id: 'one', type: 'book' } },
      itemOrder: ['one'],
    })
    expect(stored(add(body({ references: { odd: 1 } }), { items: [smith] }).body)).toEqual({
      odd: 1,
      items: { smith },
      itemOrder: ['smith'],
    })
  })

  it('[REF-3] the item resolved from the DOI comes before the given items, and a missing type becomes document', () => {
    const after = add(library([]), {
      doi: '10.1000/x',
      resolved: { id: '10.1000/x', DOI: '10.1000/x', type: 'article-journal' },
      items: [{ id: 'untyped' }, { id: 'ill', type: 7 }, { id: 'blank', type: '' }],
    })
    expect(after.result.added).toEqual(['10.1000/x', 'untyped', 'ill', 'blank'])
    expect(listReferences(after.body).references.map(({ type }) => type)).toEqual([
      'article-journal',
      'document',
      'document',
      'document',
    ])
    expect(after.fixes.map(({ action, field }) => [action, field])).toEqual([
      ['dropped_invalid', 'items[1].type'],
      ['dropped_invalid', 'items[2].type'],
    ])
  })

  it.each<[string, unknown]>([
    ['text', 'smith'],
    ['a list', []],
    ['null', null],
    ['an item without id', { title: 'x' }],
    ['an empty id', { id: '' }],
    ['a blank id', { id: ' ' }],
    ['a number as id', { id: 7 }],
    ['a control character in the id', { id: 'a\u0007' }],
    ['an id of 257 bytes', { id: 'x'.repeat(257) }],
  ])('[REF-3] %s is refused with its index, and nothing is added', (_, item) => {
    expect(refusal(addReferences(library([]), { items: [{ id: 'fine' }, item] }, environment))).toMatchObject({
      code: 'ERR_BAD_REFERENCE',
      facts: { index: 1 },
    })
  })

  it('[REF-3] a call with neither DOI nor items is refused', () => {
    for (const args of [{}, { items: [] }])
      expect(refusal(addReferences(library([]), args, environment))).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        facts: { argument: 'items' },
      })
  })

  it('[REF-4] duplicates are found by DOI before id, in the library and within the call, and the id to cite is returned', () => {
    const { result, body: after } = add(library([smith]), {
      items: [
        { id: 'other', DOI: 'doi:10.1000/abc' },
        { id: 'smith', title: 'another' },
        { id: 'new', DOI: '10.1000/NEW' },
        { id: 'newer', DOI: 'http://dx.doi.org/10.1000/new' },
        { id: 'new' },
      ],
    })
    expect(result).toEqual({
      added: ['new'],
      addedCount: 1,
      skipped: 4,
      duplicates: [
        { id: 'other', existingId: 'smith', by: 'doi' },
        { id: 'smith', existingId: 'smith', by: 'id' },
        { id: 'newer', existingId: 'new', by: 'doi' },
        { id: 'new', existingId: 'new', by: 'id' },
      ],
    })
    expect(listReferences(after).references.map(({ id }) => id)).toEqual(['smith', 'new'])
  })

  it('[REF-4] adding an existing item changes nothing, however often it is repeated', () => {
    const item = fc.record({
      id: fc.constantFrom('a', 'b', 'c', '__proto__'),
      DOI: fc.constantFrom('10.1000/1', '10.1000/2', ''),
    })
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 8 }), (items) => {
        const once = add(library([]), { items })
        const twice = add(once.body, { items })
        expect(twice.body).toBe(once.body)
        expect([twice.result.addedCount, twice.result.skipped]).toEqual([0, items.length])
        expect(once.result.addedCount + once.result.skipped).toBe(items.length)
        expect(listReferences(once.body).references.map(({ id }) => id)).toEqual(once.result.added)
      }),
    )
  })
})

describe('updating a reference', () => {
  it('[REF-6] a patch merges the members of a reference shallowly, and null removes a member', () => {
    const { body: after, result } = update(library([smith, { id: 'z', type: 'book' }]), {
      id: 'smith',
      item: { title: 'B', extra: null, year: 1999, deep: { a: null } },
    })
    const item = { id: 'smith', type: 'book', title: 'B', DOI: 'https://doi.org/10.1000/ABC', year: 1999, deep: { a: null } }
    expect(result).toEqual({ id: 'smith', item })
    expect((stored(after)['items'] as JsonObject)['smith']).toEqual(item)
    expect(stored(after)['itemOrder']).toEqual(['smith', 'z'])
  })

  it('[REF-6] replace exchanges a reference and keeps its id and place', () => {
    const { body: after } = update(library([smith, { id: 'z', type: 'book' }]), {
      id: 'smith',
      item: { title: 'B' },
      replace: true,
    })
    expect(stored(after)).toMatchObject({
      items: { smith: { id: 'smith', title: 'B', type: 'document' } },
      itemOrder: ['smith', 'z'],
    })
    expect(Object.keys((stored(after)['items'] as JsonObject)['smith'] as JsonObject).sort()).toEqual(['id', 'title', 'type'])
  })

  it('[REF-6] updating a reference leaves out and reports another id and a type that is not text; a removed type becomes document', () => {
    const { result, fixes } = update(library([smith]), { id: 'smith', item: { id: 'jones', type: 7, title: 'B' } })
    expect(result.item).toMatchObject({ id: 'smith', type: 'book', title: 'B' })
    expect(fixes.map(({ action, field }) => [action, field])).toEqual([
      ['dropped_invalid', 'item.id'],
      ['dropped_invalid', 'item.type'],
    ])
    expect(update(library([smith]), { id: 'smith', item: { type: null } }).result.item).toMatchObject({ type: 'document' })
  })

  it('[REF-6] updating a reference with a patch without a change leaves the document unchanged', () => {
    const given = library([smith])
    expect(update(given, { id: 'smith', item: { title: 'A', gone: null } }).body).toBe(given)
  })

  it('[REF-6] a DOI of another item is refused with the id of that item; items that already share a DOI may be patched', () => {
    const given = library([smith, { id: 'z', type: 'book' }])
    expect(refusal(updateReference(given, { id: 'z', item: { DOI: '10.1000/abc' } }, environment))).toMatchObject({
      code: 'ERR_REFERENCE_DUPLICATE',
      facts: { existingId: 'smith', doi: '10.1000/abc' },
    })
    const shared = library([smith, { ...smith, id: 'z' }])
    expect(update(shared, { id: 'z', item: { title: 'B' } }).result.item).toMatchObject({ title: 'B' })
    expect(update(shared, { id: 'z', item: { DOI: null } }).result.item).not.toHaveProperty('DOI')
  })

  it('[REF-6] updating an unknown reference is refused with the nearest ids, and so is a patch that is not an object', () => {
    expect(refusal(updateReference(library([smith]), { id: 'smiht', item: {} }, environment))).toMatchObject({
      code: 'ERR_REFERENCE_NOT_FOUND',
      facts: { id: 'smiht', nearest: ['smith'] },
    })
    for (const item of ['x', [], null, 7])
      expect(refusal(updateReference(library([smith]), { id: 'smith', item }, environment)).code).toBe('ERR_BAD_REFERENCE')
  })

  it('[BODY-8] names such as __proto__ are ordinary members and ids', () => {
    const odd = JSON.parse('{"id":"__proto__","type":"book","constructor":"c","__proto__":{"x":1}}') as JsonObject
    const after = add(library([]), { items: [odd] }).body
    const changed = update(after, { id: '__proto__', item: JSON.parse('{"__proto__":null,"constructor":"d"}') as Json })
    expect(JSON.stringify(changed.result.item)).toBe('{"id":"__proto__","type":"book","constructor":"d"}')
    expect(stored(edited(deleteReference(changed.body, { id: '__proto__' }, environment)).body)['itemOrder']).toEqual([])
  })
})

describe('deleting a reference', () => {
  const table = `<table><tbody><tr><td><p id="cell">in a cell ${cite('smith')}</p></td></tr></tbody></table>`
  const prose = [paragraph('one', 'first ', cite('smith'), ' and ', cite('smith')), paragraph('two', cite('other')), table].join(
    '',
  )

  it('[REF-8] deleting a reference removes only this item from items and order', () => {
    const { body: after, result } = edited(
      deleteReference(library([smith, { id: 'z', type: 'book' }], prose), { id: 'z' }, environment),
    )
    expect(stored(after)).toEqual({ items: { smith }, itemOrder: ['smith'], style: 'mla', note: 'kept' })
    expect(result).toEqual({ id: 'z', deleted: true, orphanedCitations: 0 })
  })

  it('[REF-7] an item cited in prose is refused with the count, up to five places and the number of further ones', () => {
    const pages = [prose, Array.from({ length: 4 }, (_, n) => paragraph(`b${n}`, 'again ', cite('smith'))).join('')]
    const { code, facts, message } = refusal(deleteReference(library([smith], ...pages), { id: 'smith' }, environment))
    expect(code).toBe('ERR_REFERENCE_CITED')
    expect(facts).toMatchObject({ count: 7, more: 2 })
    expect(facts['sites']).toEqual([
      { pageId: 'p0', pageName: 'p0', blockId: 'one', text: 'first [1] and [1]' },
      { pageId: 'p0', pageName: 'p0', blockId: 'one', text: 'first [1] and [1]' },
      { pageId: 'p0', pageName: 'p0', blockId: 'cell', text: 'in a cell [1]' },
      { pageId: 'p1', pageName: 'p1', blockId: 'b0', text: 'again [1]' },
      { pageId: 'p1', pageName: 'p1', blockId: 'b1', text: 'again [1]' },
    ])
    expect(message).toMatch(/cited 7 times: page p0 block one .* and 2 more\. Remove the citations, or pass force/)
  })

  it('[REF-8] force deletes a cited item, counts the unresolved citations and writes no prose', () => {
    const given = library([smith], prose)
    const { body: after, result } = edited(deleteReference(given, { id: 'smith', force: true }, environment))
    expect(result).toEqual({ id: 'smith', deleted: true, orphanedCitations: 3 })
    expect(after.prose).toBe(given.prose)
  })

  it('[REF-7] text that resembles a citation does not count', () => {
    const code = '<pre><code>&lt;span data-citation data-ref-id="smith"&gt;</code></pre>'
    const bibliography = '<div data-bibliography><p data-citation-text>smith</p></div>'
    expect(
      edited(deleteReference(library([smith], code + bibliography), { id: 'smith' }, environment)).result.orphanedCitations,
    ).toBe(0)
  })

  it('[REF-7] deleting an unknown reference is refused', () => {
    expect(refusal(deleteReference(body({}), { id: 'x' }, environment))).toMatchObject({
      code: 'ERR_REFERENCE_NOT_FOUND',
      facts: { id: 'x', nearest: [] },
    })
  })
})
