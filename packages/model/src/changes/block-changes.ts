import { bareName } from '../prose/block-names.ts'
import { blockId, completeIds, idBearing, idsOf, isIdBearing, mapIdBearing, withBlockId, type Located } from '../prose/blocks.ts'
import { handleOf } from '../prose/handles.ts'
import { blockHash } from '../prose/block-stamp.ts'
import { serialiseHtml } from '../prose/html.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { blockText } from '../prose/text.ts'
import { alignBlocks, isUnchanged, textPairs } from './align-blocks.ts'
import type { BlockChange, Name } from './change-set.ts'
import { listChanges, type Left } from './sequence.ts'
import type { Removed as Unit, Tally } from './tally.ts'

export interface BlockChanges {
  readonly blocks: readonly BlockChange[]
  readonly minted: readonly Minted[]
  /** Removed blocks, and containers that text blocks may have left, each block as it was before the write. */
  readonly left: ProseTree
}

type Minted = readonly [id: string, before: string]

/** A change names a container or a new page by the ids of at most this many of its text blocks. */
export const NAMING = 3

/** Compares a page before and after a write. `came` lists all ids that are new in a block; `changesBetween` keeps only the ids of moved blocks. */
export function blockChanges(stored: ProseTree, after: ProseTree, tally: Tally): BlockChanges {
  const before = withoutRepeatedIds(stored)
  const pairs = alignBlocks(before, after)
  const { created, left } = listChanges({ before: before.length, after: after.length }, pairs, namesOf(after))
  const moved = new Map(left.map((entry) => [entry.after, entry]))
  const changes: BlockChange[] = []
  const [minted, places]: readonly [Minted[], ProseElement[]] = [[], []]
  for (const entry of left) {
    if (entry.after >= 0) continue
    changes.push(removedBlock(before, stored, entry, tally))
    places.push(stored[entry.before] as ProseElement)
  }
  for (const pair of pairs) {
    const [old, now] = [before[pair.before], after[pair.after]] as [ProseElement, ProseElement]
    const place = moved.get(pair.after)
    if (isUnchanged(old, now)) {
      minted.push(...mintedIn(stored[pair.before] as ProseElement, now))
      if (place !== undefined) changes.push(movedBlock(after, place, tally))
    } else if (isIdBearing(now)) {
      tally.changed()
      changes.push({
        ...identity(after, pair.after),
        before: html(stored[pair.before] as ProseElement),
        after: blockHash(now),
        ...placed(place),
      })
    } else changes.push(...containerChanges(old, after, pair, place, { tally, minted, places }))
  }
  for (const index of created) {
    const block = after[index] as ProseElement
    for (const { id, kind } of unitsOf(block, index)) tally.created(kind === 'text' ? id || null : null)
    changes.push({ ...identity(after, index), after: blockHash(block), came: idsOf([block]) })
  }
  return { blocks: inOrderBefore(changes, left), minted, left: places }
}

/** Sorts the entries that have a former place by these places, since `joined` refers to the entry before. */
function inOrderBefore(changes: readonly BlockChange[], left: readonly Left[]): readonly BlockChange[] {
  const order = new Map(left.map(({ from }, index) => [from, index]))
  const rank = ({ from }: BlockChange) => (from === undefined ? -1 : (order.get(from) ?? -1))
  return [...changes].sort((a, b) => rank(a) - rank(b))
}

function removedBlock(before: ProseTree, stored: ProseTree, { before: index, from }: Left, tally: Tally): BlockChange {
  const block = before[index] as ProseElement
  for (const unit of unitsOf(block, index)) tally.removed(unit)
  return { ...named(block), before: html(stored[index] as ProseElement), from }
}

function movedBlock(after: ProseTree, place: Left, tally: Tally): BlockChange {
  tally.changed()
  return { ...identity(after, place.after), after: blockHash(after[place.after] as ProseElement), ...placed(place) }
}

/** Records a changed container block by block when only text blocks in it changed, else as a whole. [AG-69] */
function containerChanges(
  old: ProseElement,
  after: ProseTree,
  at: { readonly before: number; readonly after: number },
  place: Left | undefined,
  { tally, minted, places }: { readonly tally: Tally; readonly minted: Minted[]; readonly places: ProseElement[] },
): readonly BlockChange[] {
  const { after: index } = at
  const now = after[index] as ProseElement
  const pairs = textPairs(old, now)
  if (pairs === null) {
    tally.changed()
    countInside(textsOf(old, at.before), now, tally)
    places.push(old)
    const known = new Set(idsOf([old]))
    const came = idsOf([now]).filter((id) => !known.has(id))
    return [{ ...identity(after, index), before: html(old), after: blockHash(now), ...placed(place), came }]
  }
  const texts = pairs.flatMap(({ before, after: block }): readonly BlockChange[] => {
    if (isUnchanged(before, block)) {
      minted.push(...mintedIn(before, block))
      return []
    }
    tally.changed()
    return [{ ...named(block), before: html(before), after: blockHash(block) }]
  })
  return place === undefined ? texts : [...texts, movedBlock(after, place, tally)]
}

