import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import { type Arrival, AttributeNames, type DeletedRanges } from './arrivals.ts'
import { type CharId, nameOf } from './block-text.ts'
import { typeAt } from './live-places.ts'
import type { RemovedBlock } from './removed-blocks.ts'

/** A block without text, such as an image, that a client put into something removed. */
export interface LateNode {
  readonly node: string
  readonly attributes: Map<string, AttributeValue>
  /** What is remembered in its place. */
  readonly block: RemovedBlock
  /** The block that was written for it; `null` before. */
  written: CharId | null
  /** The attributes that have got values since it was written. */
  readonly changed: Set<string>
}

type AttributeValue = string | number | boolean | null

/** Whether an element is a block that has nothing inside, as an image, a formula or a rule. */
export function isLeafBlock({ nodeName }: Y.XmlElement): boolean {
  const spec = findNodeSpec(nodeName)
  return spec?.group === 'block' && spec.content === 'none'
}

interface Known {
  /** By the name that its writer gave the node. */
  readonly nodes: Map<string, LateNode>
  readonly names: AttributeNames
}

/** What an update tells of what is late in it. */
interface Told {
  readonly deleted: DeletedRanges
  /** The update tells of the removal too. Then it no longer tells what its writer deleted by hand. */
  readonly isHeardOf: boolean
}

/**
 * The blocks without text that came late, for as long as the removed ones are remembered. Their attributes are known from updates alone: in the
 * document all is dropped that comes into something removed.
 */
export class LateNodes {
  private readonly known = new WeakMap<RemovedBlock, Known>()

  /** The block without text that an arrival brings; none for all else, and for one that its writer deleted again. */
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

  /** The block that came late and of which an arrival gives an attribute a value; the last value holds. */
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

/** A client may give an attribute any value, also one that Yjs takes from updates only, and throws at when it is set. */
function isPlain(value: unknown): value is AttributeValue {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
}

/** Whether a block has what no block of its kind is without: else what it said was thrown away, or has not come yet. */
export function isSaid({ node, attributes }: LateNode): boolean {
  return findNodeSpec(node)?.attrs.every(({ key, name }) => key !== true || (attributes.get(name) ?? null) !== null) === true
}

/** The block to be written. */
export function elementOf({ node, attributes }: LateNode): Y.XmlElement {
  const element = new Y.XmlElement(node)
  // Yjs keeps any value; a string is only what it has them declared as.
  for (const [name, value] of attributes) element.setAttribute(name, value as string)
  return element
}

/** Gives a block that was written the values that have come since. Answers false when it is not there any more. */
export function writeChanges(doc: Y.Doc, { written, attributes, changed }: LateNode): boolean {
  const element = written && typeAt(doc, written)
  const isLost = changed.size > 0 && !(element instanceof Y.XmlElement)
  // An attribute that was taken away or has no plain value keeps the one that was written.
  if (element instanceof Y.XmlElement)
    for (const name of changed) if (attributes.has(name)) element.setAttribute(name, attributes.get(name) as string)
  changed.clear()
  return !isLost
}
