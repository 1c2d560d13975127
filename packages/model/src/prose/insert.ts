import { idsOf } from './blocks.ts'
import { pushAll } from './marks.ts'
import { emptyParagraph, type ProseElement, type ProseTree } from './node.ts'
import { isItem } from './targets.ts'
import { indexOf, nodeAt, parentOf, splice, type Path } from './tree-path.ts'
import { applied, withOwnIds, type Applied, type Side } from './applied.ts'

/** Returns the path of a new neighbour of a unit. */
export function besides(unit: Path, side: Side): Path {
  return [...parentOf(unit), indexOf(unit) + (side === 'before' ? 0 : 1)]
}

/** Inserts content beside a unit; beside a list item, the content becomes items. [PROSE-56] */
export function insertBeside(tree: ProseTree, unit: Path, side: Side, content: ProseTree): Applied {
  const own = withOwnIds(content, idsOf(tree))
  const target = nodeAt(tree, unit)
  // Items of another kind are converted when the list is healed; healing reports the conversion.
  const nodes = isItem(target) ? asItems(own, target.type) : own
  return applied(tree, splice(tree, besides(unit, side), 0, nodes), nodes)
}

function asItems(content: ProseTree, type: ProseElement['type']): readonly ProseElement[] {
  const items: ProseElement[] = []
  for (const block of content) {
    const last = items.at(-1)
    if (isList(block)) pushAll(items, block.content as readonly ProseElement[])
    else if (block.type === 'paragraph') items.push({ type, attrs: {}, content: [block] })
    else if (last === undefined) items.push({ type, attrs: {}, content: [emptyParagraph(), block] })
    else items[items.length - 1] = { ...last, content: [...last.content, block] }
  }
  return items
}

function isList(node: ProseElement): boolean {
  return node.type === 'bulletList' || node.type === 'orderedList' || node.type === 'taskList'
}
