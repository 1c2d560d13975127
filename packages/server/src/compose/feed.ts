import type { Revocations } from '../auth/revocations.ts'
import type { ChangeRecords } from '../documents/change-records.ts'
import type { DocumentChanges } from '../documents/document-changes.ts'
import type { DocumentEvents } from '../documents/document-events.port.ts'
import type { Storage } from '../drivers/sql/storage.ts'
import { type ChangedElsewhere, createFeedConsumer } from '../feed/feed-consumer.ts'
import { startFeedReader } from '../feed/feed-reader.ts'
import type { FeedPlace } from '../feed/feed-table.port.ts'
import { systemTimers } from '../kernel/timers.ts'
import { observeFeed } from '../operation/observe.ts'
import type { Rooms } from '../sync/gateway/rooms.ts'
import type { Base } from './base.ts'

/** The positions at which this node begins to read the feeds. */
export interface FeedPlaces {
  readonly changes: FeedPlace
  readonly revocations: FeedPlace
}

/** Returns `null` in a single relay, which has no feeds. Call it before reading any data that later rows change. [LIFE-27] */
export async function openFeedPlaces(base: Base, storage: Storage): Promise<FeedPlaces | null> {
  if (!base.severalNodes) return null
  const [changes, revocations] = await Promise.all([storage.changeFeed.begin(), storage.revocationFeed.begin()])
  return { changes, revocations }
}

/** Handles every change of stored documents on this node, whichever node made it. [WS-51, PERM-2] */
export function startChangeFeed(
  base: Base,
  storage: Storage,
  place: FeedPlace,
  told: {
    readonly rooms: Rooms
    readonly events: DocumentEvents
    readonly changes: DocumentChanges
    readonly records: ChangeRecords
  },
  opened: AsyncDisposableStack,
): void {
  const { clock, log, hints, metrics } = base
  const { rooms, events, changes } = told
  const consumer = createFeedConsumer({
    rooms: {
      sharingChanged: (head) => rooms.sharingChanged(head),
      bodyChanged: (ref, version) => rooms.bodyChanged(ref, version),
      ownedElsewhere: (ref) => void rooms.departures.lostTo(ref),
      repaired: (document, seq) => void rooms.news.repaired(document, seq),
      dropLife: (document) => rooms.news.dropLife(document),
      handedOut: (document, seq) => rooms.news.handedOut(document, seq),
    },
    events,
    edited: (ref) => changes.edited(ref),
    changedElsewhere: (row) => noteElsewhere(base, told, row),
    log,
  })
  const reader = opened.use(
    startFeedReader({
      name: 'changes',
      table: storage.changeFeed,
      place,
      tell: (row) => consumer.tell(row),
      clock,
      timers: systemTimers,
      log,
    }),
  )
  storage.onTold(({ workspaceId, id }) => {
    reader.hint(id)
    hints.publish(workspaceId, id)
  })
  hints.onHint((_, id) => reader.hint(id))
  observeFeed(metrics, () => reader.lagSec())
}

/**
 * Records that another process changed a document that callers of this node watch. Only that process knows which parts changed. A change by an
 * author who is not known to be an agent counts as a person's. Edits of a room that is open here are left out: the room records them itself. [AG-20,
 * AG-23]
 */
function noteElsewhere(
  { clock }: Base,
  { rooms, records }: { readonly rooms: Rooms; readonly records: ChangeRecords },
  { workspaceId, docId: id, actor, kind, version }: ChangedElsewhere,
): void {
  const ref = { workspaceId, id }
  if (!records.isHeld(ref) || (kind === 'edited' && rooms.isResident(ref))) return
  const author = { who: { id: actor === '' ? 'system' : actor, kind: 'person' }, caller: null } as const
  records.noteElsewhere(ref, author, version, clock.nowMs())
}

/** Adds every revocation that another node has stored to the set of this node. [AUTH-14] */
export function startRevocationFeed(
  { clock, log }: Base,
  storage: Storage,
  place: FeedPlace,
  revocations: Revocations,
  opened: AsyncDisposableStack,
): void {
  opened.use(
    startFeedReader({
      name: 'revocations',
      table: storage.revocationFeed,
      place,
      tell(row) {
        if (row.kind === 'revoked') revocations.told([row])
        else revocations.toldWhole()
      },
      onAway: () => revocations.reload(),
      clock,
      timers: systemTimers,
      log,
    }),
  )
}
