import * as Y from 'yjs'
import { type DeletedRanges, placeOf } from './arrivals.ts'
import { type CharId, nameOf } from './block-text.ts'
import { readRemovals, type Removal, type Successor } from './removal.ts'
import { type Note, type NotedSpot, readNotes, writeNotes } from './removal-notes.ts'

/** A removed block that is still remembered. */
export interface RemovedBlock {
  /** Identifies the block in notes. */
  readonly number: number
  readonly atMs: number
  /** The text of the block before the removal; of a longer text, the last 2,000 characters. */
  readonly words: string
  /** The length of the whole text of the block before the removal. */
  readonly length: number
  readonly anchor: CharId
  readonly root: string
  /**
   * The block that replaced this block; `null` until there is such a block. A paragraph that is made later for late words becomes the
   * successor.
   */
  successor: Successor | null
  /** For a block that a client made inside a removed container: the removed block behind which it stands. `null` for all other blocks. */
  readonly beside: RemovedBlock | null
}

/** The place of a character: at an offset of a removed block, or behind the first `behind` characters of a late word. */
export type Spot =
  | { readonly kind: 'block'; readonly block: RemovedBlock; readonly offset: number }
  | { readonly kind: 'word'; readonly block: RemovedBlock; readonly word: LateWord; readonly behind: number }

/**
 * Characters that came late, and the spot at which their writer typed them. `target`: the first of the characters that the relay has written
 * in their place; `null` until then.
 */
export interface LateWord extends CharId {
  readonly length: number
  /** Empty for an item that is not text, such as a change of formatting. */
  readonly text: string
  readonly spot: Spot
  /** The offset of the word in the removed block. A word that was typed behind another late word has the offset of that word. */
  readonly offset: number
  target: CharId | null
}

type Entry = CharId & { readonly length: number } & (
    | { readonly block: RemovedBlock; readonly offset: number; readonly visible: boolean; readonly word?: undefined }
    | { readonly word: LateWord }
  )

/** Letters in a row that a client deleted from a removed block. `offset`: the place of the first letter in the block. */
export interface DeletedRun extends CharId {
  readonly length: number
  readonly offset: number
}

/** Letters of a late word that their writer has deleted again. */
export interface LateDeletion {
  readonly word: LateWord
  /** The number of letters of the word before the deleted letters. */
  readonly from: number
  readonly length: number
}

export const KEPT_MS = 60_000
/** The maximum number of remembered blocks. A page has fewer blocks, and one write may replace all of them while people type. */
export const MOST_BLOCKS = 10_000
const MOST_RUNS = 100_000

/**
 * Remembers the blocks that the relay removed from one document in the last 60 s, by the names of their characters. Bounded by `most` blocks
 * and 100,000 runs of characters. [AG-110]
 */
export class RemovedBlocks {
  private blocks: RemovedBlock[] = []
  /** By Y client: the remembered runs of characters, in the order of their clocks. */
  private readonly runs = new Map<number, Entry[]>()
  private runCount = 0
  /** By the name of a text or an element: the spot at its start. `ends` has the spot at its end. */
  private readonly starts = new Map<string, Spot>()
  private readonly ends = new Map<string, Spot>()
  private nextNumber = 0
  /** The notes made since the last `takeNotes`. */
  private notes: Note[] = []
  private readonly most: number

  /** @param most the maximum number of remembered blocks */
  constructor(most = MOST_BLOCKS) {
    this.most = most
  }

  /** Restores the memory from the notes that were stored with the records of a log, in their order. All blocks count as removed at `nowMs`. */
  static restored(stored: readonly string[], nowMs: number): RemovedBlocks {
    const removed = new RemovedBlocks()
    for (const text of stored) for (const note of readNotes(text)) removed.recall(note, nowMs)
    removed.notes = []
    removed.keepNewest(removed.most)
    removed.forgetManyRuns()
    return removed
  }

  /** Returns the notes made since the last call, as text; `null` when there are none. */
  takeNotes(): string | null {
    if (this.notes.length === 0) return null
    const text = writeNotes(this.notes)
    this.notes = []
    return text
  }

