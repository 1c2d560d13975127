import { equalValues } from '@docrelay/model/prose/equal'
import type { ProseElement, ProseMark, ProseNode, ProseText } from '@docrelay/model/prose/node'
import { nodeSpec, type AttrSpec } from '@docrelay/model/prose/schema'
import type { AttrValue } from '@docrelay/model/prose/values'
import * as Y from 'yjs'

/** Creates live elements for blocks. [PROSE-7] */
export function createElements(nodes: readonly ProseElement[]): Y.XmlElement[] {
  return nodes.map(createElement)
}

export function createElement(node: ProseElement): Y.XmlElement {
  const element = new Y.XmlElement<LiveAttrs>(node.type)
  for (const spec of nodeSpec(node.type).attrs) setAttr(element, spec, node.attrs[spec.name])
  const children = segments(node.content).map((segment) =>
    Array.isArray(segment) ? createText(segment) : createElement(segment as ProseElement),
  )
  if (children.length > 0) element.insert(0, children)
  return element as unknown as Y.XmlElement
}

/** A run of text between two atoms, or one atom. */
export type Segment = readonly ProseText[] | ProseElement

export function segments(content: readonly ProseNode[]): Segment[] {
  const out: Segment[] = []
  let run: ProseText[] | undefined
  for (const node of content) {
    if (node.type !== 'text') {
      run = undefined
      out.push(node)
    } else if (run === undefined) out.push((run = [node]))
    else run.push(node)
  }
  return out
}

export function createText(runs: readonly ProseText[]): Y.XmlText {
  const text = new Y.XmlText()
  text.applyDelta(runs.map((run) => ({ insert: run.text, attributes: formatting(run.marks) })))
  return text
}

/** Returns marks as formatting attributes. The value of an attribute is the attribute object of the mark, `{}` for a mark without attributes. */
export function formatting(marks: readonly ProseMark[]): { [key: string]: unknown } {
  return Object.fromEntries(marks.map((mark) => [mark.type, { ...mark.attrs }]))
}

type LiveAttrs = { [name: string]: string | number | boolean | number[] }

/** Sets an attribute in its Yjs type. Defaults other than null are written too, as editors do. */
export function setAttr(element: Y.XmlElement<LiveAttrs>, spec: AttrSpec, value: AttrValue | undefined): void {
  const live = value ?? spec.default
  if (live !== undefined) element.setAttribute(spec.name, typeof live === 'object' ? [...live] : live)
}

/** Changes an attribute of an element in the document when its value differs. */
export function changeAttr(element: Y.XmlElement, spec: AttrSpec, value: AttrValue | undefined): void {
  const target = element as unknown as Y.XmlElement<LiveAttrs>
  const live = value ?? spec.default
  const stands: unknown = target.getAttribute(spec.name)
  if (live === undefined) {
    if (stands !== undefined) target.removeAttribute(spec.name)
  } else if (!equalValues(stands as AttrValue | undefined, live)) setAttr(target, spec, live)
}
