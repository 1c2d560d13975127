import { parseHtml, serialiseHtml } from '@docrelay/model/prose/html'
import type { ProseTree } from '@docrelay/model/prose/node'
import * as Y from 'yjs'
import { fillFragment, readFragment, reconcileFragment } from '../prose/prose-fragment.ts'

export const root = 'prose:p'
export const tree = (html: string): ProseTree => parseHtml(html, { source: 'stored' }).tree

export function page(html: string): Y.Doc {
  const doc = new Y.Doc()
  doc.transact(() => fillFragment(doc.getXmlFragment(root), tree(html)))
  return doc
}

export const shown = (doc: Y.Doc) => serialiseHtml(readFragment(doc.getXmlFragment(root)))

export function reconcile(doc: Y.Doc, before: string, after: string): Uint8Array {
  const vector = Y.encodeStateVector(doc)
  doc.transact(() => reconcileFragment(doc.getXmlFragment(root), tree(before), tree(after)))
  return Y.encodeStateAsUpdate(doc, vector)
}

/** Returns a document with a fragment as a client writes it. */
export function written(build: (fragment: Y.XmlFragment) => void): Y.Doc {
  const doc = new Y.Doc()
  doc.transact(() => build(doc.getXmlFragment(root)))
  return doc
}

export function element(
  name: string,
  attrs: { [key: string]: unknown } = {},
  ...children: (Y.XmlElement | Y.XmlText)[]
): Y.XmlElement {
  const made = new Y.XmlElement<{ [key: string]: string }>(name)
  for (const [key, value] of Object.entries(attrs)) made.setAttribute(key, value as string)
  made.insert(0, children)
  return made as unknown as Y.XmlElement
}

export function text(...delta: { insert: unknown; attributes?: object }[]): Y.XmlText {
  const made = new Y.XmlText()
  made.applyDelta(delta)
  return made
}

export const plain = (value: string) => text({ insert: value })
