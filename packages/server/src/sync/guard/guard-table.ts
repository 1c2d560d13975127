import { BadBytes, GuardReader } from './guard-reader.ts'

export const MAX_UPDATE_BYTES = 16 * 1024 * 1024
const MAX_CLOCK = 2 ** 32
const MAX_ROOT_NAME_BYTES = 512

/**
 * Limits of the guard. Content of an update that the document already has does not count. The whole state of a document must also pass as
 * one update, so no limit of a document is above the limit of an update. [WS-34, G4, G7]
 */
export interface GuardLimits {
  readonly updateStructs: number
  readonly updateRanges: number
  /** Client ids in an update, and in the document after it. */
  readonly clients: number
  /** Structs in a document after an update that adds some. */
  readonly addedStructs: number
  /**
   * Structs in a document after any update that increases their number. The limit is higher than `addedStructs`, because a deletion may
   * split structs: content of a full document can still be deleted in parts.
   */
  readonly cutStructs: number
  /** Roots with content in a document. */
  readonly roots: number
}

export const GUARD_LIMITS: GuardLimits = {
  updateStructs: 1_000_000,
  updateRanges: 1_000_000,
  clients: 65_536,
  addedStructs: 900_000,
  cutStructs: 1_000_000,
  roots: 10_000,
}

/** Content kinds of Yjs v1, the low five bits of a struct's first byte. */
export const GC = 0
export const DELETED = 1
export const JSON_CONTENT = 2
export const BINARY = 3
export const STRING = 4
export const EMBED = 5
export const FORMAT = 6
export const TYPE = 7
export const ANY = 8
export const SKIP = 10

const NONE = -1

/** The columns of `cells`. Each struct has one row. */
export const CLOCK = 0
export const LENGTH = 1
export const KIND = 2
export const ORIGIN_CLIENT = 3
export const ORIGIN_CLOCK = 4
export const RIGHT_CLIENT = 5
export const RIGHT_CLOCK = 6
/** -1: no parent written; -2 - n: root name n; else the client of the parent item. */
export const PARENT_CLIENT = 7
export const PARENT_CLOCK = 8
/** 1: an entry of a map or an attribute; 0: an element of a list. Only meaningful when a parent is written. */
export const SUB = 9
/** Type ref of a TYPE struct. */
export const TYPE_REF = 10
/** Byte offset of the struct in the update. */
export const OFFSET = 11
/** Filled by `place`: nesting depth of the type that the struct is in. */
export const DEPTH = 12
/** Filled by `place`: 1 when the struct is directly in a prose fragment. */
export const IN_FRAGMENT = 13
export const COLUMNS = 14

/**
 * The columns with references to other structs. A struct must begin at the referenced clock plus the second number, or Yjs splits a struct
 * there: directly behind an origin (1), and at a right neighbour (0). A reference to a parent splits no struct, so its number is unused.
 */
const REFERENCES = [
  [ORIGIN_CLIENT, 1],
  [RIGHT_CLIENT, 0],
  [PARENT_CLIENT, 0],
] as const

const SMALL_ROWS = 256
const KEEP_ROWS = 16_384

/** The content that a document already has. The table leaves it out, so a client may send the whole of a document of any size. [WS-30, WS-34] */
export interface KnownContent {
  /** Number of client ids in the document. */
  readonly clients: number
  /** Returns the clock after the last struct of a client in the document. Returns 0 when the document has no struct of the client. */
  state(client: number): number
  /** Returns whether the document has all these clocks and has deleted them all. */
  isDeleted(client: number, clock: number, length: number): boolean
  /**
   * Returns whether a reference to this clock splits no struct. This is so when a struct begins here, when the document does not have the
   * clock yet, and when the content of the clock has been garbage collected.
   */
  beginsAt(client: number, clock: number): boolean
}

const NOTHING_KNOWN: KnownContent = { clients: 0, state: () => 0, isDeleted: () => false, beginsAt: () => false }

/**
 * The structs and delete ranges of one update that a document does not have yet, as numbers. Filled by one bounded pass over the bytes.
 * [G1..G6, WS-34] A partly known struct has a row. A worker uses one table for all its updates, so reading a small update allocates next to
 * nothing.
 */
