import type { DocumentEvent } from './document-events.port.ts'
import type { DocumentRef } from './document-store.port.ts'

export interface DocumentListener {
  /** Called when a live document was edited; the edit may not be durable yet. */
  edited(ref: DocumentRef): void
  /** Called when a stored document changed and the change is durable. */
  published(event: DocumentEvent): void
}

/** Informs listeners inside the relay about every change of documents, from any source. */
export interface DocumentChanges extends DocumentListener {
  /** Adds a listener; the returned function removes it. */
  listen(listener: DocumentListener): () => void
}

export function createDocumentChanges(): DocumentChanges {
  const listeners = new Set<DocumentListener>()
  return {
    edited(ref) {
      for (const listener of listeners) listener.edited(ref)
    },
    published(event) {
      for (const listener of listeners) listener.published(event)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
