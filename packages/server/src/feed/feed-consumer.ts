import type { DocumentEvents } from '../documents/document-events.port.ts'
import type { DocumentHead, DocumentRef } from '../documents/document-store.port.ts'
import type { Logger } from '../kernel/log.ts'
import type { ChangeRow } from './change-feed.port.ts'
import { DocumentOrder } from './document-order.ts'

/** The rooms of this node, as receivers of the changes of stored documents. */
export interface ToldRooms {
  /** Decides the rights of joined connections again. A head that is older than the newest known head changes no rights. [PERM-2] */
  sharingChanged(head: DocumentHead): void
  /**
   * Called when `version` of a document was stored. Does nothing when the document is not live here, or when the live document wrote that
   * version itself.
   */
  bodyChanged(ref: DocumentRef, version: number): void
  /**
   * Called when another process has stored the body of a live document. That process owns the document, even if this node still takes
   * itself for the owner. [LIFE-26]
   */
  ownedElsewhere(document: DocumentRef): void
  /** Called when the log of a document was replaced by a log that ends at `seq`. Closes a live copy of the old log. [CFG-11] */
  repaired(document: DocumentRef & { readonly key: number }, seq: number): void
  /** Closes this life of a deleted document for its connections. Does nothing when this life is not open here. [WS-54] */
  dropLife(document: DocumentRef & { readonly key: number }): Promise<unknown>
  /**
   * Resolves when the joined connections of this node have got the log of a document through `seq`, when they need not wait for it, or
   * after 2 s at the latest. Returns null when there is nothing to wait for. [WS-53]
   */
  handedOut(document: DocumentRef & { readonly key: number }, seq: number): Promise<void> | null
}

/** A change that another process made. */
export type ChangedElsewhere = Exclude<ChangeRow, { kind: 'unknown' | 'deleted' }>

export interface FeedConsumerDeps {
  readonly rooms: ToldRooms
  /** Delivers events to the sockets and watches of this node. [WS-51] */
  readonly events: DocumentEvents
  /** Called when a live document was stored after edits, and when its log was repaired. */
  readonly edited: (ref: DocumentRef) => void
  /** Called when another process has changed a document. Only that process knows which parts of the document were changed. [AG-23] */
  readonly changedElsewhere: (row: ChangedElsewhere) => void
  readonly log: Logger
}

export interface FeedConsumer {
  /** Handles one row of the change feed. Never throws. */
  tell(row: ChangeRow): void
  /** Resolves when the events of all rows handled so far are published. */
  idle(): Promise<void>
}

/**
 * Applies the changes of stored documents on this node, no matter which node made them: updates rights and live copies at once, and
 * publishes the events of a document in the order of its commits. [WS-51, WS-53, WS-54, PERM-2]
 */
export function createFeedConsumer(deps: FeedConsumerDeps): FeedConsumer {
  const { rooms, events, log } = deps
  const order = new DocumentOrder()

  function failed(row: ChangeRow, error: unknown): void {
    log.error('feed.not_told', 'A change of a document could not be told on this node.', { row: row.id, detail: String(error) })
  }

  /**
   * Applies the part of a change that must not wait for earlier events. Returns the promise that the event of this row has to wait for,
   * or null.
   */
  function takeEffect(row: Exclude<ChangeRow, { kind: 'unknown' }>): Promise<unknown> | null {
    const document = { workspaceId: row.workspaceId, id: row.docId, key: row.key }
    if (row.kind === 'deleted') return rooms.dropLife(document).catch((error: unknown) => failed(row, error))
    if (!row.isOwn) deps.changedElsewhere(row)
    if (row.kind === 'repaired') rooms.repaired(document, row.seq)
    if (row.kind === 'edited' && !row.isOwn) rooms.ownedElsewhere(document)
    if (row.kind === 'edited' || row.kind === 'repaired') {
      deps.edited(document)
      return null
    }
    if (row.isSharingChanged) rooms.sharingChanged(row.head)
    // A live document of this node already knows every write that this node has made.
    if (row.kind !== 'created' && !row.isOwn) rooms.bodyChanged(document, row.version)
    return rooms.handedOut(document, row.seq)
  }

  function tellEvent(row: Exclude<ChangeRow, { kind: 'unknown' | 'edited' | 'repaired' }>): void {
    const { actor } = row
    if (row.kind === 'deleted') {
      const { before, tombstone } = row
      const { workspaceId, id, successor } = tombstone
      events.publish({
        kind: 'deleted',
        ref: { workspaceId, id },
        before,
        tombstone,
        actor,
        ...(successor !== undefined && { successor }),
      })
    } else events.publish({ kind: row.kind === 'created' ? 'created' : 'updated', head: row.head, actor })
  }

  return {
    tell(row) {
      if (row.kind === 'unknown') return
      try {
        const before = takeEffect(row)
        if (row.kind === 'edited' || row.kind === 'repaired') return
        order.run(documentsOf(row), before, () => {
          try {
            tellEvent(row)
          } catch (error) {
            failed(row, error)
          }
        })
      } catch (error) {
        failed(row, error)
      }
    },
    idle: () => order.idle(),
  }
}

/**
 * Returns the documents in whose order the event of a row is published: the document of the row, and the document that it replaces if it
 * was restored. Neither a workspace id nor a document id can contain a NUL. [WS-52, BODY-11]
 */
function documentsOf(row: Exclude<ChangeRow, { kind: 'unknown' | 'edited' | 'repaired' }>): readonly string[] {
  const own = `${row.workspaceId}\0${row.docId}`
  const source = row.kind === 'deleted' ? undefined : row.restoredFrom
  return source === undefined ? [own] : [own, `${row.workspaceId}\0${source}`]
}
