import * as Y from 'yjs'
import { isProseRoot } from './binding-roots.ts'

const FEWEST_CHILDREN = 4

/**
 * Removes the second half of every prose page whose second half exactly repeats the first, which is the result of two initial fills of one
 * page. Called once when a document is loaded; it is an ordinary edit in one transaction. Returns whether it wrote. [YDOC-10]
 */
export function removeDoubledProse(ydoc: Y.Doc, origin: unknown): boolean {
  const doubled = [...ydoc.share.keys()].filter((root) => isProseRoot(root) && isDoubled(ydoc.getXmlFragment(root)))
  if (doubled.length === 0) return false
  ydoc.transact(() => {
    for (const root of doubled) {
      const fragment = ydoc.getXmlFragment(root)
      fragment.delete(fragment.length / 2, fragment.length / 2)
    }
  }, origin)
  return true
}

function isDoubled(fragment: Y.XmlFragment): boolean {
  const count = fragment.length
  if (count < FEWEST_CHILDREN || count % 2 !== 0) return false
  const children = fragment.toArray()
  for (let i = 0; i < count / 2; i++) if (likeness(children[i]) !== likeness(children[i + count / 2])) return false
  return true
}

/** Returns a node as text. Two nodes are equal exactly when their texts are equal. */
function likeness(node: unknown): string {
  if (node instanceof Y.XmlText) return JSON.stringify(['text', node.toDelta()])
  if (!(node instanceof Y.XmlElement)) return String(node)
  const attributes = Object.entries(node.getAttributes()).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([node.nodeName, attributes, node.toArray().map(likeness)])
}
