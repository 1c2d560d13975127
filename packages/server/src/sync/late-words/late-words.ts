import * as Y from 'yjs'
import { type Arrival, type DeletedRanges, partsOf, readArrivals } from './arrivals.ts'
import { type CharId, idOf, mapOffset, nameOf } from './block-text.ts'
import { elementOf, isSaid, type LateNode, LateNodes, writeChanges } from './late-nodes.ts'
import { insertAt, isPageGone, itemAt, keepsWhatIsBeside, pageOf, placeBeside, placeOf, typeAt } from './live-places.ts'
import { contentOf, inRows, isBlock, MadeTexts, type MovedHalf, type MovedLetters, movedLetters, Search } from './moved-halves.ts'
import {
  type DeletedRun,
  type LateDeletion,
  type LateWord,
  RemovedBlocks,
  type RemovedBlock,
  type Spot,
} from './removed-blocks.ts'
import { isTextBlock } from './removal.ts'

interface Position {
  readonly text: Y.XmlText
  readonly index: number
}

/** Work that remains after a late update was applied: letters or blocks to write, or letters to delete. */
export type LateEdit = LateWord | LateNode | LateDeletion | MovedHalf

/** An update in which `find` searches for late content. */
interface Incoming {
  readonly arrivals: readonly Arrival[]
  readonly deleted: DeletedRanges
  /** The letters of removed blocks that the update deletes. */
  readonly runs: ReadonlyMap<RemovedBlock, readonly DeletedRun[]>
  /** By `nameOf` of an arrival: the letters of the arrival that Enter only moved there from a removed block. */
  readonly moved: Map<string, MovedLetters & { readonly block: RemovedBlock }>
  readonly search: Search
}

/** Key in `transaction.meta`: the person whose words the transaction places. */
export const TYPED_BY = 'typedBy'
/** Key in `transaction.meta`: the ids of pages whose words have no place any more. */
export const LOST_ON = 'lostOn'

/** `find` searches an update in at most this many rounds. Words that more clients than this typed behind each other are not found. */
const MOST_ROUNDS = 8
/** A place is searched through at most this many replacements, one after another. */
const MOST_STEPS = 64

/**
 * Moves characters that clients insert into removed texts to the texts that replaced them. [AG-110]
 *
 * An edit of the relay that retypes, moves or removes a block removes the live nodes of the block. A client that types at that moment still
 * sends characters for the old node, where Yjs would drop them. Call `find` with each update before it is applied, and `place` afterwards.
 */
export class LateWords {
  private readonly doc: Y.Doc
  private readonly removed: RemovedBlocks
  /** During `place`: the last item behind which a word was placed, and the number of characters before the item. Saves counting again. */
  private counted: { readonly item: Y.Item; readonly before: number } | null = null
  private readonly nodes: LateNodes
  /** By removed block: the last block without text that `place` has written beside the removed block. */
  private readonly lastBeside = new WeakMap<RemovedBlock, CharId>()

  constructor(doc: Y.Doc, removed = new RemovedBlocks(), nodes = new LateNodes()) {
    this.doc = doc
    this.removed = removed
    this.nodes = nodes
  }

  /** Remembers the blocks that a transaction of the relay removed. Call this method when the transaction ends. */
  remember(transaction: Y.Transaction, nowMs: number): void {
    this.removed.remember(transaction, nowMs)
  }

  /** Returns the notes made since the last call, to be stored with the record of the next update; `null` when there are none. */
  takeNotes(): string | null {
    return this.removed.takeNotes()
  }

  /** Returns this memory for another copy of the document. Forgets the blocks that the copy still contains. */
  movedTo(doc: Y.Doc): LateWords {
    this.removed.keep((block) => {
      const item = itemAt(doc, block.anchor)
      return item === null || item.deleted
    })
    return new LateWords(doc, this.removed, this.nodes)
  }