/** Counts the text blocks that were removed, created or changed in a container that is recorded as a whole. */
function countInside(before: readonly Located[], now: ProseElement, tally: Tally): void {
  const known = new Map(
    before.flatMap((located) => (blockId(located.block) === null ? [] : [[blockId(located.block), located] as const])),
  )
  const nameless = before.filter(({ block }) => blockId(block) === null)
  for (const { block } of idBearing([now])) {
    const id = blockId(block)
    const same = known.get(id)
    known.delete(id)
    if (same !== undefined) {
      if (!isUnchanged(same.block, block)) tally.changed()
      continue
    }
    const at = nameless.findIndex((other) => isUnchanged(other.block, block))
    if (at >= 0) nameless.splice(at, 1)
    else tally.created(id)
  }
  for (const located of [...known.values(), ...nameless]) tally.removed(textUnit(located))
}

/** Returns a top-level block and all its text blocks as entries for a `Tally`, with the names that answers use. [TOOL-16] */
export function unitsOf(block: ProseElement, index: number): readonly Unit[] {
  const texts = textsOf(block, index).map(textUnit)
  if (isIdBearing(block)) return texts
  const kind = texts.length === 0 ? 'leaf' : 'container'
  const name = handleOf([index])
  return [{ id: name, name, text: kind === 'leaf' ? blockText(block) : '', kind }, ...texts]
}

/** The text blocks of a top-level block, with their places on the page. */
function textsOf(block: ProseElement, index: number): readonly Located[] {
  return idBearing([block]).map((located) => ({ path: [index, ...located.path.slice(1)], block: located.block }))
}

function textUnit(located: Located): Unit {
  const { block } = located
  return { id: blockId(block) ?? '', name: bareName(located), text: blockText(block), kind: 'text' }
}

/** Returns the ids that a write minted in an unchanged block. Both versions have the same text blocks in the same order. */
function mintedIn(old: ProseElement, now: ProseElement): readonly Minted[] {
  if (old === now) return []
  const known = idBearing([old])
  return idBearing([now]).flatMap(({ block }, i) => {
    const [id, before] = [blockId(block) ?? '', blockId(known[i]?.block ?? block) ?? '']
    return id === before ? [] : [[id, before] as const]
  })
}

/** Leaves an id that several blocks share to one of these blocks, as every write does. The other blocks count as blocks without id. [PROSE-44] */
function withoutRepeatedIds(tree: ProseTree): ProseTree {
  if (new Set(idsOf(tree)).size === idsOf(tree).length) return tree
  let isRepeated = false
  const unique = completeIds(tree, () => {
    isRepeated = true
    return REPEATED
  })
  return isRepeated ? mapIdBearing(unique, (block) => (blockId(block) === REPEATED ? withBlockId(block, null) : block)) : tree
}

/** Marks the ids to remove. Only a block whose stored id is a line break would be mistaken for a marked one. */
const REPEATED = '\n'

function placed(place: Left | undefined): Pick<BlockChange, 'from' | 'now'> {
  return place === undefined ? {} : { from: place.from, ...(place.now && { now: place.now }) }
}

function html(block: ProseElement): string {
  return serialiseHtml([block])
}

/** Returns the members by which an undo finds a block: its id, ids inside it, or its index. */
function identity(tree: ProseTree, index: number): Pick<BlockChange, 'id' | 'ids' | 'at'> {
  const own = named(tree[index] as ProseElement)
  return own.id === undefined && own.ids === undefined ? { at: index } : own
}

function named(block: ProseElement): Pick<BlockChange, 'id' | 'ids'> {
  if (!isIdBearing(block)) {
    const ids = idsOf([block]).slice(0, NAMING)
    return ids.length === 0 ? {} : { ids }
  }
  const id = blockId(block)
  return id === null ? {} : { id }
}

/** Names top-level blocks: by their own id, else by the first id inside; without an id that is unique, by hash and index. */
function namesOf(tree: ProseTree): (index: number) => Name {
  let repeated: ReadonlySet<string> | undefined
  return (index) => {
    const block = tree[index] as ProseElement
    const [id] = idsOf([block])
    if (id !== undefined && !(repeated ??= repeatedOf(idsOf(tree))).has(id)) return id
    return `#${blockHash(block)}@${index}`
  }
}

function repeatedOf(ids: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  return new Set(ids.filter((id) => seen.size === seen.add(id).size))
}
