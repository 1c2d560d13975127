import type { DocumentHead, Tombstone } from '../documents/document-store.port.ts'
import type { FeedTable } from './feed-table.port.ts'

/** What every row of the change feed tells. */
interface ToldChange {
  readonly id: number
  /** When the row was made, by the clock of the database. */
  readonly atMs: number
  readonly workspaceId: string
  readonly docId: string
  /** Names the life of the document, as `DocumentHead.key`. */
  readonly key: number
  /** Who made the change; empty: the relay itself. */
  readonly actor: string
  /** The end of the document's log after the change. */
  readonly seq: number
  /** The stored version after the change. */
  readonly version: number
  /** The row was made through this very store, so this node knows more of the change than the row tells. */
  readonly isOwn: boolean
}

/** A change of a stored document. Kinds as in the public feed. [FEED-2] */
export type ChangeRow =
  | (ToldChange & {
      readonly kind: 'created' | 'updated' | 'shared'
      /** The document as this change left it. */
      readonly head: DocumentHead
      /** The change touched the owner or the share list, perhaps beside other things. [PERM-2] */
      readonly isSharingChanged: boolean
      /** Id of the document in whose place a restore has put this one; that one's row has a lower id. [WS-52] */
      readonly restoredFrom?: string
    })
  /** A live document was stored after edits; no event of its own. [WS-52] */
  | (ToldChange & { readonly kind: 'edited' })
  /** `relay repair` has replaced the log of a document, which ends at `seq` since; no event of its own. [CFG-11] */
  | (ToldChange & { readonly kind: 'repaired' })
  | (ToldChange & {
      readonly kind: 'deleted'
      /** The document as it was. */
      readonly before: DocumentHead
      readonly tombstone: Tombstone
    })
  /** A row of a newer release, or a damaged one. Nothing is told of it. [LIFE-29] */
  | { readonly kind: 'unknown'; readonly id: number; readonly atMs: number }

/**
 * The changes of all stored documents, one row for each, written in the transaction of the change. It has rows only
 * where the store was opened for several nodes. [FEED-2, FEED-3]
 */
export type ChangeFeed = FeedTable<ChangeRow>
