import { RelayError, unreachable } from '../../kernel/errors.ts'
import type { RoomTask, TaskOutcome } from '../worker-messages.ts'
import type { Room } from './room.ts'
import { Elsewhere, isTaskOver } from './room-bounds.ts'
import { lengthOf } from './room-content.ts'
import { editInRoom } from './room-edit.ts'
import { encodeRoom } from './room-encode.ts'
import { evictRoom } from './room-evict.ts'
import { handOverRoom } from './room-hand-over.ts'
import { missedSince } from './room-missed.ts'
import { LOST, MOVED, WRITE_LOST } from './room-outcomes.ts'
import { putIntoRoom } from './room-put.ts'
import type { RoomSaver } from './room-save.ts'

/** Runs a task when the jobs before it have ended. Never rejects. A task that may take too long in this home is not begun. [LIFE-8, C8] */
export async function runTask(room: Room, saver: RoomSaver, task: RoomTask): Promise<TaskOutcome> {
  const { host, ref } = room
  const { bounds } = host.options
  if (bounds !== null && isTaskOver(bounds, task, lengthOf(room.content()))) return { kind: 'elsewhere' }
  try {
    const outcome = await saver.exclusive(() => (room.isReady ? perform(room, saver, task) : Promise.resolve(LOST)))
    // Both outcomes mean that nothing was stored.
    return room.isFenced && (outcome === LOST || outcome === WRITE_LOST) ? MOVED : outcome
  } catch (error) {
    if (error instanceof Elsewhere) return { kind: 'elsewhere' }
    if (error instanceof RelayError && (error.code === 'UNAVAILABLE' || error.code === 'NOT_PERSISTED')) {
      return { kind: 'failed', code: error.code, message: error.message, details: error.details }
    }
    host.log.error('room.job_failed', 'A job on a live document failed.', {
      docId: ref.id,
      job: task.kind,
      error: String(error),
    })
    return { kind: 'failed', code: 'INTERNAL', message: 'the job failed' }
  }
}

async function perform(room: Room, saver: RoomSaver, task: RoomTask): Promise<TaskOutcome> {
  switch (task.kind) {
    case 'settle':
      return saver.settle(task.quietMs)
    case 'put':
      return putIntoRoom(room, saver, task.request)
    case 'edit':
      return editInRoom(room, saver, task)
    case 'body-changed':
      return saver.bodyChanged(task.version)
    case 'encode':
      return encodeRoom(room, saver)
    case 'evict':
      return evictRoom(room, saver)
    case 'hand-over':
      return handOverRoom(room, saver, task.bodyLater === true)
    case 'missed':
      return missedSince(room, task.since)
    case 'end-agents':
      room.host.turn(() => room.agents.end())
      return { kind: 'settled', version: saver.version }
    case 'drop':
      room.host.turn(() => room.close({ kind: 'gone' }))
      return { kind: 'evicted' }
    default:
      return unreachable(task)
  }
}
