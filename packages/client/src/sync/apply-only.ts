import * as Y from 'yjs'

/**
 * Applies an update without the clean-up edit of Yjs. After updates of others Yjs removes duplicate formatting marks by an edit of this Y.Doc.
 * Nobody here made that edit, and for a client without the right to write the relay would refuse it. The relay cleans up as well and sends the
 * clean-up as an update. [WS-64]
 */
export function applyOnly(doc: Y.Doc, update: Uint8Array, origin: unknown): void {
  const noCleanUp = (transaction: Y.Transaction): void => {
    // Yjs sets this flag to clean up once the listeners of this event have run.
    transaction._needFormattingCleanup = false
  }
  doc.on('afterTransaction', noCleanUp)
  try {
    Y.applyUpdate(doc, update, origin)
  } finally {
    doc.off('afterTransaction', noCleanUp)
  }
}
