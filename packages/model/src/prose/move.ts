import { isRefusal, refused, type Refusal } from '../edit.ts'
import { bareName } from './block-names.ts'
import { idBearing, idsOf, isIdBearing } from './blocks.ts'
import { besides } from './insert.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import { isItem, type Span } from './targets.ts'
import { childrenAt, indexOf, nodeAt, parentOf, removeAt, splice, startsWith, type Path } from './tree-path.ts'
import { applied, withOwnIds, type Applied, type Side } from './applied.ts'

export interface Deleted extends Applied {
  /** The names of all deleted blocks, in document order; a top-level block without an id is named by its handle. */
  readonly deleted: readonly string[]
}

/** Removes consecutive units of one parent, and the containers that become empty. [PROSE-57, AG-81] */
export function deleteUnits(tree: ProseTree, span: Span): Deleted {
  const deleted = unitsOf(tree, span).flatMap((unit, i) => namesIn([...parentOf(span.path), indexOf(span.path) + i], unit))
  return { ...applied(tree, without(tree, span), []), deleted }
}

function unitsOf(tree: ProseTree, { path, count }: Span): readonly ProseElement[] {
  const first = indexOf(path)
  return childrenAt(tree, parentOf(path)).slice(first, first + count) as readonly ProseElement[]
}

function without(tree: ProseTree, { path, count }: Span): readonly ProseNode[] {
  return removeAt(splice(tree, besides(path, 'after'), count - 1, []) as ProseTree, path)
}

/** Returns the ids of all blocks in a block, in document order; a top-level block without an id is named by its handle. */
export function namesIn(path: Path, block: ProseElement): readonly string[] {
  const inside = namedIn(path, block)
  return path.length > 1 || isIdBearing(block) ? inside : [bareName({ path, block }), ...inside]
}

function namedIn(path: Path, block: ProseElement): readonly string[] {
  return idBearing([block]).map((found) => bareName({ block: found.block, path: [...path, ...found.path.slice(1)] }))
}

/** Moves consecutive units beside another unit; ids and attributes are kept. [PROSE-58, AG-81] */
export function moveUnits(tree: ProseTree, source: Span, target: Path, side: Side): Applied | Refusal {
  const refusal = whyInside(tree, source, target) ?? whyOtherKind(tree, source, nodeAt(tree, target))
  if (refusal !== null) return refusal
  const units = unitsOf(tree, source)
  const place = besides(target, side)
  const copied = splice(tree, place, 0, units) as ProseTree
  return whole(applied(tree, without(copied, { ...source, path: shifted(source.path, place, source.count) }), units))
}

/** Two pages after units moved from one (`left`) to the other (`taken`). */
export interface Taken {
  readonly left: Applied
  readonly taken: Applied
}

/** Moves consecutive units of a page beside a unit of another page. [AG-81] */
export function takeUnits(
  tree: ProseTree,
  source: Span,
  to: { readonly tree: ProseTree; readonly unit: Path; readonly side: Side },
): Taken | Refusal {
  const refusal = whyOtherKind(tree, source, nodeAt(to.tree, to.unit))
  if (refusal !== null) return refusal
  const units = withOwnIds(unitsOf(tree, source), idsOf(to.tree))
  const taken = whole(applied(to.tree, splice(to.tree, besides(to.unit, to.side), 0, units), units))
  return isRefusal(taken) ? taken : { left: applied(tree, without(tree, source), []), taken }
}

/** Refuses a move after which healing would drop content, since the destination is nested too deeply. */
function whole(moved: Applied): Applied | Refusal {
  if (!moved.fixes.some((fix) => fix.action === 'dropped_invalid')) return moved
  return crossContext('a block with nested content', 'a deeply nested place', 'The target is nested too deeply to hold it.')
}

function whyInside(tree: ProseTree, { path, count }: Span, target: Path): Refusal | null {
  const block = nodeAt(tree, path)
  const id = namedIn(path, block)[0] ?? bareName({ path, block })
  const index = target[path.length - 1] ?? -1
  const isInside = startsWith(target, parentOf(path)) && index >= indexOf(path) && index < indexOf(path) + count
  if (!isInside) return null
  if (target.length === path.length)
    return refused('ERR_MOVE_SELF', `${id} and the target are one unit; name another block as target.`, { id })
  return refused('ERR_MOVE_INTO_SELF', `The target lies inside ${id}, which moves; name a block outside of it.`, { id })
}

function whyOtherKind(tree: ProseTree, source: Span, target: ProseElement): Refusal | null {
  const [from, to] = [nodeAt(tree, source.path), target].map(isItem)
  if (from === to) return null
  return from === true
    ? crossContext(
        'item',
        'block',
        'Name the first block of another list item as target, or insert its text and delete the item.',
      )
    : crossContext('block', 'item', 'Name a block outside of lists as target, or insert its text beside the item and delete it.')
}

function crossContext(from: string, to: string, hint: string): Refusal {
  return refused('ERR_MOVE_CROSS_CONTEXT', `A unit of kind "${from}" cannot move beside one of kind "${to}". ${hint}`, {
    from,
    to,
    hint,
  })
}

/** Adjusts a path after `count` blocks were inserted at `place`. */
function shifted(path: Path, place: Path, count: number): Path {
  const level = place.length - 1
  if (!startsWith(path, parentOf(place)) || path.length < place.length || (path[level] as number) < indexOf(place)) return path
  return path.map((index, depth) => (depth === level ? index + count : index))
}