  private recall(note: Note, nowMs: number): void {
    switch (note.kind) {
      case 'removed':
        this.nextNumber = note.number
        return this.add(note.removal, nowMs)
      case 'came': {
        const spot = this.spotOf(note.at)
        if (spot === null) return
        const { client, clock, length, text } = note
        this.note({ client, clock, length, text, spot })
        if (note.type === undefined) return
        this.nextNumber = note.type.number
        this.noteType({ client, clock }, note.type.isBlock, spot)
        return
      }
      case 'moved': {
        const block = this.blocks.find(({ number }) => number === note.number)
        return block && this.noteMoved(note, block, note.offset)
      }
      case 'placed': {
        const word = this.entryOf(note.word)?.word
        return word && this.placed(word, note.target)
      }
      case 'replaced': {
        const block = this.blocks.find(({ number }) => number === note.number)
        return block && this.replaced(block, note.element)
      }
    }
  }

  private spotOf(at: NotedSpot): Spot | null {
    if (at.kind === 'word') {
      const word = this.entryOf(at.word)?.word
      return word === undefined ? null : { kind: 'word', block: word.spot.block, word, behind: at.behind }
    }
    const block = this.blocks.find(({ number }) => number === at.number)
    return block === undefined ? null : { kind: 'block', block, offset: at.offset }
  }

  get isEmpty(): boolean {
    return this.blocks.length === 0
  }

  remember(transaction: Y.Transaction, nowMs: number): void {
    this.expire(nowMs)
    for (const removal of readRemovals(transaction, this.most)) this.add(removal, nowMs)
    this.keepNewest(this.most)
    this.forgetManyRuns()
  }

  private keepNewest(most: number): void {
    if (this.blocks.length <= most) return
    const kept = new Set(most === 0 ? [] : this.blocks.slice(-most))
    this.keep((block) => kept.has(block))
  }

  private forgetManyRuns(): void {
    while (this.runCount > MOST_RUNS && this.blocks.length > 0) this.keepNewest(Math.floor(this.blocks.length / 2))
    if (this.runCount <= MOST_RUNS) return
    // The remaining entries are late characters and nodes of blocks that are forgotten already.
    for (const known of [this.runs, this.starts, this.ends]) known.clear()
    this.runCount = 0
  }

  private add(removal: Removal, atMs: number): void {
    const { words, length, gone, elements, anchor, root, successor } = removal
    const number = this.nextNumber++
    const block: RemovedBlock = { number, atMs, words, length, anchor, root, successor, beside: null }
    this.blocks.push(block)
    this.notes.push({ kind: 'removed', number, removal })
    for (const { id, offset, end, runs } of gone) {
      this.starts.set(nameOf(id), { kind: 'block', block, offset })
      this.ends.set(nameOf(id), { kind: 'block', block, offset: end })
      for (const run of runs) this.push({ ...run, block })
    }
    for (const id of elements) this.starts.set(nameOf(id), { kind: 'block', block, offset: 0 })
  }

  private push(entry: Entry): void {
    this.runCount++
    const entries = this.runs.get(entry.client)
    if (entries === undefined) this.runs.set(entry.client, [entry])
    else entries.splice(placeOf(entries, entry.clock), 0, entry)
  }

  expire(nowMs: number): void {
    const [first] = this.blocks
    if (first !== undefined && nowMs - first.atMs > KEPT_MS) this.keep(({ atMs }) => nowMs - atMs <= KEPT_MS)
  }

  /** Forgets all blocks for which `holds` returns false, and all late characters and nodes of these blocks. */
  keep(holds: (block: RemovedBlock) => boolean): void {
    const kept = new Set(this.blocks.filter(holds))
    if (kept.size === this.blocks.length) return
    this.blocks = this.blocks.filter((block) => kept.has(block))
    const blockOf = (entry: Entry): RemovedBlock => (entry.word === undefined ? entry.block : entry.word.spot.block)
    this.runCount = 0
    for (const [client, entries] of this.runs) {
      const left = entries.filter((entry) => kept.has(blockOf(entry)))
      this.runCount += left.length
      if (left.length === 0) this.runs.delete(client)
      else this.runs.set(client, left)
    }
    for (const spots of [this.starts, this.ends]) for (const [name, { block }] of spots) if (!kept.has(block)) spots.delete(name)
  }

