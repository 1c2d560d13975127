import type * as Y from 'yjs'
import { type CostView, worstMs } from './guard-cost.ts'
import { UpdatePieces } from './guard-pieces.ts'
import { full, type FullDocument } from './guard-full.ts'
import { BadBytes, type GuardRule } from './guard-reader.ts'
import { KnownDoc, stateOf } from './guard-known.ts'
import { type Container, filledRoots, isFilled, RootUses, rootUse, roomPlace } from './guard-roots.ts'
import {
  CLOCK,
  COLUMNS,
  DEPTH,
  empty,
  GC,
  GUARD_LIMITS,
  type GuardLimits,
  IN_FRAGMENT,
  KIND,
  LENGTH,
  MAX_UPDATE_BYTES,
  ORIGIN_CLIENT,
  ORIGIN_CLOCK,
  PARENT_CLIENT,
  PARENT_CLOCK,
  RIGHT_CLIENT,
  RIGHT_CLOCK,
  SKIP,
  SUB,
  TYPE,
  TYPE_REF,
  UpdateTable,
} from './guard-table.ts'

export type { GuardRule } from './guard-reader.ts'

const MAX_NESTING = 128
/** The data of a room that the guard uses. The guard only reads the document. */
export interface RoomView {
  readonly doc: Y.Doc
  /** Approximate number of structs in the document. */
  readonly structCount: number
}

export type Inspection =
  | FullDocument
  | {
      readonly kind: 'ok'
      /** True when applying the update changes nothing: it adds no struct, and all that it deletes is deleted already. [WS-30] */
      readonly noop: boolean
      /** The update adds at most this many structs to the document. A struct that it splits in two counts as one more. */
      readonly structs: number
      /** Client ids that the document does not have yet. [G4] */
      readonly newClients: number
      /** The longest time that applying the update may take, in ms. [G9] */
      readonly worstMs: number
    }
  /**
   * The update depends on content that the room does not have. `skips` is true when the update itself declares the gap. The step2 of a
   * client with pending structs does so. [WS-32]
   */
  | { readonly kind: 'gap'; readonly skips: boolean }
  /** The update contains content of Y clients that wrote in an earlier lineage of the document id. [WS-62] */
  | { readonly kind: 'former' }
  | { readonly kind: 'bad'; readonly rule: GuardRule }

const FORMER: Inspection = { kind: 'former' }
const GAP: Inspection = { kind: 'gap', skips: false }
const SKIP_GAP: Inspection = { kind: 'gap', skips: true }
const NOBODY: ReadonlySet<number> = new Set()
const NO_BLOCK = -1
const NOWHERE: Container = { depth: 0, fragment: false }

/**
 * Checks an untrusted update against a room before the room is changed. [G1..G8, WS-32..WS-34]
 *
 * An `ok` update applies without leaving anything pending: every struct that it refers to is in the room or can be integrated before, and
 * all content that it deletes is in the room or in the update. Time and memory are bounded by the length of the update, whatever counts it
 * declares. `table` has the update that was inspected last.
 */
export class UpdateGuard {
  private readonly limits: GuardLimits
  readonly table: UpdateTable
  private readonly rootUses = new RootUses()
  private blockOf = new Map<number, number>()
  private readonly reached: number[] = []
  private readonly cursor: number[] = []
  private readonly before: number[] = []
  /** The rows in an order in which they can be integrated. */
  private readonly sequence: number[] = []
  private view: RoomView | null = null
  private skips = false

  constructor(limits: GuardLimits = GUARD_LIMITS) {
    this.limits = limits
    this.table = new UpdateTable(limits)
  }

  /** Inspects an update. Content of the Y clients in `former` is refused. */
  inspect(update: Uint8Array, view: RoomView, former: ReadonlySet<number> = NOBODY): Inspection {
    // A client with nothing to add sends the empty update, `[0, 0]`, as its step2.
    if (update.length === 2 && update[0] === 0 && update[1] === 0) return EMPTY_UPDATE
    this.view = view
    try {
      const known = new KnownDoc(view.doc)
      this.table.read(update, MAX_UPDATE_BYTES, known)
      return former.size > 0 && this.bringsContentOf(former, view) ? FORMER : this.judge(view, known)
    } catch (thrown) {
      if (thrown instanceof BadBytes) return { kind: 'bad', rule: thrown.rule }
      throw thrown
    } finally {
      this.view = null
    }
  }

