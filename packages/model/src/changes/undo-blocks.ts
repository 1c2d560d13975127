import { blockHash } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf, isCell, isIdBearing, mapIdBearing, withBlockId } from '../prose/blocks.ts'
import { withContent } from '../prose/equal.ts'
import { handleOf } from '../prose/handles.ts'
import { parseHtml } from '../prose/html.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { quote } from '../quote.ts'
import { blockText } from '../prose/text.ts'
import type { BlockChange, Name, ProsePageChange } from './change-set.ts'
import { returned, type Returning } from './sequence.ts'
import type { Kept } from './undo-list.ts'

/** A top-level block during an undo. */
export interface Slot {
  readonly index: number
  /** The block before the undo. Names refer to this block, not to `node`. */
  readonly present: ProseElement
  node: ProseElement
}

/** The plan of an undo for one page. */
export interface PagePlan {
  readonly slots: readonly Slot[]
  readonly slotOf: ReadonlyMap<string, Slot>
  readonly gone: ReadonlyMap<Slot, BlockChange>
  readonly replaced: ReadonlyMap<string, ProseElement>
  readonly whole: ReadonlyMap<Slot, BlockChange>
  readonly moved: ReadonlyMap<BlockChange, Slot>
  readonly change: ProsePageChange
  readonly kept: readonly Kept[]
  /** The blocks that `kept` lists, as they are now, with everything inside them. */
  readonly staying: readonly Staying[]
  /** Blocks that the call created and that are no longer on the page. */
  readonly astray: readonly BlockChange[]
}

export interface Staying {
  readonly entry: BlockChange
  readonly block: ProseElement
}

/** Decides for every block that a call changed whether it is still as the call left it. [AG-69, AG-70] */
export function planPage(tree: ProseTree, change: ProsePageChange): PagePlan {
  const slots = tree.map((node, index): Slot => ({ index, present: node, node }))
  const slotOf = new Map<string, Slot>()
  const texts = new Map<string, ProseElement>()
  for (const slot of slots)
    for (const { block } of idBearing([slot.node])) {
      const id = blockId(block)
      if (id === null || texts.has(id)) continue
      texts.set(id, block)
      slotOf.set(id, slot)
    }
  const [gone, replaced, whole, moved] = [
    new Map<Slot, BlockChange>(),
    new Map<string, ProseElement>(),
    new Map<Slot, BlockChange>(),
    new Map<BlockChange, Slot>(),
  ]
  const [kept, staying, astray]: readonly [Kept[], Staying[], BlockChange[]] = [[], [], []]
  for (const entry of change.blocks ?? []) {
    const { id, after, before, from } = entry
    if (after === undefined) continue
    const slot = id === undefined ? findContainer(slots, slotOf, entry, gone) : slotOf.get(id)
    const block = id === undefined ? slot?.node : texts.get(id)
    const isCreated = before === undefined && from === undefined
    if (slot === undefined || block === undefined) {
      if (isCreated) astray.push(entry)
      // A created block whose id is gone needs no entry in `kept`. A created block without ids may have been changed instead, so it gets an entry.
      if (!isCreated || (id === undefined && entry.ids === undefined))
        kept.push({ id: id ?? entry.ids?.[0] ?? handleOf([entry.at ?? 0]), text: '', isGone: true })
      continue
    }
    const isTop = slot.node === block
    const isAsLeft =
      blockHash(block) === after && (isTop || (!isCreated && from === undefined)) && isStillThere(slots, slot, entry)
    if (!isAsLeft) {
      kept.push(keptBlock(block, slot, id))
      staying.push({ entry, block })
      continue
    }
    if (isCreated) gone.set(slot, entry)
    if (from !== undefined) moved.set(entry, slot)
    if (before === undefined) continue
    if (id === undefined) whole.set(slot, entry)
    else replaced.set(id, formerBlock(entry))
  }
  return { slots, slotOf, gone, replaced, whole, moved, change, kept, staying, astray }
}

export function keptBlock(block: ProseElement, { index }: Slot, id = idsOf([block])[0]): Kept {
  return { id: id ?? handleOf([index]), text: quote(blockText(block)) }
}

/** Whether a block that the call moved still has one of the neighbours that the call gave it. A block without any of them was moved again since. */
function isStillThere(slots: readonly Slot[], slot: Slot, { now }: BlockChange): boolean {
  if (now === undefined) return true
  return [-1, 1].some((step, side) => {
    const beside = slots[slot.index + step]
    const name = now[side] as Name
    return beside === undefined ? name === '' : isNamed(beside, name)
  })
}

/** Whether a name refers to this block: it is an id in the block, or the hash of the block's content. */
function isNamed(slot: Slot, name: Name): boolean {
  const hashed = readHashed(name)
  return hashed === null ? idsOf([slot.present]).includes(name) : blockHash(slot.present) === hashed.hash
}

function isLeaf(block: ProseElement): boolean {
  return idsOf([block]).length === 0
}

function readHashed(name: Name): { readonly hash: number; readonly index: number } | null {
  const [, hash, index] = /^#(\d+)@(\d+)$/.exec(name) ?? []
  return hash === undefined ? null : { hash: Number(hash), index: Number(index) }
}

