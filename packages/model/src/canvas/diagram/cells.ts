import type { Point } from '../geometry/bounds.ts'
import { at } from './at.ts'
import type { DiagramEdge, DiagramNode } from './diagram.ts'
import { reachOfLoops } from './loop.ts'

/** The widths of the gaps between columns (`across`) and rows (`down`), with one before the first and one behind the last. */
export interface GapSizes {
  readonly across: ArrayLike<number>
  readonly down: ArrayLike<number>
}

/** The nodes of a grid in their cells. */
export interface Cells {
  readonly centres: Point[]
  readonly places: readonly CellPlace[]
  /** The coordinate at which each gap begins: the gap before each column and row, and the gap behind the last one. */
  readonly gapStarts: { readonly across: readonly number[]; readonly down: readonly number[] }
}

export type CellPlace = readonly [column: number, row: number]

/** Returns the column and row of each node of a grid: row by row in input order or, for LR, column by column. [DIAG-8] */
export function placesOf(count: number, direction: 'TB' | 'LR'): { places: CellPlace[]; columns: number; rows: number } {
  const columns = Math.ceil(Math.sqrt(count))
  const rows = Math.ceil(count / columns)
  const places = Array.from(
    { length: count },
    (_, node): CellPlace =>
      direction === 'LR' ? [Math.floor(node / rows), node % rows] : [node % columns, Math.floor(node / columns)],
  )
  return { places, columns, rows }
}

/** Puts the nodes of a grid into their cells. A column is as wide as its widest node, a row as high as its highest, with room for loops behind. */
export function cellsOf(
  nodes: readonly DiagramNode[],
  edges: readonly DiagramEdge[],
  direction: 'TB' | 'LR',
  sizes: GapSizes,
): Cells {
  const { places, columns, rows } = placesOf(nodes.length, direction)
  const loops = new Int32Array(nodes.length)
  for (const { from, to } of edges) if (from === to) loops[from] = at(loops, from) + 1
  const [widths, heights] = [new Int32Array(columns), new Int32Array(rows)]
  const reaches = [new Int32Array(columns), new Int32Array(rows)] as const
  nodes.forEach(({ width, height }, node) => {
    const [column, row] = at(places, node)
    const reach = reachOfLoops(at(loops, node))
    widths[column] = Math.max(at(widths, column), width)
    heights[row] = Math.max(at(heights, row), height)
    reaches[0][column] = Math.max(at(reaches[0], column), reach)
    reaches[1][row] = Math.max(at(reaches[1], row), reach)
  })
  const across = linesOf(widths, reaches[0], sizes.across)
  const down = linesOf(heights, reaches[1], sizes.down)
  const centres = places.map(([column, row]) => ({ x: at(across.middles, column), y: at(down.middles, row) }))
  return { centres, places, gapStarts: { across: across.starts, down: down.starts } }
}

/** Equal gaps between all columns and equal gaps between all rows, wide enough for every label; no gap before the first or behind the last. [DIAG-12] */
export function evenGaps(count: number, direction: 'TB' | 'LR', gap: number, edges: readonly DiagramEdge[]): GapSizes {
  const { columns, rows } = placesOf(count, direction)
  const even = (lines: number, size: number) =>
    Array.from({ length: lines + 1 }, (_, i) => (i === 0 || i === lines ? 0 : Math.max(gap, size + 2 * BESIDE_LABEL)))
  const widest = Math.max(0, ...edges.map(({ label }) => label?.width ?? 0))
  const highest = Math.max(0, ...edges.map(({ label }) => label?.height ?? 0))
  return { across: even(columns, widest), down: even(rows, highest) }
}

/** The distance between a label and the nodes beside it. */
const BESIDE_LABEL = 8

/** Where the middle of each row or column is, and where the gaps around it begin. */
function linesOf(sizes: Int32Array, reaches: Int32Array, gaps: ArrayLike<number>): { middles: number[]; starts: number[] } {
  let edge = 0
  const [middles, starts]: [number[], number[]] = [[], [0]]
  sizes.forEach((size, i) => {
    edge += at(gaps, i)
    middles.push(edge + size / 2)
    edge += size + at(reaches, i)
    starts.push(edge)
  })
  return { middles, starts }
}
