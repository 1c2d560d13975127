import { completeIds, idsOf } from '@docrelay/model/prose/blocks'
import { serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseElement } from '@docrelay/model/prose/node'
import { readGrid } from '@docrelay/model/prose/tables/grid'
import type { TableOpArgs } from '@docrelay/model/prose/tables/op-args'
import { editTableOfPage } from '@docrelay/model/prose/tables/table-edits'
import { anyTable } from '@docrelay/model/prose/testing/arbitrary'
import { anyTableOp } from '@docrelay/model/prose/testing/arbitrary-table-ops'
import { body, prosePage } from '@docrelay/model/testing/builders'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { page, root, shown, tree } from '../testing/live-page.ts'
import { reconcileFragment } from './prose-fragment.ts'

const anyOp = anyTableOp({
  most: 3,
  side: fc.constantFrom('before', 'after'),
  attrs: { align: fc.constantFrom('left', '') },
  width: fc.constantFrom(0, 77),
})

/** Returns the live element of each block, by id. */
function elements(doc: Y.Doc): ReadonlyMap<string, Y.XmlElement> {
  const found = new Map<string, Y.XmlElement>()
  for (const node of doc.getXmlFragment(root).createTreeWalker(() => true)) {
    const id = node instanceof Y.XmlElement ? node.getAttribute('id') : undefined
    if (id !== undefined) found.set(id, node as Y.XmlElement)
  }
  return found
}

/**
 * Returns the block ids in the cells that an operation leaves in place. Such a cell keeps its kind and content and is not in the deleted row
 * or in the moved row or column.
 */
function staying(before: ProseElement, after: ProseElement, { op, row: at, from }: TableOpArgs): readonly string[] {
  const [old, now] = [before, after].map((table) => readGrid(table).cells)
  const known = new Map((now ?? []).map(({ node }) => [idsOf([node]).join(), node]))
  return (old ?? []).flatMap(({ node, row, col }) => {
    const other = known.get(idsOf([node]).join())
    const isMoved =
      (op === 'deleteRow' && row === at) || (op === 'moveRow' && row === from) || (op === 'moveColumn' && col === from)
    const isSame = other?.type === node.type && serialiseHtml(other.content as never) === serialiseHtml(node.content as never)
    return isSame && !isMoved ? idsOf([node]) : []
  })
}

it('[TABLE-5] [CONC-8] a table op on a live table gives the result of the op and keeps the live blocks of cells that stay', () => {
  let [kept, edits] = [0, 0]
  fc.assert(
    fc.property(anyTable, anyOp, fc.boolean(), (table, op, isAlone) => {
      let count = 0
      const around = isAlone ? [] : tree('<p>above</p>')
      const given = completeIds([...around, table], () => `blk-own${++count}`)
      const content = serialiseHtml(given)
      const environment = { nowMs: 0, random: (length: number) => String(++count).padStart(length, 'n') }
      const start = body({ richTextPages: [prosePage('p', content)] })
      const args = { pageId: 'p', id: `@${around.length}`, expectedVersion: 1, ...op }
      const edited = editTableOfPage(start, args, environment)
      if (edited.kind === 'refused') return
      edits++
      const after = edited.body.prose.pages[0]?.content as string
      const doc = page(content)
      const before = elements(doc)
      const moved = new Set(edited.writtenBlocks)
      doc.transact(() => reconcileFragment(doc.getXmlFragment(root), tree(content), tree(after), undefined, moved))
      expect(shown(doc)).toBe(after)
      const now = elements(doc)
      for (const id of staying(given.at(-1) as ProseElement, tree(after).at(-1) as ProseElement, op)) {
        kept++
        expect(now.get(id) === before.get(id), `${id} of ${content} after ${JSON.stringify(op)}`).toBe(true)
      }
    }),
    { seed: 3, numRuns: 500 },
  )
  expect(edits).toBeGreaterThan(200)
  expect(kept).toBeGreaterThan(400)
})

const rows = (text: string) =>
  `<table>${[...text].map((letter) => `<tr><td><p id="blk-${letter}">${letter}</p></td><td><p id="blk-${letter}2">x</p></td></tr>`).join('')}</table>`
const columns = (text: string) =>
  `<table>${['1', '2'].map((row) => `<tr>${[...text].map((letter) => `<td><p id="blk-${letter}${row}">${letter}</p></td>`).join('')}</tr>`).join('')}</table>`

it.each([
  ['moveRow', rows, 0, 1],
  ['moveRow', rows, 1, 0],
  ['moveRow', rows, 0, 2],
  ['moveRow', rows, 2, 0],
  ['moveColumn', columns, 0, 1],
  ['moveColumn', columns, 1, 0],
  ['moveColumn', columns, 2, 1],
] as const)('[TABLE-7] [CONC-8] %s on a live table recreates only the moved row or column (%#)', (op, table, from, to) => {
  const content = table('abc')
  const start = body({ richTextPages: [prosePage('p', content)] })
  const edited = editTableOfPage(start, { pageId: 'p', op, from, to }, { nowMs: 0, random: () => 'never' })
  if (edited.kind === 'refused') throw new Error(edited.message)
  const doc = page(content)
  const before = elements(doc)
  const after = edited.body.prose.pages[0]?.content as string
  const moved = new Set(edited.writtenBlocks)
  doc.transact(() => reconcileFragment(doc.getXmlFragment(root), tree(content), tree(after), undefined, moved))
  const now = elements(doc)
  const anew = [...before].flatMap(([id, element]) => (now.get(id) === element ? [] : [id[4]]))
  expect(new Set(anew)).toEqual(new Set('abc'[from]))
})
