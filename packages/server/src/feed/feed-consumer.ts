import type { DocumentEvents } from '../documents/document-events.port.ts'
import type { DocumentHead, DocumentRef } from '../documents/document-store.port.ts'
import type { Logger } from '../kernel/log.ts'
import type { ChangeRow } from './change-feed.port.ts'
import { DocumentOrder } from './document-order.ts'

/** The live documents of this node, as far as changes of what is stored concern them. */
export interface ToldRooms {
  /** Decides the rights of joined connections again; older news than it knows changes nothing. [PERM-2] */
  sharingChanged(head: DocumentHead): void
  /** `version` was stored beside the live document; nothing when it is not live here or wrote that version itself. */
  bodyChanged(ref: DocumentRef, version: number): void
  /** The log of a document was replaced and ends at `seq` since: a live copy of what was there before is closed. [CFG-11] */
  repaired(document: DocumentRef & { readonly key: number }, seq: number): void
  /** Takes connections out of this life of a document, which was deleted; nothing when it is not open here. [WS-54] */
  dropLife(document: DocumentRef & { readonly key: number }): Promise<unknown>
  /**
   * Resolves when the joined connections of this node have been given the log of a document through `seq`, or need not
   * wait for it, at most after 2 s; `null`: at once. [WS-53]
   */
  handedOut(document: DocumentRef & { readonly key: number }, seq: number): Promise<void> | null
}

/** A change that this node did not make itself. */
export type ChangedElsewhere = Exclude<ChangeRow, { kind: 'unknown' | 'deleted' }>

export interface FeedConsumerDeps {
  readonly rooms: ToldRooms
  /** The sockets and watches of this node that wait for events. [WS-51] */
  readonly events: DocumentEvents
  /** A live document was stored after edits. */
  readonly edited: (ref: DocumentRef) => void
  /** Somebody changed a document through another node, which alone knows what was changed. [AG-23] */
  readonly changedElsewhere: (row: ChangedElsewhere) => void
  readonly log: Logger
}

export interface FeedConsumer {
  /** Takes one row of the change feed. Never throws. */
  tell(row: ChangeRow): void
  /** Resolves when all rows that were taken so far are told. */
  idle(): Promise<void>
}

/**
 * Does on this node what a change of a stored document asks for, whichever node made it: rights and live copies at once,
 * events in the order of the commits of their document. [WS-51, WS-53, WS-54, PERM-2]
 */
export function createFeedConsumer(deps: FeedConsumerDeps): FeedConsumer {
  const { rooms, events, log } = deps
  const order = new DocumentOrder()

  function failed(row: ChangeRow, error: unknown): void {
    log.error('feed.not_told', 'A change of a document could not be told on this node.', { row: row.id, detail: String(error) })
  }

  /** Does what must not wait for earlier events. Returns what the event of this row has to wait for; null: nothing. */
  function takeEffect(row: Exclude<ChangeRow, { kind: 'unknown' }>): Promise<unknown> | null {
    const document = { workspaceId: row.workspaceId, id: row.docId, key: row.key }
    if (row.kind === 'deleted') return rooms.dropLife(document).catch((error: unknown) => failed(row, error))
    if (!row.isOwn) deps.changedElsewhere(row)
    if (row.kind === 'repaired') rooms.repaired(document, row.seq)
    if (row.kind === 'edited' || row.kind === 'repaired') {
      deps.edited(document)
      return null
    }
    if (row.isSharingChanged) rooms.sharingChanged(row.head)
    // The live documents of this node know what it wrote itself.
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

/** A restored document comes after the one in whose place it is. Neither part of a name can hold a NUL. [WS-52, BODY-11] */
function documentsOf(row: Exclude<ChangeRow, { kind: 'unknown' | 'edited' | 'repaired' }>): readonly string[] {
  const own = `${row.workspaceId}\0${row.docId}`
  const source = row.kind === 'deleted' ? undefined : row.restoredFrom
  return source === undefined ? [own] : [own, `${row.workspaceId}\0${source}`]
}
