import type { LiveDocument } from '@docrelay/client'
import type { UndoManager } from 'yjs'

type Undoable = Pick<LiveDocument, 'undoManager'>

// A document that nobody has open any more takes its entry with it.
const histories = new WeakMap<Undoable, Map<string, UndoManager>>()

/** Undo of this person's own edits of a canvas, also after another page was shown. */
export function undoHistoryOf(document: Undoable, pageId: string): UndoManager {
  const pages = histories.get(document) ?? new Map<string, UndoManager>()
  histories.set(document, pages)
  const known = pages.get(pageId)
  if (known !== undefined) return known
  const made = document.undoManager([`shapes:${pageId}`, `shapeOrder:${pageId}`], { captureTimeout: 0 })
  pages.set(pageId, made)
  return made
}