  private bringsContentOf(clients: ReadonlySet<number>, view: RoomView): boolean {
    const { blockClient, blockEnd } = this.table
    return blockClient.some((client, block) => clients.has(client) && (blockEnd[block] as number) > stateOf(view.doc, client))
  }

  /** Splits the update into pieces. It must be the update that was inspected last, and the inspection must have accepted it. */
  pieces(update: Uint8Array): UpdatePieces {
    return new UpdatePieces(update, this.table, this.sequence)
  }

  private judge(view: RoomView, known: KnownDoc): Inspection {
    this.checkRoots(view)
    if (!this.openBlocks(view)) return this.gap()
    if (!this.order()) return this.gap()
    if (!this.hasDeleted(view)) return this.gap()
    const adds = this.adds()
    const cuts = this.cuts(known)
    const structs = this.table.structCount + cuts
    if (adds && view.structCount + structs > this.limits.addedStructs) return full('structs', this.limits.addedStructs)
    if (cuts > 0 && view.structCount + structs > this.limits.cutStructs) return full('structs', this.limits.cutStructs)
    const newClients = this.newClients()
    if (newClients > this.limits.clients) throw new BadBytes('client-count')
    if (newClients > 0 && known.clients + newClients > this.limits.clients) return full('clientIds', this.limits.clients)
    const noop = !adds && this.table.ranges.length === 0
    const costMs = noop ? 0 : worstMs(this.costView(view))
    return { kind: 'ok', noop, structs, newClients, worstMs: costMs }
  }

  private costView({ doc, structCount }: RoomView): CostView {
    return {
      table: this.table,
      doc,
      structCount,
      before: this.before,
      blockOf: (client) => this.blockOf.get(client) ?? NO_BLOCK,
      rowAt: (block, clock) => this.rowAt(block, clock),
    }
  }

  private gap(): Inspection {
    return this.skips ? SKIP_GAP : GAP
  }

  private checkRoots(view: RoomView): void {
    const { roots } = this.table
    if (roots.length === 0) return
    const { share } = view.doc
    const fresh = new Set<string>()
    for (let row = 0; row < this.table.structCount; row++) {
      const parent = this.table.cells[row * COLUMNS + PARENT_CLIENT] as number
      if (parent <= -2 && !isFilled(share.get(roots[-2 - parent] as string))) fresh.add(roots[-2 - parent] as string)
    }
    if (fresh.size === 0 || share.size + fresh.size <= this.limits.roots) return
    if (filledRoots(view.doc) + fresh.size > this.limits.roots) throw new BadBytes('root-count')
  }

  /** Returns false when a block starts after the room's last clock of that client. */
  private openBlocks(view: RoomView): boolean {
    const { blockClient, blockRow, cells } = this.table
    this.blockOf = new Map()
    this.skips = false
    empty(this.reached)
    empty(this.cursor)
    empty(this.before)
    empty(this.sequence)
    let connected = true
    for (let block = 0; block < blockClient.length; block++) {
      const client = blockClient[block] as number
      if (this.blockOf.has(client)) throw new BadBytes('duplicate')
      this.blockOf.set(client, block)
      const state = stateOf(view.doc, client)
      this.reached.push(state)
      this.before.push(state)
      const first = blockRow[block] as number
      this.cursor.push(first)
      if (first < this.table.rowEnd(block) && (cells[first * COLUMNS + CLOCK] as number) > state) connected = false
    }
    return connected
  }

  /** Orders the structs so that each comes after all structs that it refers to. Returns false when this is impossible in the room. */
  private order(): boolean {
    const blocks = this.reached.length
    for (let block = 0; block < blocks; block++) if (!this.run(block)) return false
    return true
  }

