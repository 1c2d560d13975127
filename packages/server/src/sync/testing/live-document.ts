import type { DocumentBody } from '@docrelay/model/body'
import * as Y from 'yjs'
import { seed } from '../binding/binding.ts'

/** Returns a live document that is seeded with `body`, as in a process that has read it from the log. */
export function liveDocument(body: DocumentBody): Y.Doc {
  const made = new Y.Doc()
  seed(made, body)
  return replica(made)
}

export function replica(ydoc: Y.Doc): Y.Doc {
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(ydoc))
  return copy
}

/** Brings two documents to the same state. */
export function exchange(a: Y.Doc, b: Y.Doc): void {
  const [fromA, fromB] = [Y.encodeStateAsUpdate(a, Y.encodeStateVector(b)), Y.encodeStateAsUpdate(b, Y.encodeStateVector(a))]
  Y.applyUpdate(a, fromB)
  Y.applyUpdate(b, fromA)
}

/** Returns the updates that `work` makes. */
export function updatesOf(ydoc: Y.Doc, work: () => void): readonly Uint8Array[] {
  const updates: Uint8Array[] = []
  const keep = (update: Uint8Array): void => void updates.push(update)
  ydoc.on('update', keep)
  work()
  ydoc.off('update', keep)
  return updates
}

/** Returns the text of the top-level block number `index` of a page, for typing into it. */
export function textOf(ydoc: Y.Doc, pageId: string, index: number): Y.XmlText {
  const block = ydoc.getXmlFragment(`prose:${pageId}`).get(index)
  const text = block instanceof Y.XmlElement ? block.get(0) : undefined
  if (!(text instanceof Y.XmlText)) throw new Error(`block ${index} of ${pageId} holds no text`)
  return text
}

/** Returns a paragraph as an editor writes it. */
export function paragraph(text: string, id?: string): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  if (id !== undefined) element.setAttribute('id', id)
  if (text !== '') element.insert(0, [new Y.XmlText(text)])
  return element
}
