import * as Y from 'yjs'

/**
 * Applies an update and nothing else. After updates of others Yjs removes formatting marks that came twice, by an edit of this Y.Doc.
 * Somebody who may only read cannot send that edit: it would be refused now or at the next join. The relay cleans up as well, and
 * what it removes comes as an update. [WS-64]
 */
export function applyAsReader(doc: Y.Doc, update: Uint8Array, origin: unknown): void {
  const applyOnly = (transaction: Y.Transaction): void => {
    // Yjs's own note that it has to clean up once the listeners of this event have run.
    transaction._needFormattingCleanup = false
  }
  doc.on('afterTransaction', applyOnly)
  try {
    Y.applyUpdate(doc, update, origin)
  } finally {
    doc.off('afterTransaction', applyOnly)
  }
}
