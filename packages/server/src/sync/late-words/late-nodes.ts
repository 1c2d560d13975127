import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import { type Arrival, AttributeNames, type DeletedRanges } from './arrivals.ts'
import { type CharId, nameOf } from './block-text.ts'
import { typeAt } from './live-places.ts'
import type { RemovedBlock } from './removed-blocks.ts'

/** A block without text, such as an image, that a client inserted into a removed container. */
export interface LateNode {
  readonly node: string
  readonly attributes: Map<string, AttributeValue>
  /** The remembered block that stands for this late block. */
  readonly block: RemovedBlock
  /** The element that the relay has written for this late block; `null` until then. */
  written: CharId | null
  /** The names of the attributes that have changed since the relay last wrote them. */
  readonly changed: Set<string>
}

type AttributeValue = string | number | boolean | null

/** Whether an element is a block that has no content, such as an image, a formula or a rule. */
export function isLeafBlock({ nodeName }: Y.XmlElement): boolean {
  const spec = findNodeSpec(nodeName)
  return spec?.group === 'block' && spec.content === 'none'
}

interface Known {
  /** By `nameOf` of the item with which the client inserted the node. */
  readonly nodes: Map<string, LateNode>
  readonly names: AttributeNames
}

/** The deletions of an update, and how they are to be read for its late content. */
interface Told {
  readonly deleted: DeletedRanges
  /** True when the deletions contain the removal of the block. Then they no longer show which content the writer deleted by hand. */
  readonly isHeardOf: boolean
}

/**
 * The late blocks without text, for as long as the removed blocks around them are remembered. Their attributes are read from the updates,
 * because the document drops all content that is inserted into a removed container.
 */
export class LateNodes {
  private readonly known = new WeakMap<RemovedBlock, Known>()

  /** Returns the block without text that an arrival inserts. Returns `[]` for other arrivals and for a block that its writer deleted again. */
  add(arrival: Arrival, block: RemovedBlock, { deleted, isHeardOf }: Told): readonly LateNode[] {
    const { client, clock, type } = arrival
    if (!(type instanceof Y.XmlElement) || !isLeafBlock(type)) return []
    if (!isHeardOf && Y.isDeleted(deleted, Y.createID(client, clock))) return []
    const known = this.known.get(block) ?? { nodes: new Map(), names: new AttributeNames() }
    this.known.set(block, known)
    const node: LateNode = { node: type.nodeName, attributes: new Map(), block, written: null, changed: new Set() }
    known.nodes.set(nameOf(arrival), node)
    return [node]
  }

  /** Returns the late block whose attribute an arrival sets, with the new value. Returns `[]` for an arrival that sets no such attribute. */
  change(arrival: Arrival, block: RemovedBlock, { deleted, isHeardOf }: Told): readonly LateNode[] {
    const known = this.known.get(block)
    const attribute = arrival.attribute ?? known?.names.behind(arrival.origin) ?? null
    const node = attribute === null ? undefined : known?.nodes.get(nameOf(attribute.node))
    if (attribute === null || node === undefined) return []
    known?.names.note(arrival, attribute)
    const { name } = attribute
    const { client, clock, length, value } = arrival
    const isGone = !isHeardOf && Y.isDeleted(deleted, Y.createID(client, clock + length - 1))
    if (isGone || !isPlain(value)) node.attributes.delete(name)
    else node.attributes.set(name, value)
    node.changed.add(name)
    return [node]
  }
}

/** Whether an attribute value may be written. A client can send any value, even one that Yjs cannot set without throwing. */
function isPlain(value: unknown): value is AttributeValue {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Whether a late block has all key attributes of its kind. The value of a missing attribute was discarded or has not arrived yet. */
export function isSaid({ node, attributes }: LateNode): boolean {
  return findNodeSpec(node)?.attrs.every(({ key, name }) => key !== true || (attributes.get(name) ?? null) !== null) === true
}

/** Builds the element of a late block. */
export function elementOf({ node, attributes }: LateNode): Y.XmlElement {
  const element = new Y.XmlElement(node)
  // Yjs accepts any plain value; only its type declaration demands a string.
  for (const [name, value] of attributes) element.setAttribute(name, value as string)
  return element
}

/** Writes attribute values that arrived after the block was written. Returns false when the block is gone, so that the values are lost. */
export function writeChanges(doc: Y.Doc, { written, attributes, changed }: LateNode): boolean {
  const element = written && typeAt(doc, written)
  const isLost = changed.size > 0 && !(element instanceof Y.XmlElement)
  // An attribute that was deleted, or whose new value may not be written, keeps the value that it has.
  if (element instanceof Y.XmlElement)
    for (const name of changed) if (attributes.has(name)) element.setAttribute(name, attributes.get(name) as string)
  changed.clear()
  return !isLost
}