  private run(start: number): boolean {
    // In most updates one client refers only to earlier structs, so the loop below ends after one pass.
    for (;;) {
      if (this.finished(start)) return true
      const step = this.advance(start)
      if (step === 'gap') return false
      if (step !== 'advanced') break
    }
    const stack = [start]
    const until = [Number.POSITIVE_INFINITY]
    const open = new Set([start])
    while (stack.length > 0) {
      const block = stack[stack.length - 1] as number
      const wanted = until[until.length - 1] as number
      const done = (this.reached[block] as number) > wanted
      if (done || this.finished(block)) {
        if (!done && wanted !== Number.POSITIVE_INFINITY) return false
        stack.pop()
        until.pop()
        open.delete(block)
        continue
      }
      const step = this.advance(block)
      if (step === 'gap') return false
      if (step === 'advanced') continue
      // Two blocks that depend on each other can never be integrated. No correct client produces them.
      if (open.has(step.block)) throw new BadBytes('origin')
      stack.push(step.block)
      until.push(step.clock)
      open.add(step.block)
    }
    return true
  }

  private finished(block: number): boolean {
    return (this.cursor[block] as number) >= this.table.rowEnd(block)
  }

  private advance(block: number): 'advanced' | 'gap' | { block: number; clock: number } {
    const { cells, blockClient } = this.table
    const row = this.cursor[block] as number
    const at = row * COLUMNS
    const clock = cells[at + CLOCK] as number
    const kind = cells[at + KIND] as number
    if (clock > (this.reached[block] as number)) return 'gap'
    if (kind === SKIP) {
      this.skips = true
    } else {
      if (kind !== GC) {
        // The room has the first part of the struct. Yjs would join the new rest to whatever the room has in place of this part, which may be
        // garbage collected or moved. The client is asked to send the struct again, split at the room's last clock.
        const before = this.before[block] as number
        if (clock < before && clock + (cells[at + LENGTH] as number) > before) return 'gap'
        const client = blockClient[block] as number
        const unmet =
          this.unmet(at + ORIGIN_CLIENT, client, clock) ??
          this.unmet(at + RIGHT_CLIENT, client, clock) ??
          this.unmet(at + PARENT_CLIENT, client, clock)
        if (unmet !== null) return unmet
        this.place(at, kind)
      }
      this.reached[block] = Math.max(this.reached[block] as number, clock + (cells[at + LENGTH] as number))
    }
    this.cursor[block] = row + 1
    this.sequence.push(row)
    return 'advanced'
  }

  /**
   * Checks the reference whose client is in cell `at` and whose clock is in the next cell. Returns `null` when the referenced struct is
   * available, the block to process first, or `gap`.
   */
  private unmet(at: number, ownClient: number, ownClock: number): null | 'gap' | { block: number; clock: number } {
    const client = this.table.cells[at] as number
    if (client < 0) return null
    const clock = this.table.cells[at + 1] as number
    if (client === ownClient) {
      if (clock >= ownClock) throw new BadBytes('origin')
      return null
    }
    const block = this.blockOf.get(client) ?? NO_BLOCK
    if (block === NO_BLOCK) return clock < stateOf((this.view as RoomView).doc, client) ? null : 'gap'
    if (clock < (this.reached[block] as number)) return null
    return clock < (this.table.blockEnd[block] as number) ? { block, clock } : 'gap'
  }

  /** Finds the type that a struct is in, and throws when that type must not contain it. [G7] */
  private place(at: number, kind: number): void {
    const { cells } = this.table
    const { depth, fragment } = this.containerOf(at)
    if (kind === TYPE && depth >= MAX_NESTING) throw new BadBytes('nesting')
    if (fragment && !fitsFragment(kind, cells[at + TYPE_REF] as number)) throw new BadBytes('root-type')
    cells[at + DEPTH] = depth
    cells[at + IN_FRAGMENT] = fragment ? 1 : 0
  }

  private containerOf(at: number): Container {
    const { cells, roots } = this.table
    const parent = cells[at + PARENT_CLIENT] as number
    if (parent <= -2) {
      const use = rootUse(roots[-2 - parent] as string)
      const isEntry = cells[at + SUB] === 1
      if (use === 'map' ? !isEntry : use !== null && isEntry) throw new BadBytes('root-type')
      return use === 'fragment' ? { depth: 0, fragment: true } : NOWHERE
    }
    if (parent >= 0) {
      const inside = this.placeOf(parent, cells[at + PARENT_CLOCK] as number)
      return { depth: inside.depth + 1, fragment: false }
    }
    const origin = cells[at + ORIGIN_CLIENT] as number
    if (origin >= 0) return this.placeOf(origin, cells[at + ORIGIN_CLOCK] as number)
    return this.placeOf(cells[at + RIGHT_CLIENT] as number, cells[at + RIGHT_CLOCK] as number)
  }

