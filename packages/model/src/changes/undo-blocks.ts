import { blockHash } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf, isIdBearing, mapIdBearing, withBlockId } from '../prose/blocks.ts'
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
interface Slot {
  readonly index: number
  /** As it is before the undo; names refer to it. */
  readonly present: ProseElement
  node: ProseElement
}

/** What an undo will do on a page. */
export interface PagePlan {
  readonly slots: readonly Slot[]
  readonly slotOf: ReadonlyMap<string, Slot>
  readonly gone: ReadonlySet<Slot>
  readonly replaced: ReadonlyMap<string, ProseElement>
  readonly whole: ReadonlyMap<Slot, ProseElement>
  readonly moved: ReadonlyMap<BlockChange, Slot>
  readonly change: ProsePageChange
  readonly kept: readonly Kept[]
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
    new Set<Slot>(),
    new Map<string, ProseElement>(),
    new Map<Slot, ProseElement>(),
    new Map<BlockChange, Slot>(),
  ]
  const kept: Kept[] = []
  for (const entry of change.blocks ?? []) {
    const { id, after, before, from } = entry
    if (after === undefined) continue
    const slot = id === undefined ? findContainer(slots, slotOf, entry, gone) : slotOf.get(id)
    const block = id === undefined ? slot?.node : texts.get(id)
    const isCreated = before === undefined && from === undefined
    if (slot === undefined || block === undefined) {
      // A new block that has an id and is gone leaves nothing behind. Of others nobody can tell.
      if (!isCreated || (id === undefined && entry.ids === undefined))
        kept.push({ id: id ?? entry.ids?.[0] ?? handleOf([entry.at ?? 0]), text: '', isGone: true })
      continue
    }
    const isTop = slot.node === block
    const isAsLeft =
      blockHash(block) === after && (isTop || (!isCreated && from === undefined)) && isStillThere(slots, slot, entry)
    if (!isAsLeft) {
      kept.push({ id: id ?? idsOf([block])[0] ?? handleOf([slot.index]), text: quote(blockText(block)) })
      continue
    }
    if (isCreated) gone.add(slot)
    if (from !== undefined) moved.set(entry, slot)
    if (before === undefined) continue
    const old = readBlock(before)
    if (id === undefined) whole.set(slot, old)
    else replaced.set(id, old)
  }
  return { slots, slotOf, gone, replaced, whole, moved, change, kept }
}

/** Whether a block that the call moved has one of the neighbours that it got. Without, somebody else moved it. */
function isStillThere(slots: readonly Slot[], slot: Slot, { now }: BlockChange): boolean {
  if (now === undefined) return true
  return [-1, 1].some((step, side) => {
    const beside = slots[slot.index + step]
    const name = now[side] as Name
    return beside === undefined ? name === '' : isNamed(beside, name)
  })
}

/** A name is an id in the block, or says what it says. */
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
  taken: ReadonlySet<Slot>,
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

function readBlock(html: string): ProseElement {
  return parseHtml(html, { source: 'stored' }).tree[0] as ProseElement
}

interface Applying {
  /** Nobody wrote on the page since the call. */
  readonly isExact: boolean
  /** A block with this id stays where the call put it, so it does not come back here. */
  isElsewhere(id: string): boolean
  /** A restored block with what is derived in it. */
  shown(block: ProseElement): ProseElement
}

/** Does what was planned. */
export function applyPlan(plan: PagePlan, { isExact, isElsewhere, shown }: Applying) {
  const { slots, slotOf, gone, whole, moved, change } = plan
  const kept: Kept[] = []
  const replaced = new Map([...plan.replaced].map(([id, block]) => [id, shown(block)]))
  for (const [slot, block] of whole) slot.node = shown(block)
  for (const slot of slots)
    slot.node = mapIdBearing([slot.node], (block) => replaced.get(blockId(block) ?? '') ?? block)[0] as ProseElement
  const left = slots.filter((slot) => !gone.has(slot))
  const present = new Map(idBearing(left.map(({ node }) => node)).map(({ block }) => [blockId(block), block]))
  const entries: Returning<Slot>[] = []
  for (const entry of change.blocks ?? []) {
    const { before, after, from } = entry
    if (from === undefined) continue
    if (after !== undefined) {
      entries.push({ item: moved.get(entry) ?? null, from })
      continue
    }
    const block = shown(readBlock(before as string))
    const id = isExact || !isIdBearing(block) ? null : blockId(block)
    const staying = id === null ? undefined : present.get(id)
    if (id !== null && staying !== undefined) kept.push({ id, text: quote(blockText(staying)) })
    const node = staying !== undefined ? null : without(block, isElsewhere)
    entries.push({ item: node && { index: -1, present: node, node }, from })
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
    left.filter((slot) => !movedSlots.has(slot)),
    entries,
    find,
  )
  return { nodes: list.map(({ node }) => node), kept }
}

/** A block without the text blocks in it that are elsewhere; `null` when nothing of it is left. What is not elsewhere comes back all the same. */
function without(block: ProseElement, isElsewhere: (id: string) => boolean): ProseElement | null {
  if (!idsOf([block]).some(isElsewhere)) return block
  if (isIdBearing(block)) return null
  const content = block.content.flatMap((child) =>
    child.type === 'text' ? child : (without(child as ProseElement, isElsewhere) ?? []),
  )
  // A row needs its cells.
  const isCell = block.type === 'tableCell' || block.type === 'tableHeader'
  return content.length > 0 || isCell ? withContent(block, content) : null
}

/** The page with the former ids of blocks that got new ones. */
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
