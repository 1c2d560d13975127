import { quote } from '../quote.ts'
import { stampedId } from '../stamps/stamp.ts'
import { blockStamp } from './block-stamp.ts'
import { blockId, isIdBearing, withBlockId, type Located } from './blocks.ts'
import { withContent } from './equal.ts'
import { handleOf } from './handles.ts'
import { handleAttr } from './html-writer.ts'
import type { ProseElement, ProseNode, ProseTree } from './node.ts'
import { saysAll } from './text.ts'
import type { Path } from './tree-path.ts'

/** How an answer names blocks: with their stamps, or without. [AG-11, AG-15] */
export type Naming = 'stamped' | 'bare'

/** An argument that the server adds to edits and reads: how answers name blocks. When absent, names have stamps. */
export interface Printed {
  readonly naming?: Naming | undefined
}

export function namingOf({ naming = 'stamped' }: Printed): Naming {
  return naming
}

/** The form of ids that answers may print. Editors may store any text as an id, and such a text must not reach the agent. [AG-12] */
const printable = /^[A-Za-z0-9_.:-]{1,64}$/

export function isPrintable(id: string): boolean {
  return printable.test(id)
}

/** Returns the name of a block whose content is not shown: its id, or else its handle. [AG-12, AG-14] */
export function bareName({ path, block }: Located): string {
  const id = isIdBearing(block) ? blockId(block) : null
  return id !== null && isPrintable(id) ? id : handleOf(path)
}

/** Returns the name of a block beside its whole content. Every argument that takes a block accepts this name. [AG-11, AG-12] */
export function blockName(located: Located, naming: Naming): string {
  const name = bareName(located)
  return naming === 'bare' ? name : stampedId(name, blockStamp(located.block))
}

/** Returns the name of a block beside `text`: without a stamp when `text` is not its whole content, since the rest is not seen. [AG-14] */
export function nameBeside(located: Located, text: string, naming: Naming): string {
  return blockName(located, isAllIn(text, located.block) ? naming : 'bare')
}

/** Whether a text is the whole content of a block, and is short enough to be shown whole. [AG-14, AG-17] */
export function isAllIn(text: string, block: ProseElement): boolean {
  return quote(text) === text && saysAll(text, block)
}

/**
 * Returns blocks with their names in attributes, for HTML that shows names. A text block is named by its stamped id, or by its handle when it has no id that
 * may be printed. Every other top-level block is named by its handle. [AG-13]
 */
export function withNames(blocks: readonly Located[], naming: Naming): ProseTree {
  return blocks.map((located) => {
    const named = namedInside(located, naming)
    return isIdBearing(named) ? named : withHandle(named, blockName(located, naming))
  })
}

/** Returns a block with the names of all text blocks in it. */
export function namedInside({ path, block }: Located, naming: Naming): ProseElement {
  return named(block, path, naming) as ProseElement
}

function named(node: ProseNode, path: Path, naming: Naming): ProseNode {
  if (node.type === 'text') return node
  if (!isIdBearing(node))
    return withContent(
      node,
      node.content.map((child, index) => named(child, [...path, index], naming)),
    )
  const name = blockName({ path, block: node }, naming)
  return name.startsWith('@') ? withHandle(withBlockId(node, null), name) : withBlockId(node, name)
}

function withHandle(node: ProseElement, handle: string): ProseElement {
  return { ...node, attrs: { ...node.attrs, [handleAttr]: handle } }
}
