import type { DocumentHead, Tombstone } from '../../documents/document-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Engine } from './engine.ts'
import { storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

/** A change of which other nodes are notified. */
export type Told =
  | {
      readonly kind: 'created' | 'updated' | 'shared' | 'edited' | 'repaired'
      readonly head: DocumentHead
      readonly actor: string
      readonly isSharingChanged: boolean
      readonly restoredFrom?: string
    }
  | { readonly kind: 'deleted'; readonly before: DocumentHead; readonly tombstone: Tombstone; readonly actor: string }

/** A committed row of the change feed. */
export interface FeedEntry {
  readonly workspaceId: string
  readonly id: number
}

/** How a store that was opened for several nodes announces its changes. */
export interface FeedOutlet {
  /** Identifies this process; each start has another value. */
  readonly origin: string
  /** Called after the commit of each call that has added rows. */
  onTold(entries: readonly FeedEntry[]): void
}

/** Announces a change of the current call. `null` when no other node is notified, so that the call need not read data for the announcement. */
export type Telling = ((told: Told) => void) | null

/** Runs a call in the group commit and inserts rows of the change feed for the changes that the call announces. */
export type TellingRun = <T>(bytes: number, work: (writer: Writer, tell: Telling) => Promise<T>) => Promise<T>

/**
 * Makes the function that runs writes. Without an outlet, as in a single relay, the work gets `null` and no statement is added. With an outlet the
 * rows are inserted after the work, within its transaction. The work then holds the lock of the document, so the ids of one document are in the order
 * of its commits. [WS-51, FEED-2]
 */
export function tellingRun(queue: Pick<CommitQueue, 'run'>, engine: Engine, outlet: FeedOutlet | null): TellingRun {
  if (outlet === null) return (bytes, work) => queue.run(bytes, (writer) => work(writer, null))
  return async (bytes, work) => {
    let entries: readonly FeedEntry[] = []
    const result = await queue.run(bytes, async (writer) => {
      const told: Told[] = []
      const done = await work(writer, (change) => told.push(change))
      entries = told.length === 0 ? [] : await insertChanges(writer, engine, outlet.origin, told)
      return done
    })
    if (entries.length > 0) outlet.onTold(entries)
    return result
  }
}

/** Adds rows to the change feed in the transaction of the changes. That transaction holds the locks of the documents. */
export async function insertChanges(
  writer: Writer,
  engine: Engine,
  origin: string,
  told: readonly Told[],
): Promise<readonly FeedEntry[]> {
  const entries: FeedEntry[] = []
  // Inserts the rows one after the other, so that their ids have the order of the changes.
  for (const change of told) {
    const head = change.kind === 'deleted' ? change.before : change.head
    const row = await writer
      .insertInto('change_feed')
      .values({
        at_ms: engine.nowMs,
        workspace_id: storedText(head.workspaceId),
        key: head.key,
        kind: change.kind,
        actor: storedText(change.actor),
        seq: head.lastSeq,
        origin,
        payload: Buffer.from(JSON.stringify(payloadOf(change))),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    entries.push({ workspaceId: head.workspaceId, id: row.id })
  }
  return entries
}

/** The members of a head that feed rows store. */
export type PayloadHead = Omit<DocumentHead, 'workspaceId' | 'key' | 'owner'>

/** The JSON in a feed row, which only nodes read. Readers ignore members that they do not know. [LIFE-29] */
export type ChangePayload =
  | {
      readonly docId: string
      readonly version: number
      readonly head: PayloadHead
      readonly isSharingChanged: boolean
      readonly restoredFrom?: string
    }
  | { readonly docId: string; readonly version: number }
  | {
      readonly docId: string
      readonly version: number
      readonly before: PayloadHead
      readonly tombstone: Omit<Tombstone, 'workspaceId' | 'id'>
    }

function payloadOf(change: Told): ChangePayload {
  if (change.kind === 'deleted') {
    const { before, tombstone } = change
    const { deletedAtMs, lastServerVersion, ownerId, successor } = tombstone
    return {
      docId: before.id,
      version: lastServerVersion,
      before: payloadHead(before),
      tombstone: { deletedAtMs, lastServerVersion, ownerId, ...(successor !== undefined && { successor }) },
    }
  }
  const { kind, head, isSharingChanged, restoredFrom } = change
  const named = { docId: head.id, version: head.version }
  if (kind === 'edited' || kind === 'repaired') return named
  return { ...named, head: payloadHead(head), isSharingChanged, ...(restoredFrom !== undefined && { restoredFrom }) }
}

function payloadHead(head: DocumentHead): PayloadHead {
  return {
    id: head.id,
    lineage: head.lineage,
    version: head.version,
    ownerId: head.ownerId,
    ownerName: head.ownerName,
    collectionId: head.collectionId,
    sharedWith: head.sharedWith,
    createdAtMs: head.createdAtMs,
    updatedAtMs: head.updatedAtMs,
    titleChangedAtMs: head.titleChangedAtMs,
    sizeBytes: head.sizeBytes,
    facts: head.facts,
    lastSeq: head.lastSeq,
    coveredSeq: head.coveredSeq,
    bodyAhead: head.bodyAhead,
  }
}
