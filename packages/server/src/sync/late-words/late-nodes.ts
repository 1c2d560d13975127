import * as Y from 'yjs'
import { findNodeSpec } from '@docrelay/model/prose/schema'
import type { Arrival, DeletedRanges } from './arrivals.ts'
import type { RemovedBlock } from './removed-blocks.ts'

/** A block without text, such as an image, that a client put into something removed. */
export interface LateNode {
  readonly node: string
  /** Whatever values the client gave them; a string is only what Yjs has them declared as. */
  readonly attributes: ReadonlyMap<string, string>
  /** What is remembered in its place. */
  readonly block: RemovedBlock
}

/** Whether an element is a block that has nothing inside, as an image, a formula or a rule. */
export function isLeafBlock({ nodeName }: Y.XmlElement): boolean {
  const spec = findNodeSpec(nodeName)
  return spec?.group === 'block' && spec.content === 'none'
}

/**
 * The block without text that an arrival brings; `null` for all else, and for one that says nothing, since what it said was thrown away. The
 * update tells its attributes: in the document all is dropped that comes into something removed. `isHeardOf`: the update tells of the removal too.
 */
export function lateNode(
  arrival: Arrival,
  block: RemovedBlock,
  {
    arrivals,
    deleted,
    isHeardOf,
  }: { readonly arrivals: readonly Arrival[]; readonly deleted: DeletedRanges; readonly isHeardOf: boolean },
): LateNode | null {
  const { client, clock, type } = arrival
  if (!(type instanceof Y.XmlElement) || !isLeafBlock(type)) return null
  if (!isHeardOf && Y.isDeleted(deleted, Y.createID(client, clock))) return null
  const attributes = new Map<string, string>()
  for (const { parent, attribute } of arrivals)
    if (attribute !== null && parent instanceof Y.ID && parent.client === client && parent.clock === clock)
      attributes.set(attribute.name, attribute.value as string)
  const isSaid = findNodeSpec(type.nodeName)?.attrs.every(({ key, name }) => key !== true || attributes.has(name)) === true
  return isSaid ? { node: type.nodeName, attributes, block } : null
}

/** The block to be written. */
export function elementOf({ node, attributes }: LateNode): Y.XmlElement {
  const element = new Y.XmlElement(node)
  for (const [name, value] of attributes) element.setAttribute(name, value)
  return element
}
