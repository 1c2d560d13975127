import { varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { CLOCK, COLUMNS, OFFSET, type UpdateTable } from './guard-table.ts'

/** Largest number of deleted clocks in one piece. */
const DELETED = 8_192

interface Run {
  readonly client: number
  readonly clock: number
  structs: number
  readonly start: number
  end: number
}

/**
 * An inspected update, split into smaller updates that have the same effect when applied one after another: first the structs, in an order
 * in which each comes after the structs that it refers to, then the deletions. The constructor copies the numbers from the table, so the
 * table can be used for other updates before all pieces are taken. [G9]
 */
export class UpdatePieces {
  private readonly update: Uint8Array
  /** Four numbers per struct, in the order of application: client, clock, and start and end of its bytes in the update. */
  private readonly structs: Float64Array
  /** client, clock, length of each deleted range. */
  private readonly ranges: readonly number[]
  private nextStruct = 0
  private nextRange = 0
  /** How many clocks of the range at `nextRange` are already in earlier pieces. */
  private rangeDone = 0

  constructor(update: Uint8Array, table: UpdateTable, order: readonly number[]) {
    this.update = update
    this.ranges = table.ranges.slice()
    this.structs = new Float64Array(order.length * 4)
    const { cells } = table
    for (let i = 0; i < order.length; i++) {
      const row = order[i] as number
      const block = blockOfRow(table, row)
      const isLast = row + 1 === table.rowEnd(block)
      this.structs[i * 4] = table.blockClient[block] as number
      this.structs[i * 4 + 1] = cells[row * COLUMNS + CLOCK] as number
      this.structs[i * 4 + 2] = cells[row * COLUMNS + OFFSET] as number
      this.structs[i * 4 + 3] = isLast ? blockEndOf(table, block) : (cells[(row + 1) * COLUMNS + OFFSET] as number)
    }
  }

  /** Number of structs not yet returned. */
  get structsLeft(): number {
    return this.structs.length / 4 - this.nextStruct
  }

  /** Returns the next piece, with at most `maxStructs` structs. Returns `null` when all pieces have been returned. */
  next(maxStructs: number): Uint8Array | null {
    if (this.structsLeft > 0) return encode(this.update, this.takeRuns(maxStructs), [])
    const ranges = this.takeRanges()
    return ranges.length === 0 ? null : encode(this.update, [], ranges)
  }

  private takeRuns(maxStructs: number): Run[] {
    const { structs } = this
    const runs = new Map<number, Run>()
    for (let left = Math.min(maxStructs, this.structsLeft); left > 0; left--) {
      const at = this.nextStruct++ * 4
      const client = structs[at] as number
      const run = runs.get(client)
      const end = structs[at + 3] as number
      if (run === undefined)
        runs.set(client, { client, clock: structs[at + 1] as number, structs: 1, start: structs[at + 2] as number, end })
      else {
        run.structs++
        run.end = end
      }
    }
    return [...runs.values()]
  }

  private takeRanges(): (readonly [number, number, number])[] {
    const taken: (readonly [number, number, number])[] = []
    let deleted = 0
    while (deleted < DELETED && this.nextRange < this.ranges.length) {
      const [client, clock, length] = this.ranges.slice(this.nextRange, this.nextRange + 3) as [number, number, number]
      const part = Math.min(length - this.rangeDone, DELETED - deleted)
      taken.push([client, clock + this.rangeDone, part])
      deleted += part
      this.rangeDone += part
      if (this.rangeDone < length) break
      this.rangeDone = 0
      this.nextRange += 3
    }
    return taken
  }
}

function blockOfRow(table: UpdateTable, row: number): number {
  const { blockRow } = table
  let low = 0
  let high = blockRow.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((blockRow[middle] as number) <= row) low = middle
    else high = middle - 1
  }
  return low
}

function blockEndOf(table: UpdateTable, block: number): number {
  return block + 1 < table.blockAt.length ? (table.blockAt[block + 1] as number) : table.deleteSetAt
}

function encode(update: Uint8Array, runs: readonly Run[], ranges: readonly (readonly [number, number, number])[]): Uint8Array {
  let length = varUintLength(runs.length) + varUintLength(ranges.length)
  for (const { client, clock, structs, start, end } of runs)
    length += varUintLength(structs) + varUintLength(client) + varUintLength(clock) + end - start
  for (const [client, clock, count] of ranges) length += varUintLength(client) + 1 + varUintLength(clock) + varUintLength(count)
  const bytes = new Uint8Array(length)
  let at = writeVarUint(bytes, 0, runs.length)
  for (const { client, clock, structs, start, end } of runs) {
    for (const number of [structs, client, clock]) at = writeVarUint(bytes, at, number)
    bytes.set(update.subarray(start, end), at)
    at += end - start
  }
  at = writeVarUint(bytes, at, ranges.length)
  for (const [client, clock, count] of ranges)
    for (const number of [client, 1, clock, count]) at = writeVarUint(bytes, at, number)
  return bytes
}
