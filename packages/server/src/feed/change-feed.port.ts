import type { DocumentHead, Tombstone } from '../documents/document-store.port.ts'
import type { FeedTable } from './feed-table.port.ts'

/** The members of every row of the change feed that can be read. */
interface ToldChange {
  readonly id: number
  /** When the row was made, by the clock of the database. */
  readonly atMs: number
  readonly workspaceId: string
  readonly docId: string
  /** Identifies one life of the document, from creation to deletion; equals `DocumentHead.key`. */
  readonly key: number
  /** Who made the change; empty when the relay itself did. */
  readonly actor: string
  /** The end of the document's log after the change. */
  readonly seq: number
  /** The stored version after the change. */
  readonly version: number
  /** True when this process wrote the row. This node then knows more about the change than the row holds. */
  readonly isOwn: boolean
}

/** A change of a stored document. `created`, `updated`, `shared` and `deleted` are as in the public feed. [FEED-2] */
export type ChangeRow =
  | (ToldChange & {
      readonly kind: 'created' | 'updated' | 'shared'
      /** The document as this change left it. */
      readonly head: DocumentHead
      /** Whether the change touched the owner or the share list, possibly among other things. [PERM-2] */
      readonly isSharingChanged: boolean
      /**
       * The id of the document that a restore has replaced with this document. The `deleted` row of the replaced document has a lower row
       * id. [WS-52]
       */
      readonly restoredFrom?: string
    })
  /** A live document was stored after edits. The row causes no event. [WS-52] */
  | (ToldChange & { readonly kind: 'edited' })
  /** `relay repair` has replaced the log of a document; the new log ends at `seq`. The row causes no event. [CFG-11] */
  | (ToldChange & { readonly kind: 'repaired' })
  | (ToldChange & {
      readonly kind: 'deleted'
      /** The document as it was before the deletion. */
      readonly before: DocumentHead
      readonly tombstone: Tombstone
    })
  /** A row of a kind that a newer release writes, or a damaged row. Readers skip it. [LIFE-29] */
  | { readonly kind: 'unknown'; readonly id: number; readonly atMs: number }

/**
 * The changes of all stored documents: one row per change, written in the transaction of the change. Rows are written
 * only when the store was opened for several nodes. [FEED-2, FEED-3]
 */
export type ChangeFeed = FeedTable<ChangeRow>
