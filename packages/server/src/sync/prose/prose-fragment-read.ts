import { healShown } from '@docrelay/model/prose/heal'
import { type Padding, pagePadding } from '@docrelay/model/prose/healer'
import { appendText, pushAll, withMark } from '@docrelay/model/prose/marks'
import type { ProseAttrs, ProseElement, ProseMark, ProseNode } from '@docrelay/model/prose/node'
import { findMarkSpec, findNodeSpec, type AttrSpec, type NodeSpec } from '@docrelay/model/prose/schema'
import { equalValues } from '@docrelay/model/prose/equal'
import { cleanText, type AttrValue } from '@docrelay/model/prose/values'
import * as Y from 'yjs'

/**
 * Results of reading a fragment, for reuse. One cache may serve all fragments of a document.
 *
 * The caller reports changed types with `forgetTouched`. A block that was not touched is the same object (`===`) in every reading, so the
 * cost of a reading depends on the size of the change.
 */
export interface ProseCache {
  /** By child of a fragment: the blocks as which the child is shown. */
  readonly blocks: WeakMap<Y.XmlElement, ShownBlock>
  /**
   * The node read from each element with content, at any depth. A long table is one block, and after a change of one cell only that cell is
   * read again. [CONC-13]
   */
  readonly nodes: WeakMap<Y.XmlElement, ProseElement>
  /** By node: its live element, if the node is in the live page exactly as read. */
  readonly origins: WeakMap<ProseElement, Y.XmlElement>
}

interface ShownBlock {
  readonly nodes: readonly ProseElement[]
  /** The number of empty cells that were added to complete tables of the block. */
  readonly padded: number
  /** The number of cells that were available when more were needed; `undefined` when there were enough. */
  readonly shortOf: number | undefined
}

export function createProseCache(): ProseCache {
  return { blocks: new WeakMap(), nodes: new WeakMap(), origins: new WeakMap() }
}

/** Forgets the node and the blocks that were read from an element. The caller must forget the elements around this element too. */
export function forgetElement(cache: ProseCache, element: Y.XmlElement): void {
  cache.blocks.delete(element)
  cache.nodes.delete(element)
}

/** Forgets all cached blocks that a transaction changed. Call it for every transaction, before the next reading. */
export function forgetTouched(cache: ProseCache, transaction: Y.Transaction): void {
  for (const type of transaction.changed.keys()) {
    for (let at: Y.AbstractType<unknown> | null = type as Y.AbstractType<unknown>; at !== null; at = at.parent) {
      if (at instanceof Y.XmlElement) forgetElement(cache, at)
    }
  }
}

/** Children of a fragment that are read together, and the blocks as which they are shown. */
export interface Unit {
  readonly start: number
  readonly count: number
  readonly nodes: readonly ProseElement[]
}

/** Below this depth of live elements only text is read. The model allows 64 levels. */
const maxDepth = 512

/** Splits a page into units. Each block of the model is one unit; adjacent children that are not blocks form one unit together. */
export function readUnits(fragment: Y.XmlFragment, cache: ProseCache): readonly Unit[] {
  const children = fragment.toArray()
  const units: Unit[] = []
  const padding = pagePadding()
  for (let i = 0; i < children.length; ) {
    const start = i
    const child = children[i++]
    if (isBlock(child)) {
      units.push({ start, count: 1, nodes: shownBlock(child, cache, padding) })
      continue
    }
    while (i < children.length && !isBlock(children[i])) i++
    const loose: ProseNode[] = []
    for (const other of children.slice(start, i)) append(loose, readChild(other, cache, 1))
    units.push({ start, count: i - start, nodes: healShown(loose, padding) })
  }
  return units
}

/**
 * Returns the blocks as which a child of a fragment is shown. Completes its tables with empty cells, as many as `padding` has left. Reuses a
 * cached result only when the number of cells left would not change the result.
 */
function shownBlock(child: Y.XmlElement, cache: ProseCache, padding: Padding): readonly ProseElement[] {
  const { left } = padding
  const known = cache.blocks.get(child)
  if (known !== undefined && (known.shortOf === undefined ? known.padded <= left : known.shortOf === left)) {
    padding.left -= known.padded
    return known.nodes
  }
  padding.isShort = false
  const nodes = healShown(readChild(child, cache, 1), padding)
  cache.blocks.set(child, { nodes, padded: left - padding.left, shortOf: padding.isShort ? left : undefined })
  return nodes
}

function isBlock(child: unknown): child is Y.XmlElement {
  return child instanceof Y.XmlElement && findNodeSpec(child.nodeName)?.group === 'block'
}

/**
 * Reads a live child as nodes of the model, without healing. An element that the model knows becomes one node. Of any other element, the
 * content is read. [PROSE-8]
 */
