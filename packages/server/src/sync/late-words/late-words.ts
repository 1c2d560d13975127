import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import { PROSE_PAGES, proseRoot } from '../binding/binding-roots.ts'
import { type CharId, idOf, mapOffset } from './block-text.ts'
import { type DeletedRanges, type LateWord, RemovedBlocks, type RemovedBlock, type Spot } from './removed-blocks.ts'
import { parentItem } from './removal.ts'

interface Position {
  readonly text: Y.XmlText
  readonly index: number
}

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

  /** The characters of `update` that belong to removed texts. Costs nothing while none is remembered. */
  find(update: Uint8Array, nowMs: number): readonly LateWord[] {
    this.removed.expire(nowMs)
    if (this.removed.isEmpty) return []
    const { structs, ds } = Y.decodeUpdate(update)
    let waiting = structs.filter((struct): struct is Y.Item => struct instanceof Y.Item)
    const words: LateWord[] = []
    // A client's text may follow another client's text that comes later in the update, so the rest is searched again after each find.
    for (let [found, rounds] = [true, 0]; found && waiting.length > 0 && rounds < MOST_ROUNDS; rounds++) {
      found = false
      const left: Y.Item[] = []
      for (const item of waiting) {
        const spot = this.spotOf(item)
        if (spot === null) left.push(item)
        else {
          found = true
          const word = this.note(item, spot)
          if (word !== null && word.text !== '' && !this.isSecondHalf(word, ds)) words.push(word)
        }
      }
      waiting = left
    }
    return words
  }

  private spotOf({ origin, rightOrigin, parent }: Y.Item): Spot | null {
    const beside = origin ?? rightOrigin
    if (beside === null) return parent instanceof Y.ID ? this.removed.startOf(parent) : null
    const spot = origin === null ? this.removed.inFrontOf(beside) : this.removed.behind(beside)
    return spot !== null && keepsWhatIsBeside(this.doc, beside) ? null : spot
  }

  /** Remembers an item that is about to be dropped, so that what is typed behind it or into it is found too. */
  private note(item: Y.Item, spot: Spot): LateWord | null {
    const { client, clock } = item.id
    const known = Math.max(0, Y.getState(this.doc.store, client) - clock)
    if (known >= item.length) return null
    const { content } = item
    const text = content instanceof Y.ContentString ? content.str.slice(known) : ''
    const word = this.removed.note({ client, clock: clock + known, length: item.length - known, text, spot })
    if (content instanceof Y.ContentType) this.removed.noteType(item.id, isBlock(content.type), spot)
    return word
  }

  /**
   * An editor that breaks a block at Enter deletes the second half there and writes it into a new block, in one update. The successor of the old
   * block holds that half already.
   */
  private isSecondHalf({ text, spot }: LateWord, deleted: DeletedRanges): boolean {
    const old = spot.kind === 'block' ? spot.block.beside : null
    return old !== null && old.words.endsWith(text) && this.removed.deletedIn(old, deleted) >= text.length
  }

  /**
   * Writes the words where they belong; a word without a place, as on a removed page, is left out. Answers how many characters were left out.
   * `by`: whose words they are, for who listens to the transaction.
   */
  place(words: readonly LateWord[], origin: unknown, by: unknown = null): number {
    let unplaced = 0
    const lostOn = new Set<string>()
    this.doc.transact((transaction) => {
      transaction.meta.set(TYPED_BY, by)
      transaction.meta.set(LOST_ON, lostOn)
      for (const word of words) {
        const position = this.resolve(word.spot, MOST_STEPS)
        if (position === null) {
          unplaced += word.text.length
          lostOn.add(word.spot.block.root.slice(proseRoot('').length))
          continue
        }
        const clock = Y.getState(this.doc.store, this.doc.clientID)
        position.text.insert(position.index, word.text)
        this.removed.placed(word, { client: this.doc.clientID, clock })
      }
    }, origin)
    return unplaced
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
    let index = item.deleted || !item.countable ? 0 : id.clock - item.id.clock + 1
    for (let left = item.left; left !== null; left = left.left) if (!left.deleted && left.countable) index += left.length
    return { text, index }
  }

  private startOfElement(id: CharId, steps: number): Position | null {
    const element = typeAt(this.doc, id)
    if (!(element instanceof Y.XmlElement)) {
      const spot = this.removed.startOf(id)
      return spot === null ? null : this.resolve(spot, steps - 1)
    }
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

interface Place {
  readonly parent: Y.XmlFragment
  readonly after: Y.XmlElement | Y.XmlText | null
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
