import { hashOfText, type Stamp, stampOfHash } from '../stamps/stamp.ts'
import { asCalled } from './as-called.ts'
import { withContent } from './equal.ts'
import { serialiseHtml } from './html.ts'
import type { ProseElement, ProseNode } from './node.ts'

const hashes = new WeakMap<ProseElement, number>()

/** Returns the stamp of a block: of all types, attributes, texts and marks in it, but not of ids and derived attributes. [AG-2, AG-3, AG-4] */
export function blockStamp(block: ProseElement): Stamp {
  return stampOfHash(blockHash(block))
}

/** Returns the 32-bit hash of a block. The stamp of the block is a part of this hash. [AG-66] */
export function blockHash(block: ProseElement): number {
  let hash = hashes.get(block)
  if (hash === undefined) hashes.set(block, (hash = hashOfText(serialiseHtml(asCalled([said(block)])))))
  return hash
}

/** By node type, the attribute that is derived, so that it does not count for a stamp. `id` does not count for any type. */
const DERIVED: { readonly [type: string]: string } = { fieldRef: 'label', citationInline: 'label', bibliography: 'bibHtml' }

function said(node: ProseElement): ProseElement {
  const derived = DERIVED[node.type]
  const isSaid = (name: string): boolean => name !== 'id' && name !== derived
  const names = Object.keys(node.attrs)
  const attrs = names.every(isSaid) ? node.attrs : Object.fromEntries(Object.entries(node.attrs).filter(([name]) => isSaid(name)))
  const content = node.content.map((child: ProseNode) => (child.type === 'text' ? child : said(child)))
  const plain = content.every((child, i) => child === node.content[i]) ? node : withContent(node, content)
  return attrs === node.attrs ? plain : { ...plain, attrs }
}
