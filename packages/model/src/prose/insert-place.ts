import { refused, type Fix, type Refusal, type Warning } from '../edit.ts'
import { withOwnIds, withPassedId, applied, type Applied, type Side } from './applied.ts'
import { idsOf } from './blocks.ts'
import { insertBeside } from './insert.ts'
import type { ProseElement, ProseTree } from './node.ts'
import { isAddressed, isItem, targetFlaw, type Address } from './targets.ts'
import { indexOf, nodeAt, type Path } from './tree-path.ts'

/** The arguments of `insert_block` that say where content goes, besides the named block. [AG-39] */
export interface InsertPlace {
  readonly side?: Side | undefined
  /** The end of the page at which content is inserted; needs no target. */
  readonly at?: 'start' | 'end' | undefined
  /** `true`: content goes beside the top-level block around the target. `false`: beside the target, whatever the content is. */
  readonly outside?: boolean | undefined
}

interface Inserted {
  readonly done: Applied
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
}

/** Refuses a call that names no place, or two places; `null` when it names one. [AG-39, ERR_TARGET_MISSING] */
export function placeFlaw(args: InsertPlace & Address, expectedVersion: number | undefined): Refusal | null {
  if (args.at === undefined) return targetFlaw(args, expectedVersion)
  const other = isAddressed(args)
    ? 'id and anchor'
    : args.side !== undefined
      ? 'side'
      : args.outside !== undefined
        ? 'outside'
        : null
  if (other === null) return null
  const expected = `at without ${other}, or a target without at`
  return refused('ERR_BAD_ARGUMENT', `at: "${args.at}" is a place of its own on the page; give ${expected}.`, {
    argument: 'at',
    expected,
  })
}

/** Inserts content at an end of the page. On an empty page, content replaces the empty paragraph. [AG-39, PROSE-64] */
export function insertAt(tree: ProseTree, at: 'start' | 'end', content: ProseTree): Applied {
  const [only] = tree
  const isEmpty = tree.length === 1 && only?.type === 'paragraph' && only.content.length === 0
  if (isEmpty) {
    const own = withPassedId(withOwnIds(content, []), tree)
    return applied(tree, own, own)
  }
  const own = withOwnIds(content, idsOf(tree))
  return applied(tree, at === 'start' ? [...own, ...tree] : [...tree, ...own], own)
}

/** Inserts content beside a unit. Beside an outer item, blocks such as headings go outside the list. [PROSE-56, AG-38, AG-39] */
export function insertBesideUnit(
  tree: ProseTree,
  unit: Path,
  content: ProseTree,
  { side = 'after', outside }: InsertPlace,
): Inserted {
  const top = unit.slice(0, 1)
  const stands = STANDS_ALONE.get(content.find(({ type }) => STANDS_ALONE.has(type))?.type ?? '')
  if (outside === true) return { done: insertBeside(tree, top, side, content), fixes: [], warnings: [] }
  if (outside === false || stands === undefined || !isItem(nodeAt(tree, unit)))
    return { done: insertBeside(tree, unit, side, content), fixes: [], warnings: [] }
  const list = nodeAt(tree, top) as ProseElement
  const isOuter = unit.length === 2 && indexOf(unit) === (side === 'before' ? 0 : list.content.length - 1)
  if (!isOuter) {
    const reason = `${stands} was put into the list; give outside: true for a place ${side} the list`
    return { done: insertBeside(tree, unit, side, content), fixes: [], warnings: [{ reason, field: 'content' }] }
  }
  const reason = `${stands} stands ${side} the list and not in it; give outside: false for a place in it`
  return {
    done: insertBeside(tree, top, side, content),
    fixes: [{ action: 'unwrapped', field: 'content', reason }],
    warnings: [],
  }
}

/** Types of blocks that a caller hardly means as a part of a list item, with the words for messages. [AG-38] */
const STANDS_ALONE: ReadonlyMap<string, string> = new Map([
  ['heading', 'content with a heading'],
  ['horizontalRule', 'content with a rule'],
  ['table', 'content with a table'],
  ['callout', 'content with a callout'],
])