  /** Notes late characters, so that characters typed behind them are found too. */
  note(given: Omit<LateWord, 'target' | 'offset'>): LateWord {
    const { spot } = given
    const word: LateWord = { ...given, offset: spot.kind === 'block' ? spot.offset : spot.word.offset, target: null }
    const { client, clock, length, text } = word
    this.push({ client, clock, length, word })
    this.notes.push({ kind: 'came', client, clock, length, text, at: notedSpot(word.spot) })
    this.forgetManyRuns()
    return word
  }

  /** Notes letters that Enter moved from a removed block into a new block. */
  noteMoved({ client, clock, length }: CharId & { readonly length: number }, block: RemovedBlock, offset: number): void {
    this.push({ client, clock, length, block, offset, visible: true })
    this.notes.push({ kind: 'moved', client, clock, length, number: block.number, offset })
    this.forgetManyRuns()
  }

  /** Returns the deleted characters of removed blocks, by block and in order. Leaves out characters that were invisible before the removal. */
  runsIn(deleted: DeletedRanges): ReadonlyMap<RemovedBlock, readonly DeletedRun[]> {
    const found = new Map<RemovedBlock, DeletedRun[]>()
    for (const [client, ranges] of deleted.clients) {
      const entries = this.runs.get(client) ?? []
      for (const { clock, len } of entries.length === 0 ? [] : ranges)
        for (let i = Math.max(0, placeOf(entries, clock) - 1); i < entries.length; i++) {
          const entry = entries[i] as Entry
          if (entry.clock >= clock + len) break
          const [from, to] = [Math.max(clock, entry.clock), Math.min(clock + len, entry.clock + entry.length)]
          if (entry.word !== undefined || !entry.visible || to <= from) continue
          const run = { client, clock: from, length: to - from, offset: entry.offset + from - entry.clock }
          const runs = found.get(entry.block)
          if (runs === undefined) found.set(entry.block, [run])
          else runs.push(run)
        }
    }
    for (const runs of found.values()) runs.sort((a, b) => a.offset - b.offset)
    return found
  }

  /**
   * Returns the late letters that their writer has deleted. A client that has got the removal of a block sends all letters in the block as
   * deleted. So when `deleted` contains the removal of a block, no letter of the block counts as deleted by hand.
   */
  lettersIn(deleted: DeletedRanges): readonly LateDeletion[] {
    const found: LateDeletion[] = []
    for (const [client, ranges] of deleted.clients) {
      const entries = this.runs.get(client) ?? []
      for (const { clock, len } of entries.length === 0 ? [] : ranges)
        for (let i = Math.max(0, placeOf(entries, clock) - 1); i < entries.length; i++) {
          const { word, clock: start, length: all } = entries[i] as Entry
          if (start >= clock + len) break
          const [from, to] = [Math.max(0, clock - start), Math.min(all, clock + len - start)]
          if (word !== undefined && word.text !== '' && to > from && !Y.isDeleted(deleted, word.spot.block.anchor as Y.ID))
            found.push({ word, from, length: to - from })
        }
    }
    return found
  }

  /** Returns the character of the successor that replaced a character of a removed block; `null` when no character did. */
  heirOf(id: CharId): CharId | null {
    const entry = this.entryOf(id)
    if (entry === null || entry.word !== undefined || !entry.visible || entry.block.successor === null) return null
    const { length: oldLength, successor } = entry.block
    const { length, ends, runs } = successor
    const old = entry.offset + id.clock - entry.clock
    const isInEnd = old >= oldLength - ends.end
    if (old >= ends.start && !isInEnd) return null
    const offset = isInEnd ? old + length - oldLength : old
    const run = runs.find((one) => one.offset <= offset && offset < one.offset + one.length)
    return run === undefined ? null : { client: run.client, clock: run.clock + offset - run.offset }
  }

