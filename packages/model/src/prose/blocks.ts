import type { DocumentBody } from '../body.ts'
import type { EditEnvironment } from '../edit.ts'
import { sameList, withContent } from './equal.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import { type Content, nodeSpec } from './schema.ts'
import { titleText } from './text.ts'
import type { Path } from './tree-path.ts'

/** A block with its place on the page. */
export interface Located {
  readonly path: Path
  readonly block: ProseElement
}

/** Whether a block carries a durable id: paragraphs, headings and code blocks do. [PROSE-42] */
export function isIdBearing(node: ProseNode): boolean {
  return node.type === 'paragraph' || node.type === 'heading' || node.type === 'codeBlock'
}

const HOLDS_BLOCKS: ReadonlySet<Content> = new Set(['blocks', 'items', 'rows', 'cells'])

/** Whether a block contains no blocks: a text block, image, formula or rule. A figure with its caption and a gallery count as such blocks. */
export function isLeaf({ type }: ProseNode): boolean {
  if (type === 'text') return false
  const { group, content } = nodeSpec(type)
  return group === 'block' && !HOLDS_BLOCKS.has(content)
}

/** Whether a node is a cell of a table. */
export function isCell({ type }: ProseNode): boolean {
  return type === 'tableCell' || type === 'tableHeader'
}

/** Returns the id of a block; `null` until one is minted, and for an empty id. [PROSE-44] */
export function blockId(block: ProseElement): string | null {
  const id = block.attrs['id']
  return typeof id === 'string' && id !== '' ? id : null
}

/** Returns every id-bearing block of the page, at any depth, in document order. */
export function idBearing(tree: ProseTree): readonly Located[] {
  return blocksThat(isIdBearing, tree)
}

/** Returns every leaf block at any depth, in document order. All words and images of a page are in leaf blocks. */
export function leaves(tree: ProseTree): readonly Located[] {
  return blocksThat(isLeaf, tree)
}

function blocksThat(isWanted: (node: ProseNode) => boolean, tree: ProseTree): readonly Located[] {
  const found: Located[] = []
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      if (isWanted(node)) found.push({ path, block: node })
      else if (node.content.length > 0) walk(node.content, path)
    })
  walk(tree, [])
  return found
}

/** Returns every element of these nodes except inline ones, in document order. */
export function elementsOf(nodes: readonly ProseNode[], found: ProseElement[] = []): readonly ProseElement[] {
  for (const node of nodes) {
    if (node.type === 'text') continue
    found.push(node)
    if (!isIdBearing(node) && node.content.length > 0) elementsOf(node.content, found)
  }
  return found
}

/** Returns the ids of these nodes in document order, including repetitions. */
export function idsOf(nodes: readonly ProseNode[], ids: string[] = []): readonly string[] {
  for (const node of nodes) {
    if (node.type === 'text') continue
    const id = isIdBearing(node) ? blockId(node) : null
    if (id !== null) ids.push(id)
    else if (node.content.length > 0 && !isIdBearing(node)) idsOf(node.content, ids)
  }
  return ids
}

/** Returns a copy in which `change` was applied to every id-bearing block; unchanged nodes keep their identity. */
export function mapIdBearing<T extends ProseNode>(
  nodes: readonly T[],
  change: (block: ProseElement) => ProseElement,
): readonly T[] {
  const changed = nodes.map((node): ProseNode => {
    if (node.type === 'text') return node
    if (isIdBearing(node)) return change(node)
    return node.content.length === 0 ? node : withContent(node, mapIdBearing(node.content, change))
  })
  return sameList(nodes, changed as readonly ProseNode[] as readonly T[])
}

/** Returns the block with this id, or without an id when `id` is null. The attribute is at its position in the table of attributes. */
export function withBlockId(block: ProseElement, id: string | null): ProseElement {
  if (blockId(block) === id && (id !== null || !('id' in block.attrs))) return block
  const { id: _, level, ...others } = block.attrs
  return { ...block, attrs: { ...(level === undefined ? {} : { level }), ...(id === null ? {} : { id }), ...others } }
}

/** Makes ids that the document does not have and never had. */
export type Mint = () => string

const idLike = /blk-[A-Za-z0-9_-]+/g

/** Returns a function that mints block ids. `used` are ids that this edit is adding to the document. [TOOL-12] */
export function blockIdMint(body: DocumentBody, environment: EditEnvironment, used: Iterable<string> = []): Mint {
  let taken: Set<string> | undefined
  return () => {
    taken ??= new Set([...used, ...body.prose.pages.flatMap((page) => page.content.match(idLike) ?? [])])
    for (;;) {
      const id = `blk-${environment.random(10)}`
      if (taken.has(id)) continue
      taken.add(id)
      return id
    }
  }
}

/**
 * Returns the page with a unique id on every id-bearing block. When several blocks have the same id, the first one with text keeps it, else
 * the first: an editor that splits a block at its start leaves an empty block with the same id before it. Returns the same object when
 * nothing is missing. [PROSE-44]
 */
export function completeIds(tree: ProseTree, mint: Mint): ProseTree {
  const owners = new Map<string, ProseElement>()
  for (const { block } of idBearing(tree)) {
    const id = blockId(block)
    if (id === null) continue
    const owner = owners.get(id)
    if (owner === undefined || (titleText(owner) === '' && titleText(block) !== '')) owners.set(id, block)
  }
  return mapIdBearing(tree, (block) => {
    const id = blockId(block)
    if (id === null || owners.get(id) !== block) return withBlockId(block, mint())
    // The same object may occur twice in the page; only one occurrence keeps the id.
    owners.delete(id)
    return block
  })
}
