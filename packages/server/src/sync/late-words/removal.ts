import { findNodeSpec } from '@docrelay/model/prose/schema'
import * as Y from 'yjs'
import {
  type BlockChild,
  type BlockText,
  type CharId,
  type CharRun,
  commonEnds,
  type CommonEnds,
  idOf,
  type LiveType,
  readBlockText,
} from './block-text.ts'

/** The block that replaced a removed text block: its element, and the names of the characters of its text. */
export interface Successor {
  readonly element: CharId
  readonly length: number
  readonly runs: readonly CharRun[]
  readonly ends: CommonEnds
}

/** A text block from which a transaction removed texts, or a removed block that cannot hold text. Plain data, which can be stored. */
export interface Removal {
  /** The text of the block before the removal; of a longer text, the last 2,000 characters. */
  readonly words: string
  /** The length of the whole text of the block before the removal. */
  readonly length: number
  /** The removed children of the block: all children when the block itself was removed. */
  readonly gone: readonly GoneChild[]
  /** The removed block and the removed containers around it; none when the block stays. */
  readonly elements: readonly CharId[]
  /** The outermost removed item. It marks the place of the block. */
  readonly anchor: CharId
  /** The root that the block belongs to. */
  readonly root: string
  readonly successor: Successor | null
}

export type GoneChild = Omit<BlockChild, 'type'>

/** A new block in the place of a removed block is its successor when their common ends make up at least this share of the longer text. */
const LIKE = 0.3
const MOST_WORDS = 2_000
/** The maximum number of new blocks whose text is compared with the text of a removed block. */
const NEAR = 8

type Holder = Y.XmlElement | Y.XmlText

interface Block {
  readonly element: Y.XmlElement
  readonly id: string | undefined
  readonly content: BlockText
}

/**
 * Returns the blocks that a transaction removed, and the successors of the removed text blocks. `most` limits the text blocks and the other
 * blocks separately. Call this function when the transaction ends, because later the removed content is gone. [AG-110]
 */
export function readRemovals(transaction: Y.Transaction, most: number): readonly Removal[] {
  const before = (item: Y.Item): boolean =>
    item.deleted ? Y.isDeleted(transaction.deleteSet, item.id) && !isNew(transaction, item) : !isNew(transaction, item)
  const { holders, leaves } = removedHolders(transaction, before, most)
  if (holders.size + leaves.length === 0) return []
  const created = new Created(transaction)
  const roots = new Map<LiveType, string>()
  // Blocks without text come first, so that a text block beside or around them overwrites their entries for shared elements.
  const removals: Removal[] = leaves.map((leaf) => ({
    ...{ words: '', length: 0, gone: [], elements: removedAround(leaf), successor: null },
    anchor: topRemoved(leaf).id,
    root: rootOf(leaf, roots),
  }))
  for (const [holder, gone] of holders) {
    const old = readBlockText(holder, before)
    const isGone = (holder._item as Y.Item).deleted
    const top = topRemoved(isGone ? holder : (gone[0] as Y.XmlText))
    const found = isGone ? created.successorOf(idAttribute(holder, before), old.text, top) : blockOf(holder as Y.XmlElement)
    const children = old.children.filter(({ type }) => isGone || gone.includes(type as Y.XmlText))
    removals.push({
      words: old.text.slice(-MOST_WORDS),
      length: old.text.length,
      gone: children.map(({ id, offset, end, runs }) => ({ id, offset, end, runs })),
      elements: isGone ? removedAround(holder) : [],
      anchor: top.id,
      root: rootOf(holder, roots),
      successor: found && successorOf(found, old.text),
    })
  }
  return removals
}

function successorOf({ element, content }: Block, old: string): Successor {
  const runs = content.children.flatMap((child) => child.runs).filter(({ visible }) => visible)
  return { element: idOf(element), length: content.text.length, runs, ends: commonEnds(old, content.text) }
}

interface Holders {
  /** The text blocks that lost texts, each with the texts that it lost. A removed empty block has an empty list. */
  readonly holders: Map<Holder, Y.XmlText[]>
  /** The removed blocks that cannot hold text, and removed empty containers. */
  readonly leaves: Y.XmlElement[]
}

function removedHolders(transaction: Y.Transaction, before: (item: Y.Item) => boolean, most: number): Holders {
  const holders = new Map<Holder, Y.XmlText[]>()
  const leaves: Y.XmlElement[] = []
  Y.iterateDeletedStructs(transaction, transaction.deleteSet, (struct) => {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) return
    if (isNew(transaction, struct)) return
    const { type } = struct.content
    if (type instanceof Y.XmlElement && isLeaf(type, before)) {
      if (leaves.length < most) leaves.push(type)
      return
    }
    if (holders.size >= most) return
    if (type instanceof Y.XmlText) {
      const holder = type.parent instanceof Y.XmlElement && isTextBlock(type.parent) ? type.parent : type
      const gone = holders.get(holder)
      if (gone === undefined) holders.set(holder, [type])
      else gone.push(type)
    } else if (type instanceof Y.XmlElement && isTextBlock(type) && !holders.has(type)) holders.set(type, [])
  })
  return { holders, leaves }
}

function isLeaf(element: Y.XmlElement, before: (item: Y.Item) => boolean): boolean {
  const spec = findNodeSpec(element.nodeName)
  if (spec === undefined || spec.group === 'inline' || isTextBlock(element)) return false
  let child = element._start
  while (child !== null && !before(child)) child = child.right
  return child === null
}

function isNew({ beforeState }: Y.Transaction, item: Y.Item): boolean {
  return item.id.clock >= (beforeState.get(item.id.client) ?? 0)
}

export function isTextBlock({ nodeName }: Y.XmlElement): boolean {
  const content = findNodeSpec(nodeName)?.content
  return content === 'inline' || content === 'code'
}

