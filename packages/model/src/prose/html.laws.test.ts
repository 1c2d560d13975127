import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalTrees } from './equal.ts'
import { FixList } from './fixes.ts'
import { heal } from './heal.ts'
import { parseHtml, serialiseHtml } from './html.ts'
import { anyTree, looseNodes, tagSoup } from './testing/arbitrary.ts'
import { violations } from './testing/content-model.ts'

describe('laws of prose HTML', () => {
  it('[PROSE-2] generated pages satisfy the model, as the laws below require', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        expect(violations(tree)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  it('[PROSE-1] [PROSE-6] a page written and read back is equal, without fixes, and writes the same bytes', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const html = serialiseHtml(tree)
        const back = parseHtml(html, { source: 'stored' })
        expect(back.fixes).toEqual([])
        if (!equalTrees(back.tree, tree)) expect(back.tree).toEqual(tree)
        expect(serialiseHtml(back.tree)).toBe(html)
      }),
      { numRuns: 400 },
    )
  })

  it('[PROSE-22] repaired nodes satisfy the model, whatever they were', () => {
    fc.assert(
      fc.property(looseNodes, (nodes) => {
        expect(violations(heal(nodes, new FixList()))).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  it('[PROSE-23] repairing repaired content gives the same object and reports nothing', () => {
    fc.assert(
      fc.property(looseNodes, (nodes) => {
        const healed = heal(nodes, new FixList())
        const fixes = new FixList()
        expect(heal(healed, fixes)).toBe(healed)
        expect(fixes.list).toEqual([])
      }),
      { numRuns: 400 },
    )
  })

  it('[PROSE-6] HTML of a repaired page is read and written back with the same bytes', () => {
    fc.assert(
      fc.property(looseNodes, (nodes) => {
        const html = serialiseHtml(heal(nodes, new FixList()))
        expect(serialiseHtml(parseHtml(html, { source: 'stored' }).tree)).toBe(html)
      }),
      { numRuns: 300 },
    )
  })

  it('[PROSE-10] [PROSE-22] any mix of tags is read as a page of the model whose HTML is stable and needs no fix', () => {
    fc.assert(
      fc.property(tagSoup, fc.constantFrom('call', 'stored'), (html, source) => {
        const { tree } = parseHtml(html, { source: source as 'call' | 'stored' })
        expect(violations(tree)).toEqual([])
        const canonical = serialiseHtml(tree)
        const again = parseHtml(canonical, { source: 'stored' })
        expect(serialiseHtml(again.tree)).toBe(canonical)
        expect(again.fixes).toEqual([])
        const asCall = parseHtml(canonical, { source: 'call' })
        expect(asCall.fixes).toEqual([])
      }),
      { numRuns: 1000 },
    )
  })
})