function findContainer(
  slots: readonly Slot[],
  slotOf: ReadonlyMap<string, Slot>,
  { ids, at = 0, after }: BlockChange,
  taken: ReadonlyMap<Slot, BlockChange>,
): Slot | undefined {
  if (ids !== undefined) return ids.map((id) => slotOf.get(id)).find((slot) => slot !== undefined && !isIdBearing(slot.node))
  return nearest(
    slots.filter((slot) => !taken.has(slot) && isLeaf(slot.present) && blockHash(slot.present) === after),
    at,
  )
}

function nearest(slots: readonly Slot[], index: number): Slot | undefined {
  return slots.reduce<Slot | undefined>(
    (best, slot) => (best === undefined || Math.abs(slot.index - index) < Math.abs(best.index - index) ? slot : best),
    undefined,
  )
}

const formerBlocks = new WeakMap<BlockChange, ProseElement>()

/** Returns a changed or removed block as it was before the call. */
export function formerBlock(entry: BlockChange): ProseElement {
  let block = formerBlocks.get(entry)
  if (block === undefined) {
    block = parseHtml(entry.before as string, { source: 'stored' }).tree[0] as ProseElement
    formerBlocks.set(entry, block)
  }
  return block
}

interface Applying {
  /** Nobody wrote on the page since the call, and everything that the call did there is undone. */
  readonly isExact: boolean
  /** Returns the present form of a former text block that stays in another container or on another page. */
  elsewhere(block: ProseElement): ProseElement | undefined
  /** Whether `kept` lists the container or page that holds this text block. */
  isTold(id: string): boolean
  /** Returns a restored block in which the chips of fields and citations show their present labels. */
  shown(block: ProseElement): ProseElement
}

/** Carries out a plan. Returns the blocks of the page after the undo, and further entries of `kept`. */
export function applyPlan(plan: PagePlan, { isExact, elsewhere, isTold, shown }: Applying) {
  const { slots, slotOf, whole, moved, change } = plan
  const gone = new Set(plan.gone.keys())
  const replaced = new Map([...plan.replaced].map(([id, block]) => [id, shown(block)]))
  for (const slot of slots)
    slot.node = mapIdBearing([slot.node], (block) => replaced.get(blockId(block) ?? '') ?? block)[0] as ProseElement
  // An exact undo may bring repeated ids back. Otherwise a restored block leaves out the text blocks that stand on the page already.
  const standing = isExact ? [] : slots.filter((slot) => !gone.has(slot) && !whole.has(slot)).map(({ node }) => node)
  const present = new Map(idBearing(standing).map(({ block }) => [blockId(block) ?? '\n', block]))
  const here = (block: ProseElement) => present.get(blockId(block) ?? '')
  const kept: Kept[] = []
  const restored = (entry: BlockChange): ProseElement | null => {
    const block = shown(formerBlock(entry))
    for (const { block: text } of idBearing([block])) {
      const [id, now] = [blockId(text), here(text) ?? elsewhere(text)]
      if (id === null || now === undefined) continue
      // A paragraph that became an item is listed with its own text, not with the text of the whole list.
      if (!isTold(id) || (text === block && here(text) !== undefined)) kept.push({ id, text: quote(blockText(now)) })
    }
    return without(block, (text) => (here(text) ?? elsewhere(text)) !== undefined)
  }
  for (const [slot, entry] of whole) {
    const block = restored(entry)
    if (block === null) gone.add(slot)
    else slot.node = block
  }
  const entries: Returning<Slot>[] = []
  for (const entry of change.blocks ?? []) {
    const { after, from } = entry
    if (from === undefined) continue
    const slot = moved.get(entry)
    const node = after === undefined ? restored(entry) : null
    const item = slot === undefined ? node && { index: -1, present: node, node } : gone.has(slot) ? null : slot
    entries.push({ item, from })
  }
  const movedSlots = new Set(entries.flatMap(({ item }) => item ?? []))
  const find = (name: Name): Slot | undefined => {
    const hashed = readHashed(name)
    if (hashed === null) return slotOf.get(name)
    return nearest(
      slots.filter((slot) => isNamed(slot, name)),
      hashed.index,
    )
  }
  const list = returned(
    slots.filter((slot) => !gone.has(slot) && !movedSlots.has(slot)),
    entries,
    find,
  )
  return { nodes: list.map(({ node }) => node), kept }
}

/** Returns a block without the text blocks in it that stand elsewhere; `null` when nothing else is left of the block. */
export function without(block: ProseElement, isElsewhere: (text: ProseElement) => boolean): ProseElement | null {
  if (!idBearing([block]).some((text) => isElsewhere(text.block))) return block
  if (isIdBearing(block)) return null
  const content = block.content.flatMap((child) =>
    child.type === 'text' ? child : (without(child as ProseElement, isElsewhere) ?? []),
  )
  // An empty cell stays, because a row needs all its cells.
  return content.length > 0 || isCell(block) ? withContent(block, content) : null
}

/** Gives the blocks of a page that got new ids their former ids back. */
export function withoutMinted(
  tree: readonly ProseElement[],
  minted: NonNullable<ProsePageChange['minted']>,
): readonly ProseElement[] {
  const former = new Map(minted)
  return mapIdBearing(tree, (block) => {
    const id = former.get(blockId(block) ?? '')
    return id === undefined ? block : withBlockId(block, id === '' ? null : id)
  })
}
