import type { Room } from './room.ts'
import { failed } from './room-outcomes.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

/**
 * Stores everything and closes the room, so that another worker can load the document. Its connections stay joined: the gateway keeps what
 * they send until it is acknowledged, and hands it to the new room. Refused while a call waits for its answer. Must run inside `exclusive`.
 * [C8]
 */
export async function handOverRoom(room: Room, saver: RoomSaver): Promise<TaskOutcome> {
  if (room.calls.count > 0) return { kind: 'busy' }
  // Most of the work is done while people still type; what is left to store afterwards takes a moment.
  const first = await saver.save()
  if (first !== 'saved') return failed(first)
  if (!room.isReady) return failed('lost')
  room.host.turn(() => room.sync.pause())
  const outcome = await saver.save()
  if (!room.isReady) return failed('lost')
  const isQuiet = outcome === 'saved' && room.calls.count === 0
  room.host.turn(() => (isQuiet ? room.handOver() : room.sync.resume()))
  if (outcome !== 'saved') return failed(outcome)
  return { kind: isQuiet ? 'evicted' : 'busy' }
}
