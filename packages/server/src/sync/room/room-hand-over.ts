import type { Room } from './room.ts'
import { failed, LOST } from './room-outcomes.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

/**
 * Stores everything and closes the room, so that another home can load the document. The connections stay joined: the gateway keeps their
 * messages until they are acknowledged, and hands them to the new room. Returns `busy` while a call waits for its answer. Must run inside
 * `exclusive`. [C8]
 */
export async function handOverRoom(room: Room, saver: RoomSaver, bodyLater: boolean): Promise<TaskOutcome> {
  if (room.calls.count > 0) return { kind: 'busy' }
  if (bodyLater || room.host.options.bounds !== null) return handOverLog(room)
  // The first save runs while people still type, so that the save during the pause has little left to store.
  const first = await saver.save()
  if (first !== 'saved') return failed(first)
  if (!room.isReady) return failed('lost')
  room.host.turn(() => room.sync.pause())
  const outcome = await saver.save()
  if (!room.isReady) return failed('lost')
  const isQuiet = outcome === 'saved' && mayClose(room)
  room.host.turn(() => (isQuiet ? closeDurable(room) : room.sync.resume()))
  if (outcome !== 'saved') return failed(outcome)
  return { kind: isQuiet ? 'evicted' : 'busy' }
}

/** Hands over when the log is durable. The next home stores the body. It reads the log of a light room quickly, because this log is short. */
async function handOverLog(room: Room): Promise<TaskOutcome> {
  room.host.turn(() => room.sync.pause())
  const isDurable = await room.log.reach(room.log.emitted)
  if (!room.isReady || !isDurable) return LOST
  const isQuiet = mayClose(room)
  room.host.turn(() => (isQuiet ? closeDurable(room) : room.sync.resume()))
  return { kind: isQuiet ? 'evicted' : 'busy' }
}

/**
 * Whether the room can close without loss. The gateway hands the unacknowledged messages of joined connections to the next home. For
 * connections that have left, the gateway does so only in a relay of several nodes. In a relay of one node, their writes have to be applied
 * here first. [C8]
 */
function mayClose({ calls, epoch, sync }: Room): boolean {
  return calls.count === 0 && (epoch !== null || !sync.owesThoseWhoLeft)
}

/** Closes a room in which everything is durable. The gateway opens the document again, in the home where it belongs then. [C8] */
function closeDurable(room: Room): void {
  for (const member of room.members.values()) room.sync.answers.resyncNow(member)
  room.sync.lastBroadcast()
  room.changes.tell()
  room.reload(0)
}
