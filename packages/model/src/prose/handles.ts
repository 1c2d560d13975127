import { findNodeSpec } from './schema.ts'
import { isCell, type Located } from './blocks.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import type { Path } from './tree-path.ts'

/** Reads a handle such as `@3` or `@4.2.0`. Returns its path, the indexes of children from the page on; `null` for any other text. [AG-9, PROSE-47] */
export function readHandle(id: string): Path | null {
  return /^@\d{1,9}(\.\d{1,9}){0,63}$/.test(id) ? id.slice(1).split('.').map(Number) : null
}

export function handleOf(path: Path): string {
  return `@${path.join('.')}`
}

/** Returns the block, item or cell at a path; `null` for a missing node, for a row, and for an inline node. */
export function blockAt(tree: ProseTree, path: Path): Located | null {
  let nodes: readonly ProseNode[] = tree
  let found: ProseNode | undefined
  for (const index of path) {
    found = nodes[index]
    nodes = found === undefined || found.type === 'text' ? [] : found.content
  }
  return found !== undefined && found.type !== 'text' && isAddressable(found) ? { path, block: found } : null
}

function isAddressable(node: ProseElement): boolean {
  const group = findNodeSpec(node.type)?.group
  return group === 'block' || group === 'item' || isCell(node)
}

/** Returns every block, item and cell that a handle can name, in document order. */
export function addressable(tree: ProseTree): readonly Located[] {
  const found: Located[] = []
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      if (isAddressable(node)) found.push({ path, block: node })
      walk(node.content, path)
    })
  walk(tree, [])
  return found
}
