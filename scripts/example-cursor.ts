import * as Y from 'yjs'

/** A caret in the form in which y-prosemirror editors show remote cursors. */
export function cursorAt(text: Y.XmlText, index: number): { readonly anchor: unknown; readonly head: unknown } {
  const position = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, index))
  return { anchor: position, head: position }
}

/** The index of a caret in its text; `null` when the text is gone. */
export function indexOf(cursor: { readonly head?: unknown } | undefined, doc: Y.Doc): number | null {
  if (cursor?.head === undefined) return null
  return Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(cursor.head), doc)?.index ?? null
}
