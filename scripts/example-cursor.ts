import * as Y from 'yjs'

/** A caret in the form in which editors on y-prosemirror show the cursors of others. */
export function cursorAt(text: Y.XmlText, index: number): { readonly anchor: unknown; readonly head: unknown } {
  const position = Y.relativePositionToJSON(Y.createRelativePositionFromTypeIndex(text, index))
  return { anchor: position, head: position }
}

/** Where a caret stands in its text, `null` when the text is gone. */
export function indexOf(cursor: { readonly head?: unknown } | undefined, doc: Y.Doc): number | null {
  if (cursor?.head === undefined) return null
  return Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(cursor.head), doc)?.index ?? null
}
