import type { DocumentBody, ProsePage } from '../body.ts'
import { blockHash } from '../prose/block-stamp.ts'
import { blockId, idBearing, idsOf } from '../prose/blocks.ts'
import { sameList } from '../prose/equal.ts'
import type { ProseElement, ProseTree } from '../prose/node.ts'
import { pageTree } from '../prose/page.ts'
import { blockText } from '../prose/text.ts'
import { quote } from '../quote.ts'
import type { BlockChange, ChangeSet, PageEntry, ProsePageChange } from './change-set.ts'
import { formerBlock, keptBlock, type PagePlan, type Slot, type Staying, without } from './undo-blocks.ts'
import type { Kept } from './undo-list.ts'

/*
 * A record contains a block that a call moved between containers or pages twice: as removed from one place and as added to another. Somebody may have
 * changed either place since. So an undo considers both places together: afterwards no block occurs twice, and none is lost. [AG-71]
 */

/** The key of a text block: its id, or without an id the hash of its content, since a move mints an id. `null` for an empty block without id. */
type Key = string | number | null

function keyOf(block: ProseElement): Key {
  return blockId(block) ?? wordsOf(block)
}

function wordsOf(block: ProseElement): number | null {
  return blockText(block) === '' ? null : blockHash(block)
}

function keysOf(blocks: readonly ProseElement[]): readonly Key[] {
  return idBearing(blocks).flatMap(({ block }) => keyOf(block) ?? [])
}

/** Says which of the blocks that a call moved can go back to their places before the call. */
export interface Homes {
  /** Text blocks that stood in another place before the call. */
  readonly former: ReadonlySet<Key>
  /** The blocks of `former` that the undo can put back where they stood. */
  readonly open: ReadonlySet<Key>
}

/** Takes steps out of the plans that would remove a moved block from its new place although somebody changed or removed its former place since. */
export function withNothingLost(
  given: readonly PagePlan[],
  { prose }: ChangeSet,
  body: DocumentBody,
): { readonly plans: readonly PagePlan[]; readonly homes: Homes } {
  const removed = (prose?.list ?? []).flatMap(({ id, before, after }) =>
    before === undefined || after !== undefined ? [] : [{ id, keys: keysOf(treeOf(before as unknown as ProsePage)) }],
  )
  const returning = removed.filter(({ id }) => body.prose.pages.every((page) => page.id !== id))
  const former = new Set([
    ...(prose?.pages ?? []).flatMap(({ blocks = [] }) => keysOf(blocks.filter(isPlace).map(formerBlock))),
    ...removed.flatMap(({ keys }) => keys),
  ])
  const openOf = (plans: readonly PagePlan[]) =>
    new Set([
      ...plans.flatMap(({ change, whole }) => {
        const restored = [...whole.values(), ...(change.blocks ?? []).filter(({ after }) => after === undefined)]
        return keysOf(restored.map(formerBlock))
      }),
      ...returning.flatMap(({ keys }) => keys),
    ])
  let plans = given
  for (;;) {
    const homes = { former, open: openOf(plans) }
    const settled = plans.map((plan) => withHomeless(plan, homes))
    if (settled.every((plan, index) => plan === plans[index])) return { plans, homes }
    // A container that now stays does not restore its former blocks, so further blocks may have to stay.
    plans = settled
  }
}

/** Whether an entry restores a block that text blocks may have left: a removed block, or a container as a whole. */
function isPlace({ id, before, after }: BlockChange): boolean {
  return before !== undefined && (after === undefined || id === undefined)
}

/** Whether the call moved one of `blocks` here and that block cannot go back to its former place. `own`: keys of the blocks that replace `blocks` here. */
export function isHomeless(blocks: readonly ProseElement[], { former, open }: Homes, own: readonly Key[] = []): boolean {
  return idBearing(blocks).some(({ block }) => {
    const id = blockId(block)
    const key = id !== null && former.has(id) ? id : wordsOf(block)
    return former.has(key) && !open.has(key) && !own.includes(key)
  })
}

function withHomeless(plan: PagePlan, homes: Homes): PagePlan {
  const stuck = [...plan.gone, ...plan.whole].filter(([slot, entry]) =>
    isHomeless([slot.present], homes, entry.before === undefined ? [] : keysOf([formerBlock(entry)])),
  )
  if (stuck.length === 0) return plan
  const slots = new Set(stuck.map(([slot]) => slot))
  const left = <V>(map: ReadonlyMap<Slot, V>) => new Map([...map].filter(([slot]) => !slots.has(slot)))
  return {
    ...plan,
    gone: left(plan.gone),
    whole: left(plan.whole),
    moved: new Map([...plan.moved].filter(([, slot]) => !slots.has(slot))),
    kept: [...plan.kept, ...stuck.map(([slot]) => keptBlock(slot.present, slot))],
    staying: [...plan.staying, ...stuck.map(([slot, entry]): Staying => ({ entry, block: slot.present }))],
  }
}

/** Finds the present form of a former text block among the blocks that stay where the call, or somebody since, put them. */
export type Elsewhere = (block: ProseElement) => ProseElement | undefined

interface Arrived {
  /** Pages that the call made and that stay. */
  readonly made: readonly ProsePage[]
  readonly strays: ReadonlyMap<string, ProseElement>
  /** For blocks that had no id before the call: the hash of their former content, by the id that they got. */
  readonly said: ReadonlyMap<string, number>
}

