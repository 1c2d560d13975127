import type { DocumentBody } from '../body.ts'
import type { EditEnvironment } from '../edit.ts'
import { quote } from '../quote.ts'
import { sameList, withContent } from './equal.ts'
import type { NodeType, ProseElement, ProseNode, ProseTree } from './node.ts'
import { blockText } from './text.ts'
import type { Path } from './tree-path.ts'

/** A block with its place on the page. */
export interface Located {
  readonly path: Path
  readonly block: ProseElement
}

/** Paragraphs, headings and code carry the durable id; nothing else does. [PROSE-42] */
export function isIdBearing(node: ProseNode): boolean {
  return node.type === 'paragraph' || node.type === 'heading' || node.type === 'codeBlock'
}

/** The id of a block, `null` until one is minted; an empty one is none. [PROSE-44] */
export function blockId(block: ProseElement): string | null {
  const id = block.attrs['id']
  return typeof id === 'string' && id !== '' ? id : null
}

/** Every id-bearing block of the page, at any depth, in document order. */
export function idBearing(tree: ProseTree): readonly Located[] {
  const found: Located[] = []
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      if (isIdBearing(node)) found.push({ path, block: node })
      else if (node.content.length > 0) walk(node.content, path)
    })
  walk(tree, [])
  return found
}

/** Every element of these nodes, inline ones aside, in document order. */
export function elementsOf(nodes: readonly ProseNode[], found: ProseElement[] = []): readonly ProseElement[] {
  for (const node of nodes) {
    if (node.type === 'text') continue
    found.push(node)
    if (!isIdBearing(node) && node.content.length > 0) elementsOf(node.content, found)
  }
  return found
}

/** The ids of these nodes, in document order, repeated ones repeated. */
export function idsOf(nodes: readonly ProseNode[], ids: string[] = []): readonly string[] {
  for (const node of nodes) {
    if (node.type === 'text') continue
    const id = isIdBearing(node) ? blockId(node) : null
    if (id !== null) ids.push(id)
    else if (node.content.length > 0 && !isIdBearing(node)) idsOf(node.content, ids)
  }
  return ids
}

/** A copy with every id-bearing block as `change` gives it; what it leaves alone keeps its identity. */
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

/** The block with this id, or without one. `id` stands where the table of attributes has it. */
export function withBlockId(block: ProseElement, id: string | null): ProseElement {
  if (blockId(block) === id && (id !== null || !('id' in block.attrs))) return block
  const { id: _, level, ...others } = block.attrs
  return { ...block, attrs: { ...(level === undefined ? {} : { level }), ...(id === null ? {} : { id }), ...others } }
}

/** Gives out ids that nothing in the document has or had. */
export type Mint = () => string

const idLike = /blk-[A-Za-z0-9_-]+/g

/** `used` names ids that are on their way into the document. [TOOL-12] */
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

/** The page with an id of its own on every id-bearing block; the first of repeated ids stays. The same object when all have one. [PROSE-44] */
export function completeIds(tree: ProseTree, mint: Mint): ProseTree {
  const seen = new Set<string>()
  return mapIdBearing(tree, (block) => {
    const id = blockId(block)
    if (id !== null && !seen.has(id)) {
      seen.add(id)
      return block
    }
    const minted = mint()
    seen.add(minted)
    return withBlockId(block, minted)
  })
}

export interface BlockEntry {
  readonly id: string
  readonly type: NodeType
  readonly text: string
}

/** How results name blocks. [TOOL-16] */
export interface BlockList {
  readonly blocks: readonly BlockEntry[]
  /** Present when there are more than the list holds. */
  readonly blocksTotal?: number
}

const maxEntries = 200

/** The handle of a top-level block without id. [PROSE-47] */
export function handle(index: number): string {
  return `@${index}`
}

/** How errors and results name one block. `null`: a block inside another one that has no id yet. */
export function nameOf(located: Located): string | null {
  const id = blockId(located.block)
  return id ?? (located.path.length === 1 ? handle(located.path[0] as number) : null)
}

/** Id-bearing blocks at any depth and id-less top-level blocks that `isListed`, in document order. */
export function listBlocks(tree: ProseTree, isListed: (block: ProseElement, path: Path) => boolean = () => true): BlockList {
  const blocks: BlockEntry[] = []
  let total = 0
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      const name = isIdBearing(node) || path.length === 1 ? nameOf({ path, block: node }) : null
      if (name !== null && isListed(node, path)) {
        total++
        if (blocks.length < maxEntries) blocks.push({ id: name, type: node.type, text: quote(blockText(node)) })
      }
      if (!isIdBearing(node) && node.content.length > 0) walk(node.content, path)
    })
  walk(tree, [])
  return total > blocks.length ? { blocks, blocksTotal: total } : { blocks }
}
