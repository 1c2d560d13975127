import * as Y from 'yjs'

/** The position of an agent's last edit, in the form in which y-prosemirror editors read and show remote cursors. [PRES-1] */
export interface AgentCursor {
  readonly anchor: unknown
  readonly head: unknown
}

/** Returns a cursor that spans a block from its start to its end. Returns `null` when the page has no block with this id. */
export function cursorOn(doc: Y.Doc, pageId: string, blockId: string): AgentCursor | null {
  const block = blockOf(doc.getXmlFragment(`prose:${pageId}`), blockId)
  if (block === null) return null
  const [first, last] = [block.get(0), block.get(block.length - 1)]
  const anchor = first instanceof Y.XmlText ? position(first, 0) : position(block, 0)
  const head = last instanceof Y.XmlText ? position(last, last.length) : position(block, block.length)
  return { anchor, head }
}

function position(type: Y.XmlText | Y.XmlElement, index: number): unknown {
  return Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(type, index))
}

function blockOf(parent: Y.XmlFragment | Y.XmlElement, id: string): Y.XmlElement | null {
  for (const child of parent.toArray()) {
    if (!(child instanceof Y.XmlElement)) continue
    const found = child.getAttribute('id') === id ? child : blockOf(child, id)
    if (found !== null) return found
  }
  return null
}
