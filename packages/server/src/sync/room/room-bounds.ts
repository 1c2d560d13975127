import * as Y from 'yjs'
import type { UpdateGuard } from '../guard/guard.ts'
import type { LoadedLog } from '../update-log.port.ts'
import type { RoomTask } from '../worker-messages.ts'

/**
 * What a document may be, and what may be asked of its room, where every step has to be short. Each bound is on something that is counted
 * before the step, never on a time that is measured. `light-bounds.time.test.ts` searches for the slowest step within them. [C1, C8]
 */
export interface RoomBounds {
  /** Bytes of the stored state: snapshot, records after it, and the memory of removed blocks. The stored body has the same bound. */
  readonly stateBytes: number
  readonly structs: number
  /** Longest time that loading the state may take, as the guard estimates it. */
  readonly loadMs: number
  /** Bytes of a SYNC message. */
  readonly messageBytes: number
  /** Bytes of the state and of the arguments together, for a PUT or an edit by a tool. */
  readonly callBytes: number
  /** Most structs of a piece of an update that is applied in pieces. */
  readonly pieceStructs: number
}

/** The bounds of rooms on the main loop. */
export const LIGHT_BOUNDS: RoomBounds = {
  stateBytes: 24 * 1024,
  structs: 1_000,
  loadMs: 5,
  messageBytes: 8 * 1024,
  callBytes: 8 * 1024,
  pieceStructs: 64,
}

/** Thrown by work that may take longer than the bounds of its home allow, before it does anything. The room then moves. [C8] */
export class Elsewhere extends Error {
  constructor() {
    super('the document or the call exceeds what a room on the main loop may take')
  }
}

/** Whether a stored document exceeds the bounds, by the bytes of its log and the estimated time to load it. */
export function isLogOver(bounds: RoomBounds, guard: UpdateGuard, log: Extract<LoadedLog, { kind: 'loaded' }>): boolean {
  const updates = [...(log.snapshot === null ? [] : [log.snapshot.update]), ...log.records.map(({ update }) => update)]
  const bytes = [...updates, ...log.removals].reduce((sum, { length }) => sum + length, 0)
  if (bytes > bounds.stateBytes) return true
  return worstLoadMs(guard, updates) > bounds.loadMs
}

/** The estimated longest time to load these updates, in ms; infinite when the guard refuses them. [G9] */
function worstLoadMs(guard: UpdateGuard, updates: readonly Uint8Array[]): number {
  const [first] = updates
  if (first === undefined) return 0
  const whole = updates.length === 1 ? first : Y.mergeUpdates([...updates])
  const doc = new Y.Doc()
  const inspection = guard.inspect(whole, { doc, structCount: 0 })
  doc.destroy()
  return inspection.kind === 'ok' ? inspection.worstMs : Number.POSITIVE_INFINITY
}

/** Whether a task may take longer than the bounds allow in a document of `stateBytes`. */
export function isTaskOver({ callBytes }: RoomBounds, task: RoomTask, stateBytes: number): boolean {
  if (task.kind === 'put') return stateBytes + task.request.body.bytes.length > callBytes
  return task.kind === 'edit' && stateBytes + weightOf(task.request.args, callBytes) > callBytes
}

const VALUE_BYTES = 8

/** About as many bytes as a plain value has as JSON; stops counting above `most`. */
function weightOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return VALUE_BYTES
  let weight = VALUE_BYTES
  for (const [name, member] of Object.entries(value)) {
    if (weight > most) break
    weight += name.length + weightOf(member, most - weight)
  }
  return weight
}
