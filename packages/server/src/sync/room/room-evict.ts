import type { Room } from './room.ts'
import { compactRoom } from './room-compact.ts'
import { failed, type SaveOutcome } from './room-outcomes.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

/** Saves the body, compacts the log and closes the room, unless a connection joined or wrote meanwhile. [LIFE-17] Must run inside `exclusive`. */
export async function evictRoom(room: Room, saver: RoomSaver): Promise<TaskOutcome> {
  if (room.members.size > 0 || room.calls.count > 0) return { kind: 'busy' }
  const outcome = await saveAndCompact(room, saver)
  if (outcome !== 'saved') return failed(outcome)
  if (room.isReady) await saver.captureLeft()
  if (!room.isReady) return failed('lost')
  if (room.members.size > 0 || room.calls.count > 0 || room.sync.hasWaiting || saver.isBehind()) return { kind: 'busy' }
  room.host.turn(() => room.close({ kind: 'evicted' }))
  return { kind: 'evicted' }
}

/** Saves the body and compacts the log before the worker stops. Edits that no body contains stay in the log. Never rejects. [LIFE-28] */
export async function drainRoom(room: Room, saver: RoomSaver): Promise<void> {
  await saver
    .exclusive(async () => {
      room.host.turn(() => room.isReady && room.sync.flushTurn())
      if (room.isReady) await saveAndCompact(room, saver)
    })
    .catch(() => undefined)
}

async function saveAndCompact(room: Room, saver: RoomSaver): Promise<SaveOutcome> {
  const outcome = await saver.save()
  if (outcome === 'saved' && room.isReady && room.log.tailRecords > 0) await compactRoom(room)
  return outcome
}
