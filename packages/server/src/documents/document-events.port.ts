import type { DocumentHead, DocumentRef, Tombstone } from './document-store.port.ts'

/**
 * Tells connected clients that a document changed, after the change is durable. [WS-51..WS-53]
 * Who is told is decided per connection at send time by the same test as GET; `deleted` carries the head from before, whose readers are told.
 */
export interface DocumentEvents {
  publish(event: DocumentEvent): void
}

export type DocumentEvent =
  | { readonly kind: 'created' | 'updated'; readonly head: DocumentHead; readonly actor: string }
  | {
      readonly kind: 'deleted'
      readonly ref: DocumentRef
      readonly before: DocumentHead
      readonly tombstone: Tombstone
      readonly actor: string
    }
