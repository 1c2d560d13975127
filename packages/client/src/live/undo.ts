import * as Y from 'yjs'

/** The name of a root of the Y.Doc, or any Y type in it. */
export type UndoScope = string | Y.AbstractType<unknown>

/** Returns a root of the Y.Doc, with the type that the document model has for the name. [YDOC-1] */
export function rootOf(ydoc: Y.Doc, name: string): Y.AbstractType<unknown> {
  if (name.startsWith('prose:')) return ydoc.getXmlFragment(name) as unknown as Y.AbstractType<unknown>
  if (name.startsWith('shapeOrder:') || name.endsWith('Order')) return ydoc.getArray(name) as Y.AbstractType<unknown>
  return ydoc.getMap(name) as unknown as Y.AbstractType<unknown>
}
