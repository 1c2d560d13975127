import type { DocumentHead, DocumentRef, Tombstone } from './document-store.port.ts'

/**
 * Sends events to connected clients after a change is durable. [WS-51..WS-53] Each connection gets an event only if its
 * caller may GET the document at that moment. `deleted` carries the head from before the deletion, and the readers of
 * that head get the event.
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
      /** Id of the document with which a restore replaced the deleted one. [WS-63] */
      readonly successor?: string
      readonly actor: string
    }
