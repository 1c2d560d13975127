import type { DocumentEvent } from './document-events.port.ts'
import type { DocumentRef } from './document-store.port.ts'

export interface DocumentListener {
  /** A live document took edits; they may not be durable yet. */
  edited(ref: DocumentRef): void
  /** A stored document changed, and the change is durable. */
  published(event: DocumentEvent): void
}

/** Tells listeners within the relay what happens to documents, whoever did it. */
export interface DocumentChanges extends DocumentListener {
  /** The returned function ends it. */
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
