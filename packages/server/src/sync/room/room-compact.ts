import * as Y from 'yjs'
import type { Room } from './room.ts'
import { fullState } from './room-content.ts'

/**
 * Stores the live state as the document's snapshot and trims its log, after the snapshot was decoded once elsewhere. [LIFE-7, D8]
 * Loses nothing when interrupted; a snapshot that does not hold is reported and not stored.
 */
export async function compactRoom(room: Room): Promise<void> {
  const { log, host } = room
  // A snapshot stands for the whole log, and what a log with a gap holds cannot all be in one.
  if (!room.isReady || room.hasGap) return
  const live = room.live()
  const throughSeq = log.emitted
  const { tailRecords, tailBytes } = log
  const update = room.watched(() => fullState({ kind: 'live', live }, throughSeq))
  const stateVector = Y.encodeStateVector(live.doc)
  const verified = host.scratch.verify(room.ref.workspaceId, update, stateVector)
  const [isDurable, verdict] = await Promise.all([log.reach(throughSeq), verified])
  if (!isDurable || !room.isReady) return
  const about = { docId: room.ref.id, throughSeq, bytes: update.length }
  if (verdict === 'untold') {
    host.log.warn(
      'document.snapshot_untold',
      'A snapshot could not be checked in time and is not stored; the log has it all.',
      about,
    )
    return
  }
  if (verdict === 'differs') {
    host.count('snapshots_refused')
    host.log.error('document.snapshot_refused', 'A snapshot does not decode to the live state and is not stored.', about)
    return
  }
  const outcome = await host.updates.compact(room.key, { update, stateVector, throughSeq })
  if (outcome === 'stored') log.compacted(log.tailRecords - tailRecords, log.tailBytes - tailBytes)
}