  /** Returns the work that `update` leaves for `place`, because it writes into removed texts. Costs nothing while no removal is remembered. */
  find(update: Uint8Array, nowMs: number): readonly LateEdit[] {
    this.removed.expire(nowMs)
    if (this.removed.isEmpty) return []
    const { arrivals, deleted } = readArrivals(update)
    // Deletions are looked up before the letters of this update are noted. So they are only deletions of letters from earlier updates.
    // Letters that this update both inserts and deletes are never noted as words.
    const deletions = this.removed.lettersIn(deleted)
    const runs = this.removed.runsIn(deleted)
    const incoming: Incoming = { arrivals, deleted, runs, moved: new Map(), search: new Search() }
    let waiting = arrivals
    const edits: LateEdit[] = []
    // The text of one client may follow the text of another client that comes later in the update. So after each round that found
    // something, the remaining arrivals are searched again.
    for (let [found, rounds] = [true, 0]; found && waiting.length > 0 && rounds < MOST_ROUNDS; rounds++) {
      found = false
      const left: Arrival[] = []
      for (const arrival of waiting) {
        const spot = this.spotOf(arrival)
        if (spot === null) left.push(arrival)
        else {
          found = true
          edits.push(...this.note(arrival, spot, incoming))
        }
      }
      waiting = left
    }
    return [...edits, ...deletions, ...this.halves(waiting, incoming)]
  }

  private spotOf(arrival: Arrival): Spot | null {
    const { origin, rightOrigin, parent } = arrival
    const beside = origin ?? rightOrigin
    if (beside === null) return parent instanceof Y.ID ? this.removed.startOf(parent) : null
    const spot = origin === null ? this.removed.inFrontOf(beside) : this.removed.behind(beside)
    if (spot === null || keepsWhatIsBeside(this.doc, beside)) return null
    return this.removed.typedOn(spot, arrival, rightOrigin)
  }

  /**
   * Notes an arrival that Yjs is about to drop, so that words typed behind it or into it are found too. Returns the words to be written.
   *
   * Words that the same update deletes are left out. A client sends such words when it keeps them for undo. When the update also contains
   * the removal of the block, its deletions do not show which words were deleted by hand. Then all words are written, so that none is lost.
   */
  private note(arrival: Arrival, spot: Spot, incoming: Incoming): readonly LateEdit[] {
    const { client, clock, length, text } = arrival
    const { deleted } = incoming
    const from = Math.max(clock, Y.getState(this.doc.store, client))
    const to = clock + length
    if (from >= to) return []
    if (text === '') {
      this.removed.note({ client, clock: from, length: to - from, text, spot })
      return this.noteType(arrival, spot, incoming)
    }
    const moved = incoming.moved.get(nameOf(arrival))
    if (moved !== undefined) {
      const { block, offset, length: count } = moved
      this.removed.noteMoved({ client, clock, length: count }, block, offset)
      const rest = { ...arrival, clock: clock + count, length: length - count, text: text.slice(count) }
      return count === length ? [] : this.note(rest, { kind: 'block', block, offset: offset + count }, incoming)
    }
    const isHeardOf = Y.isDeleted(deleted, spot.block.anchor as Y.ID)
    const words: LateWord[] = []
    for (const part of partsOf(from, to, isHeardOf ? [] : deleted.clients.get(client))) {
      const last = words.at(-1)
      const word = this.removed.note({
        client,
        clock: part.from,
        length: part.to - part.from,
        text: part.isDeleted ? '' : text.slice(part.from - clock, part.to - clock),
        spot: last === undefined ? spot : { kind: 'word', block: spot.block, word: last, behind: last.length },
      })
      if (!part.isDeleted) words.push(word)
    }
    return words
  }

  /** Notes a new node. For a new block, finds the letters that Enter only moved there and that the successor of the old block still has. */
  private noteType(arrival: Arrival, spot: Spot, { arrivals, deleted, runs, moved, search }: Incoming): readonly LateNode[] {
    const { type } = arrival
    const told = { deleted, isHeardOf: Y.isDeleted(deleted, spot.block.anchor as Y.ID) }
    if (type === null) return this.nodes.change(arrival, spot.block, told)
    const block = this.removed.noteType(arrival, isBlock(type), spot).block
    const old = block.beside
    if (old !== null && block !== spot.block && (old.successor?.length ?? 0) > 0)
      for (const [name, letters] of movedLetters(contentOf(arrivals, arrival, search), old, runs.get(old) ?? [], search))
        moved.set(name, { ...letters, block: old })
    return this.nodes.add(arrival, block, told)
  }

  /**
   * Returns letters of removed blocks that an update deletes, and may have moved into new blocks outside the removed blocks. `kept`: the
   * arrivals that are not late.
   */
  private halves(kept: readonly Arrival[], { deleted, runs }: Incoming): readonly MovedHalf[] {
    const isMoved = (block: RemovedBlock): boolean => !Y.isDeleted(deleted, block.anchor as Y.ID)
    const from = [...runs].filter(([block]) => isMoved(block))
    if (from.length === 0) return []
    const made = kept.filter(
      ({ client, clock, type }) =>
        type instanceof Y.XmlElement && isTextBlock(type) && clock >= Y.getState(this.doc.store, client),
    )
    return made.length === 0 ? [] : from.map(([, row]) => ({ deleted: row, made }))
  }

