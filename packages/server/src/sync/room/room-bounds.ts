import * as Y from 'yjs'
import type { DocumentRecord } from '../../documents/document-store.port.ts'
import type { UpdateGuard } from '../guard/guard.ts'
import type { LoadedLog } from '../update-log.port.ts'
import type { RoomTask } from '../worker-messages.ts'
import { NO_GUID } from './indexed-doc.ts'

/**
 * The largest document and the largest call of a room whose every step must be short. Each bound limits a quantity that is known before the
 * step, never a measured time. `light-bounds.time.test.ts` searches for the slowest step within the bounds. [C1, C8]
 */
export interface RoomBounds {
  /** Bytes of the stored state: snapshot, records after it, and the memory of removed blocks. The stored body has the same bound. */
  readonly stateBytes: number
  /** Structs of the live document. The time of nearly every step depends on them. */
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
  structs: 800,
  loadMs: 5,
  messageBytes: 8 * 1024,
  callBytes: 4 * 1024,
  pieceStructs: 64,
}

/** Thrown by work that may take longer than the bounds of its home allow. Nothing has been done by then, and the room moves. [C8] */
export class Elsewhere extends Error {
  constructor() {
    super('the document or the call exceeds what a room on the main loop may take')
  }
}

/** Whether a stored document exceeds the bounds, by the bytes of its log and the estimated time to load it. */
export function isLogOver(bounds: RoomBounds, guard: UpdateGuard, log: Extract<LoadedLog, { kind: 'loaded' }>): boolean {
  const updates = [...(log.snapshot === null ? [] : [log.snapshot.update]), ...log.records.map(({ update }) => update)]
  const bytes = [...updates, ...log.removals].reduce((sum, { length }) => sum + length, 0)
  return bytes > bounds.stateBytes || isLoadOver(bounds, guard, updates)
}

/** Whether loading these updates may take longer than `bounds.loadMs`. */
export function isLoadOver(bounds: RoomBounds, guard: UpdateGuard, updates: readonly Uint8Array[]): boolean {
  return worstLoadMs(guard, updates) > bounds.loadMs
}

const TAG = '<'.charCodeAt(0)
const OBJECT = '{'.charCodeAt(0)
/** A paragraph with an id has two tags and becomes five structs. */
const STRUCTS_PER_TAG = 2.5

/**
 * Whether a stored body exceeds the bounds. A body that the log lacks (`bodyAhead`) has to be applied to the live document, so its
 * future structs count as well: 2.5 for each tag, 1 for each JSON object.
 */
export function isBodyOver(
  { structs, stateBytes, callBytes }: RoomBounds,
  { head, body }: Pick<DocumentRecord, 'head' | 'body'>,
): boolean {
  if (body.length > stateBytes) return true
  if (!head.bodyAhead) return false
  // The body is applied by comparing it with the live document, which takes as long as a call of this size.
  if (head.lastSeq > 0 && body.length > callBytes) return true
  let count = 0
  for (const byte of body) {
    if (byte === TAG) count += STRUCTS_PER_TAG
    else if (byte === OBJECT) count++
  }
  return count > structs
}

/** Checks a stored document against the bounds. @throws Elsewhere when it exceeds them */
export function keepWithin(bounds: RoomBounds | null, record: Pick<DocumentRecord, 'head' | 'body'>): void {
  if (bounds !== null && isBodyOver(bounds, record)) throw new Elsewhere()
}

/** The estimated longest time to load these updates, in ms; infinite when the guard refuses them. [G9] */
function worstLoadMs(guard: UpdateGuard, updates: readonly Uint8Array[]): number {
  const [first] = updates
  if (first === undefined) return 0
  const whole = updates.length === 1 ? first : Y.mergeUpdates([...updates])
  const doc = new Y.Doc({ guid: NO_GUID })
  const inspection = guard.inspect(whole, { doc, structCount: 0 })
  doc.destroy()
  return inspection.kind === 'ok' ? inspection.worstMs : Number.POSITIVE_INFINITY
}

/** Whether a PUT or an edit may take longer than the bounds allow in a document of `stateBytes`. Other tasks never do. */
export function isTaskOver({ callBytes }: RoomBounds, task: RoomTask, stateBytes: number): boolean {
  if (task.kind === 'put') return stateBytes + task.request.body.bytes.length > callBytes
  return task.kind === 'edit' && stateBytes + weightOf(task.request.args, callBytes) > callBytes
}

const VALUE_BYTES = 8

/** The approximate number of JSON bytes of a plain value. Stops counting above `most`. */
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