/** Returns the outermost removed item around a removed type. */
function topRemoved(type: LiveType): Y.Item {
  let item = type._item as Y.Item
  for (let up = parentItem(item); up?.deleted === true; up = parentItem(up)) item = up
  return item
}

function removedAround(type: LiveType): CharId[] {
  const found: CharId[] = []
  for (let item: Y.Item | null = type._item; item?.deleted === true; item = parentItem(item)) found.push(item.id)
  return found
}

export function parentItem(item: Y.Item): Y.Item | null {
  return (item.parent as LiveType)._item
}

function rootOf(type: LiveType, known: Map<LiveType, string>): string {
  let root = type
  while (root._item !== null) root = root._item.parent as LiveType
  let name = known.get(root)
  if (name === undefined) known.set(root, (name = Y.findRootTypeKey(root as Y.XmlFragment)))
  return name
}

function idAttribute(holder: Holder, visible: (item: Y.Item) => boolean): string | undefined {
  const item = holder._map.get('id')
  if (item === undefined || !visible(item)) return undefined
  const value: unknown = item.content.getContent().at(-1)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export const isThere = (item: Y.Item): boolean => !item.deleted

function blockOf(element: Y.XmlElement): Block {
  return { element, id: idAttribute(element, isThere), content: readBlockText(element, isThere) }
}

interface CreatedBlock extends Block {
  /** The index of this block among all new text blocks of the transaction. */
  readonly at: number
}

/** The text blocks that a transaction made. They are read when the first removed block looks for its successor. */
class Created {
  private readonly transaction: Y.Transaction
  private isRead = false
  private readonly byId = new Map<string, CreatedBlock>()
  private readonly byText = new Map<string, CreatedBlock[]>()
  private readonly taken = new Set<CreatedBlock>()
  /** By an item that the transaction made: the first `NEAR` text blocks that are the item or stand inside it. */
  private readonly within = new Map<Y.Item, CreatedBlock[]>()
  /** By a removed item: the next item on each side that is not deleted. */
  private readonly neighbours = { left: new Map<Y.Item, Y.Item | null>(), right: new Map<Y.Item, Y.Item | null>() }

  constructor(transaction: Y.Transaction) {
    this.transaction = transaction
  }

  /** Returns the new block with the same id; without one, a new block with the same text; else the most similar new block at the same place. */
  successorOf(id: string | undefined, text: string, top: Y.Item): Block | null {
    this.read()
    const found = (id === undefined ? undefined : this.byId.get(id)) ?? this.equal(text) ?? this.alike(text, top)
    if (found !== undefined) this.taken.add(found)
    return found ?? null
  }

  private equal(text: string): CreatedBlock | undefined {
    return text === '' ? undefined : this.byText.get(text)?.find((block) => !this.taken.has(block))
  }

  private alike(text: string, top: Y.Item): CreatedBlock | undefined {
    const near = this.near(top).filter((block) => !this.taken.has(block))
    const rated = near.map((block) => ({ block, share: likeness(text, block.content.text) }))
    return rated.filter(({ share }) => share >= LIKE).toSorted((a, b) => b.share - a.share)[0]?.block
  }

  /** Returns the first `NEAR` new text blocks that stand at the place of a removed item. */
  private near(top: Y.Item): CreatedBlock[] {
    const sides = [this.beside(top, 'left'), this.beside(top, 'right')]
    const inside = sides.flatMap((side) => (side === null ? [] : (this.within.get(side) ?? [])))
    return [...new Set(inside)].toSorted((a, b) => a.at - b.at).slice(0, NEAR)
  }

  /** Returns the next item on one side that is not deleted. Blocks that were removed together share the result of one search. */
  private beside(top: Y.Item, side: 'left' | 'right'): Y.Item | null {
    const known = this.neighbours[side]
    const passed: Y.Item[] = []
    let item = top[side]
    while (item?.deleted === true && !known.has(item)) {
      passed.push(item)
      item = item[side]
    }
    const found = item?.deleted === true ? (known.get(item) ?? null) : item
    for (const each of passed) known.set(each, found)
    return found
  }

  private read(): void {
    if (this.isRead) return
    this.isRead = true
    let count = 0
    for (const element of createdElements(this.transaction)) {
      if (!isTextBlock(element)) continue
      const block = { ...blockOf(element), at: count++ }
      this.noteWithin(block)
      if (block.id !== undefined) this.byId.set(block.id, block)
      const same = this.byText.get(block.content.text)
      if (same === undefined) this.byText.set(block.content.text, [block])
      else same.push(block)
    }
  }

  private noteWithin(block: CreatedBlock): void {
    for (let item = block.element._item; item !== null && isNew(this.transaction, item); item = parentItem(item)) {
      const known = this.within.get(item) ?? []
      if (known.length < NEAR) this.within.set(item, [...known, block])
    }
  }
}

function* createdElements({ doc, beforeState }: Y.Transaction): Generator<Y.XmlElement> {
  const structs = doc.store.clients.get(doc.clientID)
  const from = beforeState.get(doc.clientID) ?? 0
  const last = structs?.at(-1)
  if (structs === undefined || last === undefined || last.id.clock + last.length <= from) return
  for (let at = Y.findIndexSS(structs, from); at < structs.length; at++) {
    const struct = structs[at]
    if (!(struct instanceof Y.Item) || struct.deleted || !(struct.content instanceof Y.ContentType)) continue
    if (struct.content.type instanceof Y.XmlElement) yield struct.content.type
  }
}

function likeness(a: string, b: string): number {
  const { start, end } = commonEnds(a, b)
  const longer = Math.max(a.length, b.length)
  return longer === 0 ? 1 : (start + end) / longer
}
