import { CLOCK, COLUMNS, OFFSET, UpdateTable } from '../guard/guard-table.ts'
import { varUintLength, writeVarUint } from '@docrelay/protocol/bytes'

const WHOLE_BYTES = 8 * 1024 * 1024
const PART_BYTES = 4 * 1024 * 1024

interface Slice {
  readonly client: number
  readonly clock: number
  readonly structs: number
  readonly start: number
  readonly end: number
}

/**
 * Splits an update above 8 MiB into parts of at most about 4 MiB. The last part carries the deletions. A smaller update is returned alone.
 * A struct is never split, so one part may be larger. A part may refer to a later part: a Yjs client keeps such a part pending until the
 * later part arrives. [WS-26]
 */
export function splitUpdate(update: Uint8Array, wholeBytes: number = WHOLE_BYTES, partBytes: number = PART_BYTES): Uint8Array[] {
  if (update.length <= wholeBytes) return [update]
  const table = new UpdateTable()
  try {
    table.read(update, Number.POSITIVE_INFINITY)
  } catch {
    // The room's own state is trusted: when it exceeds the limits for received updates, it is sent whole.
    return [update]
  }
  const parts: Slice[][] = [[]]
  let filled = 0
  for (const slice of slices(table, partBytes)) {
    const bytes = slice.end - slice.start
    if (filled > 0 && filled + bytes > partBytes) {
      parts.push([])
      filled = 0
    }
    ;(parts[parts.length - 1] as Slice[]).push(slice)
    filled += bytes
  }
  return parts.map((part, i) =>
    encodePart(update, part, i === parts.length - 1 ? update.subarray(table.deleteSetAt) : NO_DELETIONS),
  )
}

const NO_DELETIONS = new Uint8Array([0])

function* slices(table: UpdateTable, partBytes: number): Generator<Slice> {
  const { cells } = table
  for (let block = 0; block < table.blockClient.length; block++) {
    const rowEnd = table.rowEnd(block)
    const blockEnd = block + 1 < table.blockClient.length ? (table.blockAt[block + 1] as number) : table.deleteSetAt
    let first = table.blockRow[block] as number
    for (let row = first; row < rowEnd; row++) {
      const start = cells[first * COLUMNS + OFFSET] as number
      const end = row + 1 < rowEnd ? (cells[(row + 1) * COLUMNS + OFFSET] as number) : blockEnd
      if (row + 1 < rowEnd && end - start < partBytes / 4) continue
      yield {
        client: table.blockClient[block] as number,
        clock: cells[first * COLUMNS + CLOCK] as number,
        structs: row + 1 - first,
        start,
        end,
      }
      first = row + 1
    }
  }
}

function encodePart(update: Uint8Array, part: readonly Slice[], deletions: Uint8Array): Uint8Array {
  const blocks = joinNeighbours(part)
  let length = varUintLength(blocks.length) + deletions.length
  for (const block of blocks) {
    length += varUintLength(block.structs) + varUintLength(block.client) + varUintLength(block.clock) + block.end - block.start
  }
  const bytes = new Uint8Array(length)
  let at = writeVarUint(bytes, 0, blocks.length)
  for (const block of blocks) {
    at = writeVarUint(bytes, at, block.structs)
    at = writeVarUint(bytes, at, block.client)
    at = writeVarUint(bytes, at, block.clock)
    bytes.set(update.subarray(block.start, block.end), at)
    at += block.end - block.start
  }
  bytes.set(deletions, at)
  return bytes
}

/** A client may occur only once in an update, so neighbouring slices of one client are joined. */
function joinNeighbours(part: readonly Slice[]): Slice[] {
  const joined: Slice[] = []
  for (const slice of part) {
    const last = joined[joined.length - 1]
    if (last !== undefined && last.client === slice.client)
      joined[joined.length - 1] = { ...last, structs: last.structs + slice.structs, end: slice.end }
    else joined.push(slice)
  }
  return joined
}
