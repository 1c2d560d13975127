import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { body, prosePage } from '../../testing/builders.ts'
import type { EditEnvironment } from '../../edit.ts'
import { completeIds, idsOf } from '../blocks.ts'
import { parseHtml, serialiseHtml } from '../html.ts'
import { anyTable, anyTree } from '../testing/arbitrary.ts'
import { violations } from '../testing/content-model.ts'
import type { TableOpArgs } from './op-args.ts'
import { editTableOfPage, getTable } from './table-edits.ts'

function environment(prefix: string): EditEnvironment {
  let count = 0
  return { nowMs: 0, random: (length) => `${prefix}${++count}`.padStart(length, '-') }
}

const place = fc.nat(3)
const ops: fc.Arbitrary<TableOpArgs> = fc.oneof(
  fc.record({ op: fc.constant('addRow'), row: place }),
  fc.record({ op: fc.constant('addColumn'), col: place }),
  fc.record({ op: fc.constant('deleteRow'), row: place }),
  fc.record({ op: fc.constant('deleteColumn'), col: place }),
  fc.record({ op: fc.constant('mergeCells'), fromRow: place, fromCol: place, toRow: place, toCol: place }),
  fc.record({ op: fc.constant('splitCell'), row: place, col: place }),
  fc.record({ op: fc.constant('toggleHeaderRow') }),
  fc.record({ op: fc.constant('setColumnWidth'), col: place, width: fc.constant(77) }),
)

it('[TABLE-5] [PROSE-44] [PROSE-50] a table op on any page leaves the other blocks byte for byte, and every id in its place', () => {
  fc.assert(
    fc.property(anyTree, anyTable, anyTree, ops, (before, table, after, op) => {
      let count = 0
      const tree = completeIds([...before, table, ...after], () => `blk-own${++count}`)
      const given = body({ richTextPages: [prosePage('p', serialiseHtml(tree))] })
      const outer = tree[before.length]
      const handle = `@${before.length}`
      const edited = editTableOfPage(given, { pageId: 'p', id: handle, expectedVersion: 1, ...op }, environment('n'))
      if (edited.kind === 'refused') return
      const stored = parseHtml(edited.body.prose.pages[0]?.content ?? '', { source: 'stored' })
      expect(stored.fixes).toEqual([])
      expect(violations(stored.tree)).toEqual([])
      expect(stored.tree).toHaveLength(tree.length)
      stored.tree.forEach((block, i) => {
        if (i !== before.length) expect(serialiseHtml([block])).toBe(serialiseHtml([tree[i] as typeof block]))
      })
      const ids = idsOf(stored.tree)
      expect(new Set(ids).size).toBe(ids.length)
      expect(completeIds(stored.tree, () => 'missing')).toBe(stored.tree)
      expect(getTable(edited.body, { pageId: 'p', id: handle })).toEqual({ pageId: 'p', table: edited.result.table })
      if (outer !== undefined && edited.body === given)
        expect(serialiseHtml([stored.tree[before.length] ?? outer])).toBe(serialiseHtml([outer]))
    }),
    { seed: 21, numRuns: 150 },
  )
})
