import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseHtml, serialiseHtml } from '../html.ts'
import type { ProseElement } from '../node.ts'
import { describeTable, readGrid } from './grid.ts'
import { editTable } from './ops.ts'
import { readTableOp, type TableOpArgs } from './op-args.ts'
import { anyTableOp } from '../testing/arbitrary-table-ops.ts'

/**
 * A deliberately simple model of a table: which cell covers each slot. Written from TABLE-1 to TABLE-8 alone and compared with the
 * implementation.
 */
interface Slots {
  readonly by: readonly (readonly Cell[])[]
}

/** A cell without its position. All slots of a merged cell share one object. */
interface Cell {
  readonly tag: 'td' | 'th'
  readonly widths?: readonly number[] | undefined
  readonly scope?: string | undefined
  readonly backgroundColor?: string | undefined
  readonly align?: string | undefined
  readonly content: readonly Block[]
}

interface Block {
  readonly html: string
  readonly text: string
  readonly id?: string
  readonly isBare?: true
}

interface Box {
  readonly top: number
  readonly left: number
  readonly bottom: number
  readonly right: number
}

const bare: Block = { html: '<p></p>', text: '', isBare: true }

/** Kinds of content; `#` is replaced by a unique id. */
const kinds: readonly Block[] = [
  { html: '<p id="blk-#">one</p>', text: 'one', id: 'blk-#' },
  { html: '<p>two  <strong>words</strong></p>', text: 'two words' },
  { html: '<p id="blk-#"></p>', text: '', id: 'blk-#', isBare: true },
  { html: '<h2 id="blk-#"></h2>', text: '', id: 'blk-#', isBare: true },
  { html: '<pre id="blk-#"><code>x = 1</code></pre>', text: 'x = 1', id: 'blk-#' },
  { html: '<ul><li><p id="blk-#">item</p></li></ul>', text: 'item', id: 'blk-#' },
  { html: '<hr>', text: '' },
  { html: '<table><tr><th colspan="2"><p id="blk-#">deep</p></th></tr></table>', text: 'deep', id: 'blk-#' },
]

const cellsOf = ({ by }: Slots): readonly Cell[] => [...new Set(by.flat())]

function boxOf({ by }: Slots, cell: Cell): Box {
  const rows = by.flatMap((row, y) => (row.includes(cell) ? [y] : []))
  const cols = by.flatMap((row) => row.flatMap((other, x) => (other === cell ? [x] : [])))
  return { top: Math.min(...rows), left: Math.min(...cols), bottom: Math.max(...rows), right: Math.max(...cols) }
}

/** Applies `change` to each cell once and returns the slots with the results. */
function replaced(slots: Slots, change: (cell: Cell) => Cell): Slots {
  const made = new Map(cellsOf(slots).map((cell) => [cell, change(cell)]))
  return { by: slots.by.map((row) => row.map((cell) => made.get(cell) as Cell)) }
}

type Answer = Slots | { readonly code: string; readonly facts: object }

function addRow({ by }: Slots, line: number): Slots {
  const [above, below] = [by[line - 1], by[line]]
  const widthOf = (x: number) =>
    by
      .map((row) => row[x] as Cell)
      .map((cell) => cell.widths?.[x - boxOf({ by }, cell).left] ?? 0)
      .find((width) => width > 0)
  const row = (by[0] as readonly Cell[]).map((_, x): Cell => {
    const crossing = above?.[x] !== undefined && above[x] === below?.[x] ? above[x] : undefined
    const width = widthOf(x)
    return crossing ?? { tag: 'td', widths: width === undefined ? undefined : [width], content: [bare] }
  })
  return { by: [...by.slice(0, line), row, ...by.slice(line)] }
}

function addColumn(slots: Slots, col: number, line: number): Slots {
  const crosses = (row: readonly Cell[]) => line > 0 && row[line - 1] === row[line]
  const grown = new Set(slots.by.filter(crosses).map((row) => row[line] as Cell))
  const widened = replaced(slots, (cell) => {
    const at = line - boxOf(slots, cell).left
    return grown.has(cell) ? { ...cell, widths: cell.widths && [...cell.widths.slice(0, at), 0, ...cell.widths.slice(at)] } : cell
  })
  return {
    by: widened.by.map((row) => {
      const own: Cell = crosses(row) ? (row[line] as Cell) : { tag: (row[col] as Cell).tag, content: [bare] }
      return [...row.slice(0, line), own, ...row.slice(line)]
    }),
  }
}

function deleteColumn(slots: Slots, col: number): Slots {
  const narrow = replaced(slots, (cell) => {
    const { left, right } = boxOf(slots, cell)
    if (col < left || right < col || left === right) return cell
    return { ...cell, widths: cell.widths?.filter((_, i) => i !== col - left) }
  })
  return { by: narrow.by.map((row) => row.filter((_, x) => x !== col)) }
}

