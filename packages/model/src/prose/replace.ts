import { idsOf } from './blocks.ts'
import type { ProseTree } from './node.ts'
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
