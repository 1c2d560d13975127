import { equalLists, sameList, withContent } from './equal.ts'
import { InlineRun } from './html-inline.ts'
import type { ProseNode } from './node.ts'
import { nodeSpec } from './schema.ts'

/**
 * Returns nodes with white space collapsed and trimmed, as HTML or Markdown in a call can express them. [PROSE-15] Unchanged nodes keep
 * their identity.
 */
export function asCalled<T extends ProseNode>(nodes: readonly T[]): readonly T[] {
  return sameList(nodes, nodes.map(called) as readonly ProseNode[] as readonly T[])
}

function called(node: ProseNode): ProseNode {
  if (node.type === 'text' || node.content.length === 0 || node.type === 'codeBlock') return node
  if (nodeSpec(node.type).content !== 'inline') return withContent(node, asCalled(node.content))
  if (!node.content.some(hasSpareSpace)) return node
  const run = new InlineRun(false)
  for (const child of node.content) {
    if (child.type !== 'text') run.atom(child)
    else
      run.text(
        child.text,
        child.marks,
        child.marks.some((mark) => mark.type === 'code'),
      )
  }
  const content = run.take()
  return equalLists(content, node.content) ? node : { ...node, content }
}

function hasSpareSpace(node: ProseNode): boolean {
  return node.type === 'text' && /^ | $| {2}|[\t\n\f\r]/.test(node.text)
}
