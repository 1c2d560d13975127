import { quote } from '../quote.ts'
import { blockName, nameBeside, type Naming } from './block-names.ts'
import { isIdBearing } from './blocks.ts'
import type { NodeType, ProseElement, ProseNode, ProseTree } from './node.ts'
import { blockText } from './text.ts'
import type { Path } from './tree-path.ts'

export interface BlockEntry {
  readonly id: string
  readonly type: NodeType
  readonly text: string
}

/** Blocks as results name them. [TOOL-16] */
export interface BlockList {
  readonly blocks: readonly BlockEntry[]
  /** Present when there are more blocks than the list holds. */
  readonly blocksTotal?: number
}

export interface ListOptions {
  readonly naming: Naming
  /** The blocks have the content that the call brought, so that its caller knows them also where the text is cut. [AG-14] */
  readonly isOwn: boolean
  readonly isListed?: (block: ProseElement, path: Path) => boolean
}

const maxEntries = 200

/**
 * Returns those id-bearing blocks at any depth, and top-level blocks without id, for which `isListed` is true, in
 * document order.
 */
export function listBlocks(tree: ProseTree, { naming, isOwn, isListed = () => true }: ListOptions): BlockList {
  const blocks: BlockEntry[] = []
  let total = 0
  const walk = (nodes: readonly ProseNode[], parent: Path): void =>
    nodes.forEach((node, index) => {
      if (node.type === 'text') return
      const path = [...parent, index]
      if ((isIdBearing(node) || path.length === 1) && isListed(node, path) && total++ < maxEntries) {
        const text = blockText(node)
        const located = { path, block: node }
        const id = isOwn ? blockName(located, naming) : nameBeside(located, text, naming)
        blocks.push({ id, type: node.type, text: quote(text) })
      }
      if (!isIdBearing(node) && node.content.length > 0) walk(node.content, path)
    })
  walk(tree, [])
  return total > blocks.length ? { blocks, blocksTotal: total } : { blocks }
}
