import { refused, type Refusal } from '../edit.ts'
import { bareName } from './block-names.ts'
import { idBearing, isIdBearing } from './blocks.ts'
import { besides } from './insert.ts'
import type { ProseTree } from './node.ts'
import { isItem } from './targets.ts'
import { indexOf, nodeAt, parentOf, removeAt, samePath, splice, startsWith, type Path } from './tree-path.ts'
import { applied, type Applied, type Side } from './applied.ts'

export interface Deleted extends Applied {
  /** Ids of everything in the unit, in document order; a top-level block without an id is named by its handle. */
  readonly deleted: readonly string[]
}

/** Removes a unit, and the containers that become empty. [PROSE-57] */
export function deleteUnit(tree: ProseTree, unit: Path): Deleted {
  const block = nodeAt(tree, unit)
  const inside = idBearing([block]).map((found) => bareName({ block: found.block, path: [...unit, ...found.path.slice(1)] }))
  const deleted = unit.length > 1 || isIdBearing(block) ? inside : [bareName({ path: unit, block }), ...inside]
  return { ...applied(tree, removeAt(tree, unit), []), deleted }
}

/** Moves a unit beside another one; ids and attributes are kept. [PROSE-58] */
export function moveUnit(tree: ProseTree, source: Path, target: Path, side: Side): Applied | Refusal {
  const refusal = whyNot(tree, source, target)
  if (refusal !== null) return refusal
  const unit = nodeAt(tree, source)
  const place = besides(target, side)
  const copied = splice(tree, place, 0, [unit]) as ProseTree
  const moved = applied(tree, removeAt(copied, shifted(source, place)), [unit])
  // If healing would drop content, the destination cannot hold it, so the move is refused.
  if (moved.fixes.some((fix) => fix.action === 'dropped_invalid'))
    return crossContext('a block with nested content', 'a deeply nested place', 'The target is nested too deeply to hold it.')
  return moved
}

function whyNot(tree: ProseTree, source: Path, target: Path): Refusal | null {
  const block = nodeAt(tree, source)
  const [first] = idBearing([block])
  const id = bareName(first === undefined ? { path: source, block } : { ...first, path: [...source, ...first.path.slice(1)] })
  if (samePath(source, target))
    return refused('ERR_MOVE_SELF', `${id} and the target are one unit; name another block as target.`, { id })
  if (startsWith(target, source))
    return refused('ERR_MOVE_INTO_SELF', `The target lies inside ${id}, which moves; name a block outside of it.`, { id })
  const [from, to] = [source, target].map((path) => isItem(nodeAt(tree, path)))
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

/** Adjusts a path after one block was inserted at `place`. */
function shifted(path: Path, place: Path): Path {
  const level = place.length - 1
  if (!startsWith(path, parentOf(place)) || path.length < place.length || (path[level] as number) < indexOf(place)) return path
  return path.map((index, depth) => (depth === level ? index + 1 : index))
}
