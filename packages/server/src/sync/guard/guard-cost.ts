import * as Y from 'yjs'
import { structAt } from './guard-roots.ts'
import {
  CLOCK,
  COLUMNS,
  GC,
  KIND,
  LENGTH,
  ORIGIN_CLIENT,
  ORIGIN_CLOCK,
  PARENT_CLIENT,
  PARENT_CLOCK,
  RIGHT_CLIENT,
  RIGHT_CLOCK,
  SKIP,
  type UpdateTable,
} from './guard-table.ts'

/** An update with fewer structs is applied in one piece, so its worst case is not computed. */
const FEW_STRUCTS = 16
const STRUCT_MS = 0.004
/** Time to pass one item while searching for the place of another, in ms. */
const STEP_MS = 20e-6
const RANGE_MS = 0.002
const DELETED_MS = 0.0003

/** The data of an inspected update and of its room from which the cost is estimated. */
export interface CostView {
  readonly table: UpdateTable
  readonly doc: Y.Doc
  readonly structCount: number
  /** For each block of the update: the clock from which on its structs are new to the room. */
  readonly before: readonly number[]
  blockOf(client: number): number
  rowAt(block: number, clock: number): number
}

/**
 * Estimates the longest time that applying an inspected update may take, in ms. [G9] Yjs finds the place of most structs at once: directly
 * after the previous struct, or where nobody else inserted anything. For any other struct, Yjs may have to pass every item of the list, which
 * makes a small update of many such structs slow. The estimate is often too high for ordinary updates. The only consequence is that such
 * updates are applied in pieces.
 */
export function worstMs(view: CostView): number {
  const { table } = view
  let deleted = 0
  for (let i = 2; i < table.ranges.length; i += 3) deleted += table.ranges[i] as number
  const base = table.structCount * STRUCT_MS + (table.ranges.length / 3) * RANGE_MS + deleted * DELETED_MS
  return table.structCount < FEW_STRUCTS ? base : base + new Walks(view).count() * STEP_MS
}

class Walks {
  private readonly view: CostView
  /** How many structs are placed next to each row of this update. `itemUses` counts the same for each item of the room. */
  private readonly rowUses: Uint32Array
  private readonly itemUses = new Map<string, number>()
  /** The number of structs counted so far for whose place Yjs may have to search. */
  private unsure = 0

  constructor(view: CostView) {
    this.view = view
    this.rowUses = new Uint32Array(view.table.structCount)
  }

  /** Upper bound on the number of items that all searches together pass. */
  count(): number {
    const { table, before } = this.view
    const { cells, blockRow, blockClient } = table
    let steps = 0
    for (let block = 0; block < blockRow.length; block++) {
      const first = blockRow[block] as number
      for (let row = first; row < table.rowEnd(block); row++) {
        const at = row * COLUMNS
        const kind = cells[at + KIND]
        const isKnown = (cells[at + CLOCK] as number) + (cells[at + LENGTH] as number) <= (before[block] as number)
        if (kind === GC || kind === SKIP || isKnown) continue
        if (row === first || !this.followsOn(at, blockClient[block] as number)) steps += this.walk(at)
      }
    }
    return steps
  }

  /** Whether the struct directly follows the previous one and has the same right neighbour, as in typed text and pasted lists. */
  private followsOn(at: number, client: number): boolean {
    const { cells } = this.view.table
    const previous = at - COLUMNS
    return (
      cells[at + ORIGIN_CLIENT] === client &&
      cells[at + ORIGIN_CLOCK] === (cells[at + CLOCK] as number) - 1 &&
      cells[previous + KIND] !== GC &&
      cells[previous + KIND] !== SKIP &&
      this.sameRight(at, previous)
    )
  }

  private sameRight(one: number, other: number): boolean {
    const { cells } = this.view.table
    return cells[one + RIGHT_CLIENT] === cells[other + RIGHT_CLIENT] && cells[one + RIGHT_CLOCK] === cells[other + RIGHT_CLOCK]
  }

  private walk(at: number): number {
    const { cells } = this.view.table
    const origin = cells[at + ORIGIN_CLIENT] as number
    if (origin >= 0) {
      const row = this.newRow(origin, cells[at + ORIGIN_CLOCK] as number)
      if (row < 0) return this.besideItem(at, origin, cells[at + ORIGIN_CLOCK] as number, 'right')
      return this.sameRight(at, row * COLUMNS) ? this.useRow(row) : this.anywhere()
    }
    const right = cells[at + RIGHT_CLIENT] as number
    if (right >= 0) {
      const clock = cells[at + RIGHT_CLOCK] as number
      return this.newRow(right, clock) < 0 ? this.besideItem(at, right, clock, 'left') : this.anywhere()
    }
    const parent = cells[at + PARENT_CLIENT] as number
    const row = parent < 0 ? -1 : this.newRow(parent, cells[at + PARENT_CLOCK] as number)
    return row < 0 ? this.anywhere() : this.useRow(row)
  }

  /** The row of this update that holds the struct; -1 when the room already has it. */
  private newRow(client: number, clock: number): number {
    const block = this.view.blockOf(client)
    return block < 0 || clock < (this.view.before[block] as number) ? -1 : this.view.rowAt(block, clock)
  }

  private useRow(row: number): number {
    const uses = this.rowUses[row] as number
    this.rowUses[row] = uses + 1
    return uses
  }

  /**
   * Returns the steps for a struct placed next to an item of the room. They are few when the struct's other neighbour is still the
   * current one, because then nobody else has inserted there.
   */
  private besideItem(at: number, client: number, clock: number, side: 'left' | 'right'): number {
    const key = `${side}${client}:${clock}`
    const uses = this.itemUses.get(key) ?? 0
    this.itemUses.set(key, uses + 1)
    const item = structAt(this.view.doc, client, clock)
    if (!(item instanceof Y.Item)) return this.anywhere()
    if (side === 'left') return item.id.clock === clock && item.left === null ? uses : this.anywhere()
    // Within an item, the right neighbour is the rest of the same item.
    const isInside = item.id.clock + item.length - 1 > clock
    const isNeighbour = isInside ? this.isRight(at, { client, clock: clock + 1 }) : this.isRight(at, item.right?.id ?? null)
    return isNeighbour ? uses : this.anywhere()
  }

  private isRight(at: number, id: { readonly client: number; readonly clock: number } | null): boolean {
    const { cells } = this.view.table
    if (id === null) return (cells[at + RIGHT_CLIENT] as number) < 0
    return cells[at + RIGHT_CLIENT] === id.client && cells[at + RIGHT_CLOCK] === id.clock
  }

  private anywhere(): number {
    return this.view.structCount + this.unsure++
  }
}
