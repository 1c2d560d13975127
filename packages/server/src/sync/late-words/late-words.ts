import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import { PROSE_PAGES, proseRoot } from '../binding/binding-roots.ts'
import { type Arrival, type DeletedRanges, partsOf, readArrivals } from './arrivals.ts'
import { type CharId, idOf, mapOffset } from './block-text.ts'
import { type LateDeletion, type LateWord, RemovedBlocks, type RemovedBlock, type Spot } from './removed-blocks.ts'
import { parentItem } from './removal.ts'

interface Position {
  readonly text: Y.XmlText
  readonly index: number
}

/** What is to be done after an update with letters that came late: written, or deleted again. */
export type LateEdit = LateWord | LateDeletion

/** The name under which a transaction tells whose words it places. */
export const TYPED_BY = 'typedBy'
/** The name under which it tells the pages whose words have no place any more. */
export const LOST_ON = 'lostOn'

/** So often the rest of an update is searched; words of clients that build on each other in more turns are not found. */
const MOST_ROUNDS = 8
/** A chain of blocks that were removed one after another is not longer than this. */
const MOST_STEPS = 64

/**
 * Moves characters that clients insert into removed texts to the texts that replaced them. [AG-110]
 *
 * An edit of the relay that retypes, moves or removes a block makes new live nodes. A client that types at that moment still sends characters for
 * the old node, where Yjs would drop them. `find` is called with each update before it is applied, `place` after it.
 */
export class LateWords {
  private readonly doc: Y.Doc
  private readonly removed: RemovedBlocks
  /** While words are placed: how many characters stand before an item behind which one was placed. Many words come for the same text. */
  private counted: { readonly item: Y.Item; readonly before: number } | null = null

  constructor(doc: Y.Doc, removed = new RemovedBlocks()) {
    this.doc = doc
    this.removed = removed
  }

  /** Remembers what a transaction of the relay removed; call it when the transaction ends. */
  remember(transaction: Y.Transaction, nowMs: number): void {
    this.removed.remember(transaction, nowMs)
  }

  /** What is remembered since the last call, to be stored with the record of the next update; `null` when nothing is. */
  takeNotes(): string | null {
    return this.removed.takeNotes()
  }

  /** The same memory for another copy of the document; what that copy still holds is forgotten. */
  movedTo(doc: Y.Doc): LateWords {
    this.removed.keep((block) => {
      const item = itemAt(doc, block.anchor)
      return item === null || item.deleted
    })
    return new LateWords(doc, this.removed)
  }

