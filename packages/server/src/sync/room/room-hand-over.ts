import type { Room } from './room.ts'
import { failed, LOST } from './room-outcomes.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

/**
 * Stores everything and closes the room, so that another home can load the document. Its connections stay joined: the gateway keeps what
 * they send until it is acknowledged, and hands it to the new room. Refused while a call waits for its answer. Must run inside `exclusive`.
 * [C8]
 */
export async function handOverRoom(room: Room, saver: RoomSaver, bodyLater: boolean): Promise<TaskOutcome> {
  if (room.calls.count > 0) return { kind: 'busy' }
  if (bodyLater || room.host.options.bounds !== null) return handOverLog(room)
  // Most of the work is done while people still type; what is left to store afterwards takes a moment.
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

/** The body is stored by the next home. The log of a light room is short, so that another home reads it in a moment. */
async function handOverLog(room: Room): Promise<TaskOutcome> {
  room.host.turn(() => room.sync.pause())
  const isDurable = await room.log.reach(room.log.emitted)
  if (!room.isReady || !isDurable) return LOST
  const isQuiet = mayClose(room)
  room.host.turn(() => (isQuiet ? closeDurable(room) : room.sync.resume()))
  return { kind: isQuiet ? 'evicted' : 'busy' }
}

/**
 * Whether nothing is lost when the room closes. The gateway hands over what joined connections sent, but in a relay that is alone not what
 * somebody sent who left before: that has to be applied here. [C8]
 */
function mayClose({ calls, epoch, sync }: Room): boolean {
  return calls.count === 0 && (epoch !== null || !sync.owesThoseWhoLeft)
}

/** Closes a room in which all is durable. The gateway opens the document again, in the home where it belongs by then. [C8] */
function closeDurable(room: Room): void {
  for (const member of room.members.values()) room.sync.answers.resyncNow(member)
  room.sync.lastBroadcast()
  room.changes.tell()
  room.reload(0)
}
