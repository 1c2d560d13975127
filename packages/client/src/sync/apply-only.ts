import * as Y from 'yjs'

/**
 * Applies an update and nothing else. After updates of others Yjs removes formatting marks that came twice, by an edit of this Y.Doc. Nobody
 * here made that edit, and who may only read, or is about to be told so, would be told that it is refused. The relay cleans up as well, and
 * what it removes comes as an update. [WS-64]
 */
export function applyOnly(doc: Y.Doc, update: Uint8Array, origin: unknown): void {
  const noCleanUp = (transaction: Y.Transaction): void => {
    // Yjs's own note that it has to clean up once the listeners of this event have run.
    transaction._needFormattingCleanup = false
  }
  doc.on('afterTransaction', noCleanUp)
  try {
    Y.applyUpdate(doc, update, origin)
  } finally {
    doc.off('afterTransaction', noCleanUp)
  }
}
