import { awarenessFrame, readAwareness } from '@docrelay/protocol/codec'
import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import * as Y from 'yjs'

/** `Y.mergeUpdates` takes time quadratic in the number of updates. The time for this many updates is still short. */
const MERGE_FAN_IN = 200
/** Merged pieces above this size are not merged again, since that would block the main thread. */
const MERGE_PIECE_BYTES = 256 * 1024
/** When all held updates together are no larger than this, they are merged into one update. */
const MERGE_ALL_BYTES = 2 * 1024 * 1024

/**
 * Updates that wait for one slow socket, and the newest awareness state of every client id. The updates are merged in groups as
 * they arrive, so that neither their number nor the time of the last merge grows without limit. [WS-55]
 */
export interface HeldUpdates {
  merged: Uint8Array[]
  recent: Uint8Array[]
  recentBytes: number
  bytes: number
  readonly awareness: Map<number, { readonly clock: number; readonly state: Uint8Array }>
}

export function newHeldUpdates(): HeldUpdates {
  return { merged: [], recent: [], recentBytes: 0, bytes: 0, awareness: new Map() }
}

export function holdUpdate(held: HeldUpdates, update: Uint8Array): void {
  held.recent.push(update)
  held.recentBytes += update.length
  held.bytes += update.length
  if (held.recent.length >= MERGE_FAN_IN || held.recentBytes >= MERGE_PIECE_BYTES) mergeRecent(held)
}

/** Adds the states of one AWARENESS frame. Ignores a state whose clock is older than that of the held state. */
export function holdAwareness(held: HeldUpdates, frame: Uint8Array): void {
  const update = readAwareness(frame.subarray(1))
  if (update === null) return
  const reader = new Reader(update)
  for (let left = reader.varUint(); left > 0 && !reader.failed; left--) {
    const client = reader.varUint()
    const clock = reader.varUint()
    const state = reader.varBytes()
    const known = held.awareness.get(client)
    if (reader.failed || (known && known.clock > clock)) continue
    held.bytes += state.length - (known?.state.length ?? 0)
    held.awareness.set(client, { clock, state: new Uint8Array(state) })
  }
}

/**
 * Returns the updates to send now, merged into one when that is cheap, and the awareness frame if there is one. Nothing
 * is held afterwards.
 */
export function releaseHeld(held: HeldUpdates): {
  readonly updates: readonly Uint8Array[]
  readonly awareness: Uint8Array | null
} {
  mergeRecent(held)
  const total = held.merged.reduce((sum, update) => sum + update.length, 0)
  const one = held.merged.length > 1 && held.merged.length <= MERGE_FAN_IN && total <= MERGE_ALL_BYTES
  const updates = one ? [Y.mergeUpdates(held.merged)] : held.merged
  const awareness = held.awareness.size > 0 ? encodeAwareness(held) : null
  held.merged = []
  held.bytes = 0
  held.awareness.clear()
  return { updates, awareness }
}

function mergeRecent(held: HeldUpdates): void {
  const [first] = held.recent
  if (first === undefined) return
  const merged = held.recent.length === 1 ? first : Y.mergeUpdates(held.recent)
  held.merged.push(merged)
  held.bytes += merged.length - held.recentBytes
  held.recent = []
  held.recentBytes = 0
}

function encodeAwareness(held: HeldUpdates): Uint8Array {
  let length = varUintLength(held.awareness.size)
  for (const [client, { clock, state }] of held.awareness) {
    length += varUintLength(client) + varUintLength(clock) + varUintLength(state.length) + state.length
  }
  const update = new Uint8Array(length)
  let at = writeVarUint(update, 0, held.awareness.size)
  for (const [client, { clock, state }] of held.awareness) {
    at = writeVarUint(update, writeVarUint(update, at, client), clock)
    at = writeVarUint(update, at, state.length)
    update.set(state, at)
    at += state.length
  }
  return awarenessFrame(update)
}