function merge(slots: Slots, { fromRow, fromCol, toRow, toCol }: Record<string, number>): Answer {
  const at = (y: number, x: number) => slots.by[y]?.[x] as Cell
  const corners = [at(fromRow as number, fromCol as number), at(fromRow as number, toCol as number)]
  corners.push(at(toRow as number, fromCol as number), at(toRow as number, toCol as number))
  const boxes = corners.map((cell) => boxOf(slots, cell))
  const top = Math.min(...boxes.map((box) => box.top))
  const left = Math.min(...boxes.map((box) => box.left))
  const bottom = Math.max(...boxes.map((box) => box.bottom))
  const right = Math.max(...boxes.map((box) => box.right))
  const isIn = (y: number, x: number) => y >= top && y <= bottom && x >= left && x <= right
  const inside = [...new Set(slots.by.flatMap((row, y) => row.filter((_, x) => isIn(y, x))))]
  const cut = inside.find((cell) => slots.by.some((row, y) => row.some((other, x) => other === cell && !isIn(y, x))))
  if (cut !== undefined) {
    const rect = { fromRow: top, fromCol: left, toRow: bottom, toCol: right }
    const box = boxOf(slots, cut)
    const size = { rowspan: box.bottom - box.top + 1, colspan: box.right - box.left + 1 }
    return { code: 'ERR_MERGE_PARTIAL_SPAN', facts: { rect, cell: { row: box.top, col: box.left, ...size } } }
  }
  if (inside.length === 1) return { code: 'ERR_MERGE_SINGLE_CELL', facts: { row: top, col: left } }
  const first = at(top, left)
  const filled = inside.filter(({ content }) => content.length > 1 || content[0]?.isBare !== true)
  const content = filled.length === 0 ? first.content : filled.flatMap((cell) => cell.content)
  const widths = first.widths && Array.from({ length: right - left + 1 }, (_, i) => first.widths?.[i] ?? 0)
  const merged: Cell = { ...first, widths, content }
  return { by: slots.by.map((row, y) => row.map((cell, x) => (isIn(y, x) ? merged : cell))) }
}

function split(slots: Slots, y: number, x: number): Answer {
  const cell = slots.by[y]?.[x] as Cell
  const { top, left, bottom, right } = boxOf(slots, cell)
  if (top === bottom && left === right) return { code: 'ERR_SPLIT_NOT_MERGED', facts: { row: y, col: x } }
  const part = (row: number, col: number): Cell => {
    const width = cell.widths?.[col - left] ?? 0
    return { ...cell, widths: width === 0 ? undefined : [width], content: row === top && col === left ? cell.content : [bare] }
  }
  return { by: slots.by.map((row, r) => row.map((other, c) => (other === cell ? part(r, c) : other))) }
}

function setWidth(slots: Slots, col: number, asked: number): Slots {
  const width = asked === 0 ? 0 : Math.min(2000, Math.max(20, asked))
  return replaced(slots, (cell) => {
    const { left, right } = boxOf(slots, cell)
    if (col < left || right < col) return cell
    const widths = Array.from({ length: right - left + 1 }, (_, i) => (i === col - left ? width : (cell.widths?.[i] ?? 0)))
    return { ...cell, widths: widths.some((own) => own !== 0) ? widths : undefined }
  })
}

function setAttrs(slots: Slots, args: TableOpArgs): Answer {
  const target = slots.by[args.row as number]?.[args.col as number] as Cell
  const allowed = {
    backgroundColor: ['', 'red', '#00ff00'],
    align: ['', 'left', 'center', 'right'],
    scope: ['', 'row', 'colgroup'],
  }
  const wanted = (['backgroundColor', 'align', 'scope'] as const).flatMap((name) => {
    const value = args[name]
    return value === undefined ? [] : [{ name, value }]
  })
  if (wanted.length === 0) return { code: 'ERR_CELL_ATTR', facts: {} }
  const bad = wanted.find(({ name, value }) => (name === 'scope' && target.tag === 'td') || !allowed[name].includes(value))
  if (bad !== undefined) return { code: 'ERR_CELL_ATTR', facts: { attribute: bad.name } }
  const values = Object.fromEntries(wanted.map(({ name, value }) => [name, value === '' ? undefined : value]))
  return replaced(slots, (cell) => (cell === target ? { ...cell, ...values } : cell))
}

function toggle(slots: Slots, isOn: (box: Box) => boolean): Slots {
  const line = new Set(cellsOf(slots).filter((cell) => isOn(boxOf(slots, cell))))
  const isHeader = [...line].every(({ tag }) => tag === 'th')
  return replaced(slots, (cell) => {
    if (!line.has(cell)) return cell
    return isHeader ? { ...cell, tag: 'td', scope: undefined } : { ...cell, tag: 'th' }
  })
}

