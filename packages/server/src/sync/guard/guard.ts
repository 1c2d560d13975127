import type * as Y from 'yjs'
import { BadBytes, type GuardRule } from './guard-reader.ts'
import { type Container, rootUse, roomPlace } from './guard-roots.ts'
import {
  CLOCK,
  COLUMNS,
  DEPTH,
  empty,
  GC,
  IN_FRAGMENT,
  KIND,
  LENGTH,
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
const MAX_ROOTS = 10_000
export const MAX_ROOM_STRUCTS = 1_000_000

/** What the guard needs to see of a room; the document is only read. */
export interface RoomView {
  readonly doc: Y.Doc
  /** About how many structs the document holds. */
  readonly structCount: number
}

export type Inspection =
  | {
      readonly kind: 'ok'
      /** Adds no struct and deletes nothing that is not deleted: applying it changes nothing. [WS-30] */
      readonly noop: boolean
      readonly structs: number
      /** Client ids the document has not seen. [G4] */
      readonly newClients: number
    }
  /** Depends on content the room does not hold. `skips`: it says so itself, as a step2 of a client with pending structs does. [WS-32] */
  | { readonly kind: 'gap'; readonly skips: boolean }
  | { readonly kind: 'bad'; readonly rule: GuardRule }

const GAP: Inspection = { kind: 'gap', skips: false }
const SKIP_GAP: Inspection = { kind: 'gap', skips: true }
const NO_BLOCK = -1
const NOWHERE: Container = { depth: 0, fragment: false }

/**
 * Judges an untrusted update against a room before anything touches the room. [G1..G8, WS-32..WS-34]
 *
 * An `ok` update applies without leaving anything pending: every struct it names is known or comes in an order that can be integrated, and
 * every deletion is of known content. Bounded in time and memory by the length of the update, whatever it declares.
 */
export class UpdateGuard {
  private readonly table = new UpdateTable()
  private readonly blockOf = new Map<number, number>()
  private readonly reached: number[] = []
  private readonly cursor: number[] = []
  private readonly before: number[] = []
  private view: RoomView | null = null
  private skips = false

  inspect(update: Uint8Array, view: RoomView): Inspection {
    // What a client with nothing to say sends as its step2.
    if (update.length === 2 && update[0] === 0 && update[1] === 0) return EMPTY_UPDATE
    this.view = view
    try {
      this.table.read(update)
      return this.judge(view)
    } catch (thrown) {
      if (thrown instanceof BadBytes) return { kind: 'bad', rule: thrown.rule }
      throw thrown
    } finally {
      this.view = null
    }
  }

  private judge(view: RoomView): Inspection {
    this.checkRoots(view)
    if (!this.openBlocks(view)) return this.gap()
    if (!this.order()) return this.gap()
    const adds = this.adds()
    if (adds && view.structCount + this.table.structCount > MAX_ROOM_STRUCTS) throw new BadBytes('room-full')
    const deletes = this.checkRanges(view)
    if (deletes === 'gap') return this.gap()
    return { kind: 'ok', noop: !adds && deletes === 'known', structs: this.table.structCount, newClients: this.newClients() }
  }

  private gap(): Inspection {
    return this.skips ? SKIP_GAP : GAP
  }

  private checkRoots(view: RoomView): void {
    const { roots } = this.table
    if (roots.length === 0) return
    const fresh = new Set<string>()
    for (const name of roots) if (!view.doc.share.has(name)) fresh.add(name)
    if (fresh.size > 0 && view.doc.share.size + fresh.size > MAX_ROOTS) throw new BadBytes('root-count')
  }

  /** False when a block starts above what the room holds. */
  private openBlocks(view: RoomView): boolean {
    const { blockClient, blockRow, cells } = this.table
    this.blockOf.clear()
    this.skips = false
    empty(this.reached)
    empty(this.cursor)
    empty(this.before)
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

  /** Walks the structs in an order in which each finds what it refers to; false when none exists in this room. */
  private order(): boolean {
    const blocks = this.reached.length
    for (let block = 0; block < blocks; block++) if (!this.run(block)) return false
    return true
  }

  private run(start: number): boolean {
    // Most updates are of one client and refer back only.
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
      // Two blocks that wait for each other can never be integrated; no honest client makes such a pair.
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
        // Yjs joins the new rest of a struct to what the room made of its known part, which may be collected or lie elsewhere: it is to be
        // sent anew, cut where the room ends.
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
    return 'advanced'
  }

  /** A reference whose client is in cell `at` and its clock in the next one. */
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

  /** Finds what type a struct sits in, and refuses what that type must not hold. [G7] */
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
    if (block === NO_BLOCK || clock < (this.before[block] as number)) return roomPlace((this.view as RoomView).doc, client, clock)
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

  private checkRanges(view: RoomView): 'gap' | 'known' | 'new' {
    const { ranges } = this.table
    let outcome: 'known' | 'new' = 'known'
    for (let i = 0; i < ranges.length; i += 3) {
      const client = ranges[i] as number
      const clock = ranges[i + 1] as number
      const end = clock + (ranges[i + 2] as number)
      const state = stateOf(view.doc, client)
      const block = this.blockOf.get(client) ?? NO_BLOCK
      if (end > (block === NO_BLOCK ? state : (this.reached[block] as number))) return 'gap'
      if (outcome === 'known' && (end > state || !allDeleted(view.doc, client, clock, end))) outcome = 'new'
    }
    return outcome
  }
}

const EMPTY_UPDATE: Inspection = { kind: 'ok', noop: true, structs: 0, newClients: 0 }

/** Next clock of a client in a document, 0 when it has none. */
export function stateOf(doc: Y.Doc, client: number): number {
  const structs = doc.store.clients.get(client)
  if (structs === undefined) return 0
  const last = structs[structs.length - 1] as Y.Item | Y.GC
  return last.id.clock + last.length
}

function allDeleted(doc: Y.Doc, client: number, clock: number, end: number): boolean {
  const structs = doc.store.clients.get(client) as (Y.Item | Y.GC)[]
  let low = 0
  let high = structs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((structs[middle] as Y.Item | Y.GC).id.clock <= clock) low = middle
    else high = middle - 1
  }
  for (let i = low; i < structs.length; i++) {
    const struct = structs[i] as Y.Item | Y.GC
    if (struct.id.clock >= end) return true
    if (!struct.deleted) return false
  }
  return true
}

/** A prose fragment holds elements, texts and what is left of deleted ones; anything else breaks the clients that render it. */
function fitsFragment(kind: number, typeRef: number): boolean {
  return kind === 1 || (kind === TYPE && (typeRef === 3 || typeRef === 5 || typeRef === 6))
}