  /** What `update` does to removed texts. Costs nothing while none is remembered. */
  find(update: Uint8Array, nowMs: number): readonly LateEdit[] {
    this.removed.expire(nowMs)
    if (this.removed.isEmpty) return []
    const { arrivals, deleted } = readArrivals(update)
    // Of letters that this update brings too, those that it deletes are not noted as words.
    const deletions = this.removed.lettersIn(deleted)
    let waiting = arrivals
    const words: LateWord[] = []
    // A client's text may follow another client's text that comes later in the update, so the rest is searched again after each find.
    for (let [found, rounds] = [true, 0]; found && waiting.length > 0 && rounds < MOST_ROUNDS; rounds++) {
      found = false
      const left: Arrival[] = []
      for (const arrival of waiting) {
        const spot = this.spotOf(arrival)
        if (spot === null) left.push(arrival)
        else {
          found = true
          words.push(...this.note(arrival, spot, deleted))
        }
      }
      waiting = left
    }
    const halves = this.secondHalves(words, deleted)
    return [...words.filter(({ spot }) => !halves.has(spot.block)), ...deletions]
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
   * Remembers what is about to be dropped, so that what is typed behind it or into it is found too. Answers the words of it that are to be
   * written: not those that the same update deletes, which a client sends along when it keeps them for undo. When the update also tells that
   * the block is gone, it does not tell which letters were deleted by hand; then all are written, so that none is lost.
   */
  private note({ client, clock, length, text, type }: Arrival, spot: Spot, deleted: DeletedRanges): readonly LateWord[] {
    const from = Math.max(clock, Y.getState(this.doc.store, client))
    const to = clock + length
    if (from >= to) return []
    if (text === '') {
      this.removed.note({ client, clock: from, length: to - from, text, spot })
      if (type !== null) this.removed.noteType({ client, clock }, isBlock(type), spot)
      return []
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

  /**
   * The new blocks that only hold the second half of an old one: an editor that breaks a block at Enter deletes the second half there and writes
   * it into a new block, in one update. The successor of the old block holds that half already.
   */
  private secondHalves(words: readonly LateWord[], deleted: DeletedRanges): ReadonlySet<RemovedBlock> {
    const texts = new Map<RemovedBlock, string>()
    for (const { text, spot } of words)
      if (spot.block.beside !== null) texts.set(spot.block, (texts.get(spot.block) ?? '') + text)
    const halves = new Set<RemovedBlock>()
    for (const [block, text] of texts) {
      const old = block.beside as RemovedBlock
      if (endsWith(old, text) && this.removed.deletedIn(old, deleted) >= text.length) halves.add(block)
    }
    return halves
  }

  /**
   * Writes words where they belong, and deletes letters of words that were written before; a word without a place, as on a removed page, is
   * left out. Answers how many characters were left out. `by`: whose words they are, for who listens to the transaction.
   */
  place(edits: readonly LateEdit[], origin: unknown, by: unknown = null): number {
    let unplaced = 0
    const lostOn = new Set<string>()
    this.doc.transact((transaction) => {
      transaction.meta.set(TYPED_BY, by)
      transaction.meta.set(LOST_ON, lostOn)
      this.counted = null
      for (const edit of edits) {
        if ('word' in edit) this.erase(edit)
        else if (!this.write(edit)) {
          unplaced += edit.text.length
          lostOn.add(edit.spot.block.root.slice(proseRoot('').length))
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

  /** Deletes letters that stand for late ones, wherever edits of the relay have moved them since. */
  private erase({ word: { target }, from, length }: LateDeletion): void {
    if (target === null) return
    this.counted = null
    for (let at = from; at < from + length; ) {
      const written = this.standing({ client: target.client, clock: target.clock + at }, MOST_STEPS)
      if (written === null) at++
      else {
        const { item, inItem } = written
        // Only what was written in one piece stands in one piece, with no other letters in between.
        const count = written.isMoved ? 1 : Math.min(item.length - inItem, from + length - at)
        ;(item.parent as Y.XmlText).delete(this.indexOf(item) + inItem, count)
        at += count
      }
    }
  }

  /** The item with a character that is there, itself or as what took its place. */
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

  /** The place behind a character, or behind where it stood. */
  private behind(id: CharId, steps: number): Position | null {
    const item = itemAt(this.doc, id)
    const text = item?.parent
    if (item === null || !(text instanceof Y.XmlText) || text._item?.deleted !== false) {
      const spot = this.removed.behind(id)
      return spot === null ? null : this.resolve(spot, steps)
    }
    const before = this.indexOf(item)
    const isShown = !item.deleted && item.countable
    // What is inserted where an item was that does not show may come to stand before it.
    this.counted = isShown ? { item, before } : null
    return { text, index: before + (isShown ? id.clock - item.id.clock + 1 : 0) }
  }

  /** How many characters stand before an item: counted to the left, as far as the item that was counted last. */
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
    this.counted = null
    const [first] = element.toArray()
    if (first instanceof Y.XmlText) return { text: first, index: 0 }
    const text = new Y.XmlText()
    element.insert(0, [text])
    return { text, index: 0 }
  }

  /** A new paragraph beside where a block was that nothing took the place of. */
  private startOfParagraph(block: RemovedBlock, steps: number): Position | null {
    const place = this.placeOf(block, steps)
    if (place === null || this.isPageGone(block.root)) return null
    const paragraph = new Y.XmlElement('paragraph')
    const text = new Y.XmlText()
    paragraph.insert(0, [text])
    if (place.after === null) place.parent.insert(0, [paragraph])
    else place.parent.insertAfter(place.after, [paragraph])
    this.removed.replaced(block, idOf(paragraph))
    return { text, index: 0 }
  }

  private placeOf({ beside, anchor, root, successor }: RemovedBlock, steps: number): Place | null {
    if (steps === 0) return null
    const element = successor && typeAt(this.doc, successor.element)
    if (element?._item) return placeBeside(element._item)
    if (beside !== null) return this.placeOf(beside, steps - 1)
    const item = itemAt(this.doc, anchor)
    if (item !== null) return placeBeside(item)
    const fragment = this.doc.share.get(root)
    return fragment instanceof Y.XmlFragment
      ? { parent: fragment, after: (fragment.toArray().at(-1) as Y.XmlElement | undefined) ?? null }
      : null
  }

  private isPageGone(root: string): boolean {
    const page = root.slice(proseRoot('').length)
    return !this.doc.getMap(PROSE_PAGES.map).has(page)
  }
}

interface Standing {
  readonly item: Y.Item
  readonly inItem: number
  readonly isMoved: boolean
}

interface Place {
  readonly parent: Y.XmlFragment
  readonly after: Y.XmlElement | Y.XmlText | null
}

/** Of a long block only the last words are known; its length and theirs tell the rest. */
function endsWith({ words, length }: RemovedBlock, text: string): boolean {
  if (text.length <= words.length) return words.endsWith(text)
  return words !== '' && text.length <= length && words.length < length && text.endsWith(words)
}

function isBlock(type: Y.AbstractType<unknown>): boolean {
  return type instanceof Y.XmlElement && findNodeSpec(type.nodeName)?.group !== 'inline'
}

/** Where a paragraph may stand that is to come behind an item, or where it was; a list or a table holds none itself. */
function placeBeside(item: Y.Item): Place | null {
  for (let at: Y.Item | null = item; at !== null; at = parentItem(at)) {
    const parent = at.parent as Y.XmlFragment
    if (parent._item?.deleted === true || !takesParagraphs(parent)) continue
    let left: Y.Item | null = at
    while (left?.deleted === true) left = left.left
    return { parent, after: left === null ? null : ((left.content as Y.ContentType).type as Y.XmlElement) }
  }
  return null
}

function takesParagraphs(type: Y.XmlFragment): boolean {
  return type instanceof Y.XmlElement ? findNodeSpec(type.nodeName)?.content === 'blocks' : true
}

/**
 * Whether Yjs keeps what is inserted beside an item: it does when what both stand in is there, however deleted the item itself is. An insert at
 * the head of a container names the first item as its neighbour also when that is deleted. Yjs deletes all that is inside what it deletes, so
 * the parent alone tells.
 */
function keepsWhatIsBeside(doc: Y.Doc, id: CharId): boolean {
  const item = itemAt(doc, id)
  return item !== null && parentItem(item)?.deleted !== true
}

/** `null` for what this copy of the document does not know or has thrown away. */
function itemAt(doc: Y.Doc, { client, clock }: CharId): Y.Item | null {
  if (Y.getState(doc.store, client) <= clock) return null
  const struct: unknown = Y.getItem(doc.store, Y.createID(client, clock))
  return struct instanceof Y.Item ? struct : null
}

function typeAt(doc: Y.Doc, id: CharId): Y.AbstractType<unknown> | null {
  const item = itemAt(doc, id)
  return item !== null && !item.deleted && item.content instanceof Y.ContentType ? item.content.type : null
}