export class UpdateTable {
  cells = new Float64Array(SMALL_ROWS * COLUMNS)
  structCount = 0
  /** One entry per client block of the update: the client, the first row of the block, and the clock after its last struct. */
  readonly blockClient: number[] = []
  readonly blockRow: number[] = []
  readonly blockEnd: number[] = []
  /** Byte offset of each block in the update. */
  readonly blockAt: number[] = []
  readonly roots: string[] = []
  /** Three numbers per range: client, clock, length. */
  readonly ranges: number[] = []
  /** Byte offset of the delete set in the update. */
  deleteSetAt = 0
  private readonly reader = new GuardReader()
  private readonly limits: GuardLimits
  private known = NOTHING_KNOWN

  constructor(limits: GuardLimits = GUARD_LIMITS) {
    this.limits = limits
  }

  /** The row after the last row of `block`. */
  rowEnd(block: number): number {
    return block + 1 < this.blockRow.length ? (this.blockRow[block + 1] as number) : this.structCount
  }

  read(bytes: Uint8Array, maxBytes: number = MAX_UPDATE_BYTES, known: KnownContent = NOTHING_KNOWN): void {
    if (bytes.length > maxBytes) throw new BadBytes('too-large')
    this.reset()
    this.known = known
    const reader = this.reader
    reader.reset(bytes)
    const blocks = reader.count(3)
    if (blocks > this.limits.clients + known.clients) throw new BadBytes('count')
    for (let i = 0; i < blocks; i++) this.readBlock()
    this.deleteSetAt = reader.pos
    this.readDeleteSet()
    if (reader.pos !== reader.end) throw new BadBytes('trailing')
    reader.reset(EMPTY)
    this.known = NOTHING_KNOWN
  }

  private reset(): void {
    this.structCount = 0
    empty(this.blockClient)
    empty(this.blockRow)
    empty(this.blockEnd)
    empty(this.blockAt)
    empty(this.ranges)
    if (this.roots.length > 0) this.roots.length = 0
    if (this.cells.length > KEEP_ROWS * COLUMNS) this.cells = new Float64Array(SMALL_ROWS * COLUMNS)
  }

  private readBlock(): void {
    const reader = this.reader
    this.blockAt.push(reader.pos)
    const count = reader.count(1)
    const client = reader.uint()
    const state = this.known.state(client)
    let clock = reader.uint()
    this.blockClient.push(client)
    this.blockRow.push(this.structCount)
    for (let i = 0; i < count; i++) {
      const length = this.readStruct(clock)
      if (length < 1) throw new BadBytes('length')
      clock += length
      if (clock >= MAX_CLOCK) throw new BadBytes('clock')
      // Only leading known rows are dropped, so that the rows of a block stay contiguous in the bytes.
      if (clock <= state && this.structCount - 1 === this.blockRow[this.blockRow.length - 1] && this.isSettled(client))
        this.structCount--
      else if (this.structCount > this.limits.updateStructs) throw new BadBytes('count')
    }
    if (clock >= MAX_CLOCK) throw new BadBytes('clock')
    this.blockEnd.push(clock)
  }

  /**
   * Returns whether Yjs ignores the last row, which the document already has. Yjs does not ignore every such struct: it looks up the
   * references of the struct, splits structs there and waits for missing ones.
   */
  private isSettled(client: number): boolean {
    const { cells, known } = this
    const at = (this.structCount - 1) * COLUMNS
    for (const [column, offset] of REFERENCES) {
      const other = cells[at + column] as number
      if (other < 0) continue
      const clock = cells[at + column + 1] as number
      if (clock >= (other === client ? (cells[at + CLOCK] as number) : known.state(other))) return false
      if (column !== PARENT_CLIENT && !known.beginsAt(other, clock + offset)) return false
    }
    return true
  }