  /** Notes a node that a client made inside a removed container: a text of a block, or a whole new block. Returns the spot inside it. */
  noteType(id: CharId, isBlock: boolean, spot: Spot): Spot {
    const came = this.notes.at(-1)
    if (came?.kind === 'came') this.notes[this.notes.length - 1] = { ...came, type: { isBlock, number: this.nextNumber } }
    const inside = this.spotInside(isBlock, spot)
    this.starts.set(nameOf(id), inside)
    return inside
  }

  private spotInside(isBlock: boolean, spot: Spot): Spot {
    const { block: beside } = spot
    if (!isBlock || beside.beside !== null) return spot
    const { atMs, anchor, root } = beside
    const number = this.nextNumber++
    const block: RemovedBlock = { number, atMs, words: '', length: 0, anchor, root, successor: null, beside }
    this.blocks.push(block)
    return { kind: 'block', block, offset: 0 }
  }

  /** Notes that a late word was written to its new place. `target`: the first written character. */
  placed(word: LateWord, target: CharId): void {
    word.target = target
    this.notes.push({ kind: 'placed', word: { client: word.client, clock: word.clock }, target })
  }

  /** Notes that a new empty block is the successor of a removed block. */
  replaced(block: RemovedBlock, element: CharId): void {
    block.successor = { element, length: 0, runs: [], ends: { start: 0, end: 0 } }
    this.notes.push({ kind: 'replaced', number: block.number, element })
  }

  /** Returns the spot right behind a character, a line break or a text; `null` when the item does not belong to a removed block. */
  behind(id: CharId): Spot | null {
    const entry = this.entryOf(id)
    return entry === null ? (this.ends.get(nameOf(id)) ?? this.startOf(id)) : spotIn(entry, id.clock - entry.clock + 1)
  }

  inFrontOf(id: CharId): Spot | null {
    const entry = this.entryOf(id)
    return entry === null ? this.startOf(id) : spotIn(entry, id.clock - entry.clock)
  }

  /**
   * Corrects the spot of a letter that its writer typed right after late letters at the same offset. When a letter in between was deleted,
   * Yjs may place the new letter behind a change of formatting at this offset, so its left neighbour is not the late letter. The spot of a
   * letter that was typed in front of late letters stays: such a letter has a late letter as its right neighbour.
   */
  typedOn(spot: Spot, { client, clock }: CharId, rightOrigin: CharId | null): Spot {
    if (spot.kind === 'word' || (rightOrigin !== null && this.entryOf(rightOrigin)?.word !== undefined)) return spot
    const entry = this.entryOf({ client, clock: clock - 1 })
    const isNext = entry?.word !== undefined && entry.word.spot.block === spot.block && entry.word.offset === spot.offset
    return isNext ? spotIn(entry, entry.length) : spot
  }

  /** Returns the spot at the start of a removed text or element; `null` for any other item. */
  startOf(id: CharId): Spot | null {
    return this.starts.get(nameOf(id)) ?? null
  }

  private entryOf({ client, clock }: CharId): Entry | null {
    const entries = this.runs.get(client) ?? []
    const entry = entries[placeOf(entries, clock) - 1]
    return entry !== undefined && clock < entry.clock + entry.length ? entry : null
  }
}

/** Returns the spot after the first `count` characters of an entry. */
function spotIn(entry: Entry, count: number): Spot {
  if (entry.word === undefined) return { kind: 'block', block: entry.block, offset: entry.offset + (entry.visible ? count : 0) }
  const { word } = entry
  return word.text === '' || count === 0 ? word.spot : { kind: 'word', block: word.spot.block, word, behind: count }
}

function notedSpot(spot: Spot): NotedSpot {
  if (spot.kind === 'block') return { kind: 'block', number: spot.block.number, offset: spot.offset }
  const { client, clock } = spot.word
  return { kind: 'word', word: { client, clock }, behind: spot.behind }
}