function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const out = [...list]
  out.splice(to, 0, ...out.splice(from, 1))
  return out
}

/** The expected result of an operation. */
function expected(slots: Slots, args: TableOpArgs): Answer {
  const { by } = slots
  const [rows, cols] = [by.length, by[0]?.length ?? 0]
  const { row = 0, col = 0, from = 0, to = 0, fromRow = 0, toRow = 0, fromCol = 0, toCol = 0 } = args
  const places = args.op === 'moveColumn' ? [row, fromRow, toRow] : [row, fromRow, toRow, from, to]
  const across = args.op === 'moveColumn' ? [from, to] : [col, fromCol, toCol]
  if (Math.max(...places) >= rows || Math.max(...across) >= cols) return { code: 'ERR_CELL_RANGE', facts: { rows, cols } }
  const merges = cellsOf(slots).filter((cell) => by.flat().filter((other) => other === cell).length > 1)
  switch (args.op) {
    case 'addRow':
      return addRow(slots, args.side === 'before' ? row : row + 1)
    case 'addColumn':
      return addColumn(slots, col, args.side === 'before' ? col : col + 1)
    case 'deleteRow':
      return rows === 1 ? { code: 'ERR_TABLE_LAST_ROW', facts: { rows } } : { by: by.filter((_, y) => y !== row) }
    case 'deleteColumn':
      return cols === 1 ? { code: 'ERR_TABLE_LAST_COLUMN', facts: { cols } } : deleteColumn(slots, col)
    case 'mergeCells':
      return merge(slots, { fromRow, fromCol, toRow, toCol })
    case 'splitCell':
      return split(slots, row, col)
    case 'setCellAttrs':
      return setAttrs(slots, args)
    case 'moveRow':
    case 'moveColumn':
      if (merges.length > 0) return { code: 'ERR_TABLE_HAS_MERGES', facts: {} }
      return { by: args.op === 'moveRow' ? moved(by, from, to) : by.map((line) => moved(line, from, to)) }
    case 'toggleHeaderRow':
      return toggle(slots, ({ top }) => top === 0)
    case 'toggleHeaderColumn':
      return toggle(slots, ({ left }) => left === 0)
    default:
      return setWidth(slots, col, args.width ?? 0)
  }
}

function attr(name: string, value: string | number | undefined): string {
  return value === undefined ? '' : ` ${name}="${value}"`
}

function cellHtml(slots: Slots, cell: Cell): string {
  const { top, left, bottom, right } = boxOf(slots, cell)
  const spans =
    attr('colspan', right > left ? right - left + 1 : undefined) + attr('rowspan', bottom > top ? bottom - top + 1 : undefined)
  const background = cell.backgroundColor === undefined ? [] : [`background-color: ${cell.backgroundColor}`]
  const style = [...background, ...(cell.align === undefined ? [] : [`text-align: ${cell.align}`])].join('; ')
  const attrs = spans + attr('colwidth', cell.widths?.join(',')) + attr('scope', cell.scope) + attr('style', style || undefined)
  return `<${cell.tag}${attrs}>${cell.content.map(({ html }) => html).join('')}</${cell.tag}>`
}

/** The cells that start in each row. */
function starting(slots: Slots): readonly (readonly Cell[])[] {
  return slots.by.map((row, y) => [...new Set(row)].filter((cell) => boxOf(slots, cell).top === y))
}

function html(slots: Slots): string {
  const row = (cells: readonly Cell[]) => `<tr>${cells.map((cell) => cellHtml(slots, cell)).join('')}</tr>`
  return `<table>${starting(slots).map(row).join('')}</table>`
}

/** The table as tools show it, without the handles of blocks that have no id. */
function gridOf(table: ProseElement): object {
  const { id: _, ...shown } = describeTable({ table, path: [0], tableIndex: 0, tableCount: 1 }, 'bare')
  const cells = shown.cells.map(({ id, ids: __, ...cell }) => (id === undefined || id.startsWith('@') ? cell : { ...cell, id }))
  return { ...shown, cells }
}

function grid(slots: Slots): object {
  const cells = starting(slots)
    .flat()
    .map((cell) => {
      const { top, left, bottom, right } = boxOf(slots, cell)
      const id = cell.content.find((block) => block.html !== '<hr>')?.id
      const text = cell.content.flatMap((block) => (block.text === '' ? [] : [block.text])).join(' ')
      return {
        row: top,
        col: left,
        tag: cell.tag,
        colspan: right - left + 1,
        rowspan: bottom - top + 1,
        text: text.length > 120 ? `${text.slice(0, 120)}…` : text,
        ...(id !== undefined && { id }),
        ...(cell.widths && { colwidth: cell.widths }),
        ...(cell.backgroundColor !== undefined && { backgroundColor: cell.backgroundColor }),
        ...(cell.align !== undefined && { align: cell.align }),
        ...(cell.scope !== undefined && { scope: cell.scope }),
      }
    })
  return { tableIndex: 0, tableCount: 1, rows: slots.by.length, cols: slots.by[0]?.length, cells }
}