  private readStruct(clock: number): number {
    const reader = this.reader
    const at = this.structCount * COLUMNS
    if (at >= this.cells.length) this.grow()
    const cells = this.cells
    cells[at + OFFSET] = reader.pos
    const info = reader.byte()
    const kind = info & 31
    cells[at + CLOCK] = clock
    cells[at + KIND] = kind
    cells[at + ORIGIN_CLIENT] = NONE
    cells[at + RIGHT_CLIENT] = NONE
    cells[at + PARENT_CLIENT] = NONE
    cells[at + SUB] = 0
    cells[at + TYPE_REF] = NONE
    this.structCount++
    let length: number
    if (kind === GC || kind === SKIP) {
      if (info !== kind) throw new BadBytes('kind')
      length = reader.uint()
    } else {
      if (kind > ANY) throw new BadBytes('kind')
      this.readPlace(at, info)
      length = this.readContent(at, kind)
    }
    cells[at + LENGTH] = length
    return length
  }

  private readPlace(at: number, info: number): void {
    const reader = this.reader
    const cells = this.cells
    if (info & 0x80) {
      cells[at + ORIGIN_CLIENT] = reader.uint()
      cells[at + ORIGIN_CLOCK] = reader.uint()
    }
    if (info & 0x40) {
      cells[at + RIGHT_CLIENT] = reader.uint()
      cells[at + RIGHT_CLOCK] = reader.uint()
    }
    if (info & 0xc0) return
    const parentKind = reader.uint()
    if (parentKind === 1) {
      cells[at + PARENT_CLIENT] = -2 - this.rootNumber()
    } else if (parentKind === 0) {
      cells[at + PARENT_CLIENT] = reader.uint()
      cells[at + PARENT_CLOCK] = reader.uint()
    } else {
      throw new BadBytes('kind')
    }
    if (info & 0x20) {
      cells[at + SUB] = 1
      reader.key()
    }
  }

  private rootNumber(): number {
    const before = this.reader.pos
    const name = this.reader.string()
    if (this.reader.pos - before > MAX_ROOT_NAME_BYTES + 2) throw new BadBytes('root-name')
    if (this.roots.length > 0 && this.roots[this.roots.length - 1] === name) return this.roots.length - 1
    this.roots.push(name)
    return this.roots.length - 1
  }

  private readContent(at: number, kind: number): number {
    const reader = this.reader
    switch (kind) {
      case DELETED:
        return reader.uint()
      case JSON_CONTENT: {
        const count = reader.count(1)
        for (let i = 0; i < count; i++) reader.json(true)
        return count
      }
      case BINARY:
        reader.run()
        return 1
      case STRING:
        return reader.stringUnits()
      case EMBED:
        reader.json(false)
        return 1
      case FORMAT:
        reader.key()
        reader.json(false)
        return 1
      case TYPE: {
        const ref = reader.uint()
        if (ref > 6) throw new BadBytes('kind')
        if (ref === 3 || ref === 5) reader.key()
        this.cells[at + TYPE_REF] = ref
        return 1
      }
      default: {
        const count = reader.count(1)
        for (let i = 0; i < count; i++) reader.any(0)
        return count
      }
    }
  }

  private readDeleteSet(): void {
    const reader = this.reader
    const clients = reader.count(2)
    if (clients > this.limits.clients + this.known.clients) throw new BadBytes('count')
    const ranges = this.ranges
    for (let i = 0; i < clients; i++) {
      const client = reader.uint()
      const count = reader.count(2)
      for (let j = 0; j < count; j++) {
        const clock = reader.uint()
        const length = reader.uint()
        if (length < 1) throw new BadBytes('length')
        if (clock + length >= MAX_CLOCK) throw new BadBytes('clock')
        if (this.known.isDeleted(client, clock, length)) continue
        if (ranges.length / 3 >= this.limits.updateRanges) throw new BadBytes('count')
        ranges.push(client, clock, length)
      }
    }
  }

  private grow(): void {
    const wider = new Float64Array(this.cells.length * 2)
    wider.set(this.cells)
    this.cells = wider
  }
}

const EMPTY = new Uint8Array(0)

/** Empties an array. Setting its length to 0 frees its memory. Popping a few entries keeps the memory for the next update. */
export function empty(numbers: number[]): void {
  if (numbers.length > 64) numbers.length = 0
  else while (numbers.length > 0) numbers.pop()
}
