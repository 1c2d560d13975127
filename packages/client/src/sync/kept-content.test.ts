import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { KeptContent } from './kept-content.ts'

const holds = (doc: Y.Doc, words: string): boolean => Buffer.from(Y.encodeStateAsUpdate(doc)).includes(words)

/** A Y.Doc in which words were typed, and an update of another client that removes their block. */
function typed() {
  const doc = new Y.Doc()
  const page = doc.getXmlFragment('page')
  const [block, text] = [new Y.XmlElement('paragraph'), new Y.XmlText('old')]
  block.insert(0, [text])
  page.insert(0, [block])
  const other = new Y.Doc()
  Y.applyUpdate(other, Y.encodeStateAsUpdate(doc))
  text.insert(3, ' words')
  const before = Y.encodeStateVector(other)
  other.getXmlFragment('page').delete(0, 1)
  return { doc, page, kept: new KeptContent(doc), removal: Y.encodeStateAsUpdate(other, before) }
}

it('[AG-110] unsaved words in a block that others remove stay in the Y.Doc until they are saved, and are not shown', () => {
  const { doc, page, kept, removal } = typed()
  kept.apply(removal, 'relay', { isSaved: false })
  expect([page.length, holds(doc, ' words'), doc.gc]).toEqual([0, true, true])
  kept.release()
  expect(holds(doc, ' words')).toBe(false)
})

it('[AG-110] unsaved letters deleted before others removed their block are dropped despite an undo manager', () => {
  const { doc, page, kept, removal } = typed()
  const undo = new Y.UndoManager(page, { captureTimeout: 0 })
  const text = (page.get(0) as Y.XmlElement).get(0) as Y.XmlText
  text.insert(9, ' typo')
  text.delete(9, 5)
  kept.apply(removal, 'relay', { isSaved: false })
  expect([holds(doc, ' words'), holds(doc, ' typo')]).toEqual([true, false])
  while (undo.undo() !== null);
  expect(page.length).toBe(0)
})

it('[AG-110] saved words in a block that others remove are dropped at once', () => {
  const { doc, kept, removal } = typed()
  kept.apply(removal, 'relay', { isSaved: true })
  expect(holds(doc, ' words')).toBe(false)
})

it('[AG-110] a Y.Doc with `gc: false` keeps deleted content', () => {
  const { doc, kept, removal } = typed()
  doc.gc = false
  kept.apply(removal, 'relay', { isSaved: false })
  kept.release()
  expect([holds(doc, ' words'), doc.gc]).toEqual([true, false])
})
