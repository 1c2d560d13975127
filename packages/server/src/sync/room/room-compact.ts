import * as Y from 'yjs'
import type { Room } from './room.ts'
import { isLoadOver } from './room-bounds.ts'
import { fullState } from './room-content.ts'

/**
 * Stores the live state as the document's snapshot and trims its log. Before that, the snapshot is decoded once as a check, a large one
 * in another thread. A snapshot that fails the check is reported and not stored. An interruption loses nothing. [LIFE-7, D8]
 */
export async function compactRoom(room: Room): Promise<void> {
  const { log, host } = room
  // A snapshot replaces the whole log. It cannot hold the updates that wait for missing content, so a log with a gap stays as it is.
  if (!room.isReady || room.hasGap) return
  const live = room.live()
  const throughSeq = log.emitted
  const { tailRecords, tailBytes } = log
  const update = room.watched(() => fullState({ kind: 'live', live }, throughSeq))
  const { bounds } = host.options
  if (bounds !== null && isLoadOver(bounds, host.guard, [update])) return room.outgrown()
  const stateVector = Y.encodeStateVector(live.doc)
  const verified = host.scratch.verify(room.ref.workspaceId, update, stateVector)
  const [isDurable, verdict] = await Promise.all([log.reach(throughSeq), verified])
  if (!isDurable || !room.isReady) return
  const about = { docId: room.ref.id, throughSeq, bytes: update.length }
  if (verdict === 'unknown') {
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
  const outcome = await host.updates.compact(room.key, { update, stateVector, throughSeq }, room.epoch ?? undefined)
  if (outcome === 'fenced') host.turn(() => room.fenced())
  if (outcome === 'stored') log.compacted(log.tailRecords - tailRecords, log.tailBytes - tailBytes)
}
