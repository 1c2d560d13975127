import { idsOf } from './blocks.ts'
import { withoutLabels } from './chips.ts'
import { pushAll } from './marks.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import { keptBlocks } from './same-blocks.ts'
import type { Span } from './targets.ts'
import { childrenAt, indexOf, parentOf, splice } from './tree-path.ts'
import { applied, withOwnIds, withPassedId, type Applied } from './applied.ts'

/** Replaces a block, or consecutive blocks of one parent, by content. [PROSE-55] */
export function replaceSpan(tree: ProseTree, span: Span, content: ProseTree): Applied {
  const start = indexOf(span.path)
  const replaced = childrenAt(tree, parentOf(span.path)).slice(start, start + span.count)
  const owned = idsOf(splice(tree, span.path, span.count, []))
  const own = withPassedId(withOwnIds(content, owned), replaced)
  return applied(tree, splice(tree, span.path, span.count, own), own, replaced)
}

/** Replaces a page's content. Blocks with equal content stay and keep their ids. [PROSE-54] */
export function replacePage(tree: ProseTree, content: ProseTree): Applied {
  const kept = keptBlocks(withoutLabels(tree), withoutLabels(content))
  const isKept = new Set(kept.map((pair) => pair.written))
  const stays = idsOf(kept.map((pair) => tree[pair.stored] as ProseElement))
  const fresh = withOwnIds(
    content.filter((_, index) => !isKept.has(index)),
    stays,
  )
  const carried = new Set(idsOf(fresh))
  const nodes: ProseNode[] = []
  const own: ProseNode[] = []
  let [stored, written, next] = [0, 0, 0]
  for (const pair of [...kept, { stored: tree.length, written: content.length }]) {
    const gap = fresh.slice(next, next + pair.written - written)
    next += gap.length
    const passed = withPassedId(gap, tree.slice(stored, pair.stored), carried)
    pushAll(nodes, passed)
    pushAll(own, passed)
    if (pair.stored < tree.length) nodes.push(tree[pair.stored] as ProseElement)
    stored = pair.stored + 1
    written = pair.written + 1
  }
  return applied(tree, nodes, own)
}