export function readChild(child: unknown, cache: ProseCache, depth: number): readonly ProseNode[] {
  if (child instanceof Y.XmlText) return readText(child)
  if (!(child instanceof Y.XmlElement)) return []
  if (depth > maxDepth) return [{ type: 'text', text: deepText(child), marks: [] }]
  const spec = findNodeSpec(child.nodeName)
  if (spec === undefined) return readContent(child, cache, depth).nodes
  if (spec.content === 'none') return [readAtom(child, spec, cache)]
  const known = cache.nodes.get(child)
  if (known !== undefined) return [known]
  const { nodes, exact } = readContent(child, cache, depth)
  const node: ProseElement = { type: spec.type, attrs: readAttrs(child, spec), content: nodes }
  if (exact) cache.origins.set(node, child)
  cache.nodes.set(child, node)
  return [node]
}

/** Reads the content of an element. `exact`: the elements among `nodes` correspond one to one to the live child elements, in order. */
function readContent(element: Y.XmlElement, cache: ProseCache, depth: number): { nodes: ProseNode[]; exact: boolean } {
  const nodes: ProseNode[] = []
  let exact = depth < maxDepth
  for (const child of element.toArray()) {
    const isKnown = child instanceof Y.XmlElement && findNodeSpec(child.nodeName) !== undefined
    if (!isKnown && !(child instanceof Y.XmlText)) exact = false
    append(nodes, readChild(child, cache, depth + 1))
  }
  return { nodes, exact }
}

function append(nodes: ProseNode[], more: readonly ProseNode[]): void {
  for (const node of more) {
    if (node.type === 'text') appendText(nodes, node.text, node.marks)
    else nodes.push(node)
  }
}

function readAtom(element: Y.XmlElement, spec: NodeSpec, cache: ProseCache): ProseNode {
  const attrs = readAttrs(element, spec)
  if (spec.type === 'fileRef' && attrs['blobRef'] === undefined)
    return { type: 'text', text: String(attrs['fileName'] ?? ''), marks: [] }
  const node: ProseElement = { type: spec.type, attrs, content: [] }
  cache.origins.set(node, element)
  return node
}

/** Reads attributes in canonical form: only allowed values, without defaults. */
export function readAttrs(element: Y.XmlElement, spec: NodeSpec): ProseAttrs {
  const attrs: { [name: string]: AttrValue } = {}
  for (const attr of spec.attrs) {
    const value = readAttr(element.getAttribute(attr.name), attr)
    if (value !== undefined) attrs[attr.name] = value
    else if (attr.key === true && attr.read('') === '') attrs[attr.name] = ''
  }
  return attrs
}

function readAttr(raw: unknown, spec: AttrSpec): AttrValue | undefined {
  if (raw === undefined || raw === null) return undefined
  const value = spec.read(raw)
  return equalValues(value, spec.default) ? undefined : value
}

function readText(text: Y.XmlText): readonly ProseNode[] {
  const nodes: ProseNode[] = []
  for (const op of text.toDelta() as readonly TextOp[]) {
    if (typeof op.insert === 'string') appendText(nodes, cleanText(op.insert), readMarks(op.attributes))
  }
  return nodes
}

/** One entry of a Y.XmlText's delta; `insert` is an object when the content is not text. */
export interface TextOp {
  readonly insert: unknown
  readonly attributes?: { readonly [key: string]: unknown }
}

/** Returns the marks for which formatting attributes stand. Leaves out unknown marks. [PROSE-8] */
export function readMarks(attributes: TextOp['attributes']): readonly ProseMark[] {
  if (attributes === undefined) return noMarks
  let marks: readonly ProseMark[] = noMarks
  for (const [key, value] of Object.entries(attributes)) {
    const spec = findMarkSpec(markName(key))
    if (spec === undefined || value === null || value === undefined || value === false) continue
    const attrs: { [name: string]: string } = {}
    if (spec.attr !== undefined) {
      const raw = typeof value === 'object' ? (value as { [name: string]: unknown })[spec.attr.name] : undefined
      const usable = raw === undefined || raw === null ? undefined : spec.attr.read(raw)
      if (typeof usable === 'string') attrs[spec.attr.name] = usable
      else if (spec.attr.required) continue
    }
    marks = withMark(marks, { type: spec.type, attrs })
  }
  return marks
}

const noMarks: readonly ProseMark[] = []

/** Returns the mark that a formatting key names, without the hash that editors append to marks that may overlap. */
export function markName(key: string): string {
  return /^(.{1,64})--[a-zA-Z0-9+/=]{8}$/.exec(key.slice(0, 80))?.[1] ?? key
}

/** Returns all text below an element, at any depth. */
function deepText(element: Y.XmlElement): string {
  let text = ''
  const stack: unknown[] = [element]
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    if (at instanceof Y.XmlText)
      text += readText(at)
        .map((node) => (node.type === 'text' ? node.text : ''))
        .join('')
    else if (at instanceof Y.XmlElement) pushAll(stack, at.toArray().reverse())
  }
  return text
}