  /**
   * Writes late words and blocks to their new places. Deletes letters that their writer has deleted or moved. Returns how many characters
   * were left out because they have no place, for example on a removed page. `by`: the writer, for listeners of the transaction.
   */
  place(edits: readonly LateEdit[], origin: unknown, by: unknown = null): number {
    let unplaced = 0
    const lostOn = new Set<string>()
    this.doc.transact((transaction) => {
      transaction.meta.set(TYPED_BY, by)
      transaction.meta.set(LOST_ON, lostOn)
      this.counted = null
      const texts = new MadeTexts(this.doc)
      for (const edit of edits) {
        if ('word' in edit) this.erase(edit)
        else if ('made' in edit) this.takeOut(edit, texts)
        else if ('node' in edit) {
          if (!this.writeNode(edit)) lostOn.add(pageOf(edit.block.root))
        } else if (!this.write(edit)) {
          unplaced += edit.text.length
          lostOn.add(pageOf(edit.spot.block.root))
        }
      }
      this.counted = null
    }, origin)
    return unplaced
  }

  private write(word: LateWord): boolean {
    const position = this.resolve(word.spot, MOST_STEPS)
    if (position === null) return false
    const clock = Y.getState(this.doc.store, this.doc.clientID)
    position.text.insert(position.index, word.text)
    this.removed.placed(word, { client: this.doc.clientID, clock })
    return true
  }

  /**
   * Writes a late block without text to its place, or later changes of its attributes. Blocks for one place stand in the order of their
   * arrival. Returns false when there is no place.
   */
  private writeNode(edit: LateNode): boolean {
    if (edit.written !== null) return writeChanges(this.doc, edit)
    if (!isSaid(edit)) return true
    const { block } = edit
    const last = this.lastBeside.get(block.beside ?? block)
    const before = last === undefined ? null : typeAt(this.doc, last)
    const place = (before?._item && placeBeside(before._item)) ?? placeOf(this.doc, block, MOST_STEPS)
    if (place === null || isPageGone(this.doc, block.root)) return false
    this.counted = null
    const element = elementOf(edit)
    insertAt(place, element)
    edit.written = idOf(element)
    edit.changed.clear()
    this.lastBeside.set(block.beside ?? block, idOf(element))
    if (block.successor === null) this.removed.replaced(block, idOf(element))
    return true
  }

  /**
   * Deletes the replacements of moved letters when a new block contains these letters. Deletes no letter of a row when one letter of the row
   * has no replacement.
   */
  private takeOut({ deleted, made }: MovedHalf, texts: MadeTexts): void {
    for (const row of inRows(deleted)) {
      const heirs = this.heirsOf(row)
      if (heirs === null) continue
      const letters = heirs.map(({ item, inItem }) => (item.content as Y.ContentString).str[inItem]).join('')
      if (texts.hold(made, letters)) this.deleteAll(heirs)
    }
  }

  /** Returns the letters of the successor that replaced a row of letters; `null` when a letter has no replacement. */
  private heirsOf(row: readonly DeletedRun[]): readonly Standing[] | null {
    const heirs: Standing[] = []
    for (const { client, clock, length } of row)
      for (let i = 0; i < length; i++) {
        const heir = this.standing({ client, clock: clock + i }, MOST_STEPS)
        if (heir === null) return null
        heirs.push(heir)
      }
    return heirs
  }

  /** Deletes letters from the last one to the first, so that the offsets of the remaining ones stay valid. */
  private deleteAll(letters: readonly Standing[]): void {
    for (let end = letters.length; end > 0; ) {
      const { item } = letters[end - 1] as Standing
      let at = end - 1
      while (at > 0 && letters[at - 1]?.item === item && letters[at - 1]?.inItem === (letters[at] as Standing).inItem - 1) at--
      this.counted = null
      ;(item.parent as Y.XmlText).delete(this.indexOf(item) + (letters[at] as Standing).inItem, end - at)
      end = at
    }
  }

