import type { LiveDocument } from '@docrelay/client'
import type { UndoManager } from 'yjs'

type Undoable = Pick<LiveDocument, 'undoManager'>

// A WeakMap: an entry lives as long as its document is open.
const histories = new WeakMap<Undoable, Map<string, UndoManager>>()

/** Returns the undo history of this person on a canvas page. It survives a change to another page. */
export function undoHistoryOf(document: Undoable, pageId: string): UndoManager {
  const pages = histories.get(document) ?? new Map<string, UndoManager>()
  histories.set(document, pages)
  const known = pages.get(pageId)
  if (known !== undefined) return known
  const made = document.undoManager([`shapes:${pageId}`, `shapeOrder:${pageId}`], { captureTimeout: 0 })
  pages.set(pageId, made)
  return made
}