const place = fc.nat(5)
const anyCell: fc.Arbitrary<Cell> = fc
  .record({
    tag: fc.constantFrom('td' as const, 'th' as const),
    width: fc.constantFrom(undefined, undefined, 0, 80, 100.5),
    scope: fc.constantFrom(undefined, 'row', 'colgroup'),
    backgroundColor: fc.constantFrom(undefined, undefined, 'red'),
    align: fc.constantFrom(undefined, undefined, 'center'),
    content: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 2 }),
  })
  .map(({ width, scope, ...cell }) => ({
    ...cell,
    ...(width === undefined ? {} : { widths: [width] }),
    ...(cell.tag === 'th' && scope !== undefined ? { scope } : {}),
  }))

/** Any rectangle of cells, some of them merged, with unique ids. */
const anySlots: fc.Arbitrary<Slots> = fc
  .tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 1, max: 5 }),
    fc.array(anyCell, { minLength: 25, maxLength: 25 }),
    fc.array(fc.record({ fromRow: place, fromCol: place, toRow: place, toCol: place }), { maxLength: 3 }),
  )
  .map(([rows, cols, cells, merges]) => {
    const own = cells.map((cell, i): Cell => {
      const numbered = (text: string, at: number) => text.replace('#', `${i}-${at}`)
      const content = cell.content.map((block, at) => ({
        ...block,
        html: numbered(block.html, at),
        ...(block.id === undefined ? {} : { id: numbered(block.id, at) }),
      }))
      return { ...cell, content }
    })
    let slots: Slots = { by: Array.from({ length: rows }, (_, y) => own.slice(y * cols, (y + 1) * cols)) }
    for (const corners of merges) {
      const answer = expected(slots, { op: 'mergeCells', ...corners })
      if ('by' in answer) slots = answer
    }
    return slots
  })

const values = fc.constantFrom(undefined, '', 'red', 'left', 'row', 'colgroup', 'purplish', '<p>')
const anyArgs = anyTableOp({
  most: 5,
  side: fc.constantFrom('before', 'after', undefined),
  attrs: { backgroundColor: values, align: values, scope: values },
  width: fc.constantFrom(undefined, 0, 1, 20, 100.5, 2000, 9999, -7),
})

function tableOf(slots: Slots): ProseElement {
  const text = html(slots)
  const { tree, fixes } = parseHtml(text, { source: 'stored' })
  expect([fixes, serialiseHtml(tree)]).toEqual([[], text])
  return tree[0] as ProseElement
}

/** The node of each cell, found by the position of the cell in the model. */
function nodesOf(slots: Slots, table: ProseElement): ReadonlyMap<Cell, ProseElement> {
  return new Map(readGrid(table).cells.map(({ row, col, node }) => [slots.by[row]?.[col] as Cell, node]))
}

describe('table ops compared with a simple reference table', () => {
  it('[TABLE-2] [TABLE-3] [TABLE-4] [TABLE-5] [TABLE-7] every op gives the same table and grid, or the same refusal, as the reference, and equal cells stay the same objects', () => {
    const refusals = new Set<string>()
    fc.assert(
      fc.property(anySlots, fc.array(anyArgs, { minLength: 1, maxLength: 6 }), (given, calls) => {
        let slots = given
        let table = tableOf(slots)
        for (const args of calls) {
          const op = readTableOp(args)
          if ('kind' in op) throw new Error(op.message)
          const edited = editTable(table, op)
          const answer = expected(slots, args)
          if (!('by' in answer)) {
            refusals.add(answer.code)
            expect(edited).toMatchObject({ kind: 'refused', ...answer })
            continue
          }
          if (edited.kind === 'refused') throw new Error(`${JSON.stringify(args)}: ${edited.message}`)
          expect(serialiseHtml([edited.table]), JSON.stringify(args)).toBe(html(answer))
          expect(gridOf(edited.table)).toEqual(grid(answer))
          const [before, after] = [nodesOf(slots, table), nodesOf(answer, edited.table)]
          for (const [cell, node] of before) {
            const same = after.get(cell)
            if (same !== undefined && cellHtml(slots, cell) === cellHtml(answer, cell)) expect(same).toBe(node)
          }
          if (html(answer) === html(slots)) expect(edited.table).toBe(table)
          slots = answer
          table = edited.table
        }
      }),
      { seed: 7, numRuns: 1500 },
    )
    expect(refusals.size).toBe(8)
  })
})
