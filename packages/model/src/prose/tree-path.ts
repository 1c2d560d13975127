import type { ProseElement, ProseNode, ProseTree } from './node.ts'

/** The position of a block: its index under the page, then under each element inside. Never empty. */
export type Path = readonly number[]

/** Returns the children of the node at a path; the empty path stands for the page itself. */
export function childrenAt(tree: readonly ProseNode[], parent: Path): readonly ProseNode[] {
  let nodes = tree
  for (const index of parent) nodes = (nodes[index] as ProseElement).content
  return nodes
}

export function nodeAt(tree: ProseTree, path: Path): ProseElement {
  return childrenAt(tree, parentOf(path))[indexOf(path)] as ProseElement
}

export function parentOf(path: Path): Path {
  return path.slice(0, -1)
}

/** The parent element of the block at a path; `undefined` when the parent is the page. */
export function parentNode(tree: ProseTree, path: Path): ProseElement | undefined {
  return path.length > 1 ? nodeAt(tree, parentOf(path)) : undefined
}

export function indexOf(path: Path): number {
  return path[path.length - 1] as number
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && startsWith(a, b)
}

/** Whether `path` is `prefix` or a path inside it. */
export function startsWith(path: Path, prefix: Path): boolean {
  return path.length >= prefix.length && prefix.every((index, level) => path[level] === index)
}

/** Returns a copy in which `count` children from `path` on are replaced. Copies only the elements around these children. */
export function splice(
  nodes: readonly ProseNode[],
  path: Path,
  count: number,
  content: readonly ProseNode[],
): readonly ProseNode[] {
  const [index, ...inner] = path as readonly [number, ...number[]]
  if (inner.length === 0) return [...nodes.slice(0, index), ...content, ...nodes.slice(index + count)]
  const child = nodes[index] as ProseElement
  const changed: ProseElement = { ...child, content: splice(child.content, inner, count, content) }
  return [...nodes.slice(0, index), changed, ...nodes.slice(index + 1)]
}

const vanishing: ReadonlySet<string> = new Set([
  'listItem',
  'taskItem',
  'bulletList',
  'orderedList',
  'taskList',
  'figure',
  'gallery',
])

/** Returns a copy without the block at `path`, and without items, lists, figures and galleries that become empty. [PROSE-57] */
export function removeAt(tree: ProseTree, path: Path): readonly ProseNode[] {
  let gone = path
  for (let parent = parentNode(tree, gone); parent !== undefined; parent = parentNode(tree, gone)) {
    if (parent.content.length > 1 || !vanishing.has(parent.type)) break
    gone = parentOf(gone)
  }
  return splice(tree, gone, 1, [])
}