  /** Deletes the written letters of a late word, even if edits of the relay have moved them since. */
  private erase({ word: { target }, from, length }: LateDeletion): void {
    if (target === null) return
    this.counted = null
    for (let at = from; at < from + length; ) {
      const written = this.standing({ client: target.client, clock: target.clock + at }, MOST_STEPS)
      if (written === null) at++
      else {
        const { item, inItem } = written
        // Letters that an edit has moved may have other letters between them, so they are deleted one by one.
        const count = written.isMoved ? 1 : Math.min(item.length - inItem, from + length - at)
        ;(item.parent as Y.XmlText).delete(this.indexOf(item) + inItem, count)
        at += count
      }
    }
  }

  /** Returns the visible item of a character or of its replacement; `null` when both are gone. */
  private standing(id: CharId, steps: number, isMoved = false): Standing | null {
    const item = itemAt(this.doc, id)
    if (item !== null && item.parent instanceof Y.XmlText && item.parent._item?.deleted === false)
      return item.deleted ? null : { item, inItem: id.clock - item.id.clock, isMoved }
    const heir = steps === 0 ? null : this.removed.heirOf(id)
    return heir && this.standing(heir, steps - 1, true)
  }

  private resolve(spot: Spot, steps: number): Position | null {
    if (steps === 0) return null
    if (spot.kind === 'word') {
      const { target } = spot.word
      if (target === null || spot.behind === 0) return this.resolve(spot.word.spot, steps - 1)
      return this.behind({ client: target.client, clock: target.clock + spot.behind - 1 }, steps - 1)
    }
    const { block } = spot
    const offset = block.successor && mapOffset(spot.offset, block.length, block.successor.length, block.successor.ends)
    return (offset === null ? null : this.inSuccessor(block, offset, steps)) ?? this.startOfParagraph(block, steps)
  }

  private inSuccessor({ successor }: RemovedBlock, offset: number, steps: number): Position | null {
    if (successor === null) return null
    for (const run of successor.runs.toReversed()) {
      if (run.offset >= offset) continue
      const place = this.behind(
        { client: run.client, clock: run.clock + Math.min(run.length, offset - run.offset) - 1 },
        steps - 1,
      )
      if (place !== null) return place
    }
    return this.startOfElement(successor.element, steps)
  }

  /** Returns the position behind a character, or behind the place where it stood. */
  private behind(id: CharId, steps: number): Position | null {
    const item = itemAt(this.doc, id)
    const text = item?.parent
    if (item === null || !(text instanceof Y.XmlText) || text._item?.deleted !== false) {
      const spot = this.removed.behind(id)
      return spot === null ? null : this.resolve(spot, steps)
    }
    const before = this.indexOf(item)
    const isShown = !item.deleted && item.countable
    // A word inserted at an invisible item may come to stand before that item, so the count is not kept.
    this.counted = isShown ? { item, before } : null
    return { text, index: before + (isShown ? id.clock - item.id.clock + 1 : 0) }
  }

  /** Returns how many characters stand before an item. Counts to the left, and stops early at the item in `counted`. */
  private indexOf(item: Y.Item): number {
    let index = 0
    for (let at: Y.Item | null = item; at !== null; at = at.left) {
      if (at === this.counted?.item) return index + this.counted.before
      if (at.left !== null && !at.left.deleted && at.left.countable) index += at.left.length
    }
    return index
  }

  private startOfElement(id: CharId, steps: number): Position | null {
    const element = typeAt(this.doc, id)
    if (!(element instanceof Y.XmlElement)) {
      const spot = this.removed.startOf(id)
      return spot === null ? null : this.resolve(spot, steps - 1)
    }
    // A block that cannot hold text has replaced the old block. The caller makes a paragraph for the words.
    if (!isTextBlock(element)) return null
    this.counted = null
    const [first] = element.toArray()
    if (first instanceof Y.XmlText) return { text: first, index: 0 }
    const text = new Y.XmlText()
    element.insert(0, [text])
    return { text, index: 0 }
  }

  /** Makes a new paragraph at the place of a block that nothing has replaced. Returns `null` when there is no place. */
  private startOfParagraph(block: RemovedBlock, steps: number): Position | null {
    const place = placeOf(this.doc, block, steps)
    if (place === null || isPageGone(this.doc, block.root)) return null
    const paragraph = new Y.XmlElement('paragraph')
    const text = new Y.XmlText()
    paragraph.insert(0, [text])
    insertAt(place, paragraph)
    this.removed.replaced(block, idOf(paragraph))
    return { text, index: 0 }
  }
}

interface Standing {
  readonly item: Y.Item
  readonly inItem: number
  readonly isMoved: boolean
}
