import { fullState } from './room-content.ts'
import { LOST } from './room-outcomes.ts'
import type { Room } from './room.ts'
import type { RoomSaver } from './room-save.ts'
import type { TaskOutcome } from '../worker-messages.ts'

const ATTEMPTS = 5

/**
 * Returns the whole state as one update, with the stored version of this state. While edits never pause, the version may be a few edits
 * older than the state. Everything in the state is durable. [REST-31, LIFE-11]
 */
export async function encodeRoom(room: Room, saver: RoomSaver): Promise<TaskOutcome> {
  for (let attempt = 1; ; attempt++) {
    const settled = await saver.settle()
    if (settled.kind !== 'settled') return settled
    if (!room.isReady) return LOST
    if (saver.isBehind() && attempt < ATTEMPTS) continue
    const sequence = room.log.emitted
    const update = room.watched(() => fullState(room.content(), sequence))
    return (await room.log.reach(sequence)) ? { kind: 'encoded', version: settled.version, update } : LOST
  }
}