export function elsewhereOf(plans: readonly PagePlan[], { made, strays, said }: Arrived): Elsewhere {
  const arrived = new Map<string, ProseElement>()
  // A moved block without id got an id in its new place. So only its content identifies the block: the present content, or the content at its arrival.
  const worded = new Map<Key, ProseElement>()
  const speak = (block: ProseElement) => {
    worded.set(wordsOf(block), block)
    const former = said.get(blockId(block) ?? '')
    if (former !== undefined) worded.set(former, block)
  }
  const arrive = (blocks: readonly ProseElement[], former: ReadonlySet<string> = new Set()) => {
    for (const { block } of idBearing(blocks)) {
      const id = blockId(block)
      if (id === null || former.has(id)) continue
      arrived.set(id, block)
      speak(block)
    }
  }
  const word = ({ id, after, before, from }: BlockChange, block: ProseElement) => {
    if (id !== undefined && before === undefined && from === undefined && after !== undefined) worded.set(after, block)
  }
  for (const block of strays.values()) speak(block)
  for (const { staying, change, astray } of plans) {
    const former = new Set(
      idsOf((change.blocks ?? []).flatMap((entry) => (entry.before === undefined ? [] : formerBlock(entry)))),
    )
    for (const { entry, block } of staying) {
      arrive([block], former)
      word(entry, block)
    }
    for (const entry of astray) {
      const block = strays.get(entry.id ?? '')
      if (block !== undefined) word(entry, block)
    }
  }
  arrive(made.flatMap(treeOf))
  return (block) => {
    const id = blockId(block)
    if (id !== null) return arrived.get(id) ?? strays.get(id)
    const words = wordsOf(block)
    return words === null ? undefined : worded.get(words)
  }
}

interface Around {
  /** The entries of created, removed and moved pages, except for pages that the undo removes. */
  readonly list: readonly PageEntry[]
  /** The changes that the call made on pages that have been deleted since. */
  readonly gone: readonly ProsePageChange[]
  /** The present pages that the undo does not remove, as they are before the undo. */
  readonly pages: readonly ProsePage[]
}

/** For the moved blocks that had no id before the call: returns the hash of their former content, by the id that they got. */
export function saidBefore({ prose }: ChangeSet): ReadonlyMap<string, number> {
  const entries = [...(prose?.list ?? []), ...(prose?.pages ?? []).flatMap(({ blocks = [] }) => blocks)]
  return new Map(entries.flatMap(({ said = [] }) => said))
}

/** Returns the blocks that the call made or moved and that stay where they are now, on whichever page. */
export function strayBlocks(plans: readonly PagePlan[], around: Around): ReadonlyMap<string, ProseElement> {
  const { list, gone, pages } = around
  const blocks = [...plans.map(({ change }) => change), ...gone].flatMap((change) => change.blocks ?? [])
  const wanted = new Set([...list, ...blocks].flatMap(({ came = [] }) => came))
  for (const ids of newBlocks(plans, around)) for (const id of ids) wanted.add(id)
  const leaving = plans.flatMap((plan) => [...plan.gone.keys(), ...plan.whole.keys()].map(({ present }) => present))
  for (const id of idsOf(leaving)) wanted.delete(id)
  if (wanted.size === 0) return new Map()
  return new Map(
    pages
      .flatMap((page) => idBearing(treeOf(page)))
      .flatMap(({ block }) => {
        const id = blockId(block)
        return id !== null && wanted.has(id) ? [[id, block] as const] : []
      }),
  )
}

/** Returns, for each new block that is no longer where the call made it, the ids by which it can be found. */
function newBlocks(plans: readonly PagePlan[], { list, gone, pages }: Around): readonly (readonly string[])[] {
  const isNew = ({ before, from }: BlockChange) => before === undefined && from === undefined
  const blocks = [...plans.flatMap(({ astray }) => astray), ...gone.flatMap((page) => (page.blocks ?? []).filter(isNew))]
  const ofPages = list.filter(({ id }) => pages.every((page) => page.id !== id)).map(({ ids = [] }) => ids)
  return [...ofPages, ...blocks.map(({ id, ids = [] }) => (id === undefined ? ids : [id]))]
}

/** Lists the new blocks of a call that somebody moved to another page since: a moved block counts as changed. [AG-70] */
export function keptStrays(
  plans: readonly PagePlan[],
  around: Around,
  strays: ReadonlyMap<string, ProseElement>,
): readonly Kept[] {
  return newBlocks(plans, around).flatMap((ids) => {
    const id = ids.find((name) => strays.has(name))
    return id === undefined ? [] : [{ id, text: quote(blockText(strays.get(id) as ProseElement)) }]
  })
}

/** Returns the blocks of a former page that an undo puts back: all except those that stand on another page or in another container now. */
export function treeWithout(tree: ProseTree, elsewhere: Elsewhere): ProseTree {
  return sameList(
    tree,
    tree.flatMap((block) => without(block, (text) => elsewhere(text) !== undefined) ?? []),
  )
}

export function treeOf(page: ProsePage): ProseTree {
  return page.content === '' ? [] : pageTree(page).tree
}