  private placeOf(client: number, clock: number): Container {
    const block = this.blockOf.get(client) ?? NO_BLOCK
    if (block === NO_BLOCK || clock < (this.before[block] as number))
      return roomPlace((this.view as RoomView).doc, client, clock, this.rootUses)
    const { cells } = this.table
    const at = this.rowAt(block, clock) * COLUMNS
    if (cells[at + KIND] === GC) return NOWHERE
    return { depth: cells[at + DEPTH] as number, fragment: cells[at + IN_FRAGMENT] === 1 }
  }

  private rowAt(block: number, clock: number): number {
    const { cells, blockRow } = this.table
    let low = blockRow[block] as number
    let high = this.table.rowEnd(block) - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((cells[middle * COLUMNS + CLOCK] as number) <= clock) low = middle
      else high = middle - 1
    }
    return low
  }

  private adds(): boolean {
    for (let block = 0; block < this.reached.length; block++)
      if ((this.reached[block] as number) > (this.before[block] as number)) return true
    return false
  }

  private newClients(): number {
    let count = 0
    for (let block = 0; block < this.reached.length; block++)
      if (this.before[block] === 0 && (this.reached[block] as number) > 0) count++
    return count
  }

  /** Returns whether all content that the update deletes is in the room or in the update itself. */
  private hasDeleted(view: RoomView): boolean {
    const { ranges } = this.table
    for (let i = 0; i < ranges.length; i += 3) {
      const client = ranges[i] as number
      const block = this.blockOf.get(client) ?? NO_BLOCK
      const end = (ranges[i + 1] as number) + (ranges[i + 2] as number)
      if (end > (block === NO_BLOCK ? stateOf(view.doc, client) : (this.reached[block] as number))) return false
    }
    return true
  }

  /** Returns how many structs, of the room or of the update, applying the update splits in two at most. */
  private cuts(known: KnownDoc): number {
    const { cells, ranges, blockClient } = this.table
    let cuts = 0
    for (let block = 0; block < blockClient.length; block++) {
      const first = this.table.blockRow[block] as number
      for (let row = first; row < this.table.rowEnd(block); row++) {
        const at = row * COLUMNS
        const origin = cells[at + ORIGIN_CLIENT] as number
        const right = cells[at + RIGHT_CLIENT] as number
        const afterOrigin = (cells[at + ORIGIN_CLOCK] as number) + 1
        const followsOn = origin === blockClient[block] && afterOrigin === cells[at + CLOCK]
        if (origin >= 0 && !followsOn && this.isInside(origin, afterOrigin, known)) cuts++
        if (right >= 0 && this.isInside(right, cells[at + RIGHT_CLOCK] as number, known)) cuts++
      }
    }
    for (let i = 0; i < ranges.length; i += 3) {
      const [client, clock, length] = [ranges[i], ranges[i + 1], ranges[i + 2]] as [number, number, number]
      if (this.isInside(client, clock, known)) cuts++
      if (this.isInside(client, clock + length, known)) cuts++
    }
    return cuts
  }

  /** Returns whether a clock is inside a struct and is not its first clock. */
  private isInside(client: number, clock: number, known: KnownDoc): boolean {
    if (clock < known.state(client)) return !known.beginsAt(client, clock)
    const block = this.blockOf.get(client) ?? NO_BLOCK
    if (block === NO_BLOCK || clock >= (this.reached[block] as number)) return false
    return this.table.cells[this.rowAt(block, clock) * COLUMNS + CLOCK] !== clock
  }
}

const EMPTY_UPDATE: Inspection = { kind: 'ok', noop: true, structs: 0, newClients: 0, worstMs: 0 }

/** A prose fragment may contain elements, texts and deleted content. Anything else breaks the clients that render it. */
function fitsFragment(kind: number, typeRef: number): boolean {
  return kind === 1 || (kind === TYPE && (typeRef === 3 || typeRef === 5 || typeRef === 6))
}
