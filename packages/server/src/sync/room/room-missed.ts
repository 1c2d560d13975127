import type { RoomHost } from './room-host.ts'
import { fullState, type RoomContent } from './room-content.ts'
import type { LoadedRoom } from './room-load.ts'
import type { RoomLog } from './room-log.ts'
import { LOST } from './room-outcomes.ts'
import { splitUpdate } from './room-split.ts'
import type { TaskOutcome } from '../worker-messages.ts'

/** A loaded room whose members may lack updates. */
interface MissingRoom {
  readonly host: Pick<RoomHost, 'updates'>
  readonly key: number
  readonly log: Pick<RoomLog, 'emitted' | 'reach'>
  readonly isReady: boolean
  content(): RoomContent
  watched<T>(work: () => T): T
}

/**
 * Returns the updates that the log got after `since`, or the whole state when the log no longer has all these updates. The answer is for
 * connections that stay joined while another node becomes the owner, because a client asks for missing updates only when it joins.
 * Everything in the answer is durable. Must run inside `exclusive`. [LIFE-25]
 */
export async function missedSince(room: MissingRoom, since: number): Promise<TaskOutcome> {
  const { log } = room
  const through = log.emitted
  if (!(await log.reach(through)) || !room.isReady) return LOST
  if (through <= since) return { kind: 'missed', throughSeq: through, updates: [] }
  const records = await recordsAfter(room, since)
  if (records !== null) return { kind: 'missed', ...records }
  if (!room.isReady) return LOST
  const throughSeq = log.emitted
  const state = room.watched(() => fullState(room.content(), throughSeq))
  return (await log.reach(throughSeq)) ? { kind: 'missed', throughSeq, updates: splitUpdate(state) } : LOST
}

/** Returns the updates after `since`, or the whole state, for the members of a room that has just been loaded. */
export async function missedAtOpening(
  room: Pick<MissingRoom, 'host' | 'key'>,
  since: number,
  { lastSeq, content }: Pick<LoadedRoom, 'lastSeq' | 'content'>,
): Promise<readonly Uint8Array[]> {
  if (lastSeq <= since) return []
  const records = await recordsAfter(room, since).catch(() => null)
  return records === null ? splitUpdate(fullState(content, lastSeq)) : records.updates
}

/** Reads the records after `since`. Returns `null` when the log no longer has all of them. */
async function recordsAfter(
  { host, key }: Pick<MissingRoom, 'host' | 'key'>,
  since: number,
): Promise<{ readonly throughSeq: number; readonly updates: readonly Uint8Array[] } | null> {
  const records = await host.updates.after(key, since)
  const last = records.at(-1)
  if (last === undefined || records[0]?.seq !== since + 1) return null
  return { throughSeq: last.seq, updates: records.flatMap(({ update }) => splitUpdate(update)) }
}
