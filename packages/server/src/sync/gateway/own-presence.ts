import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { readAwareness } from '@docrelay/protocol/codec'

/** The newest states of one connection by client id, each as it stands in an AWARENESS update. */
export type OwnPresence = Map<number, Uint8Array>

/** A room accepts at most this many ids of one connection, and no larger states. [WS-43] */
const MOST_OWN = 4
const MOST_STATE_BYTES = 16 * 1024
/**
 * A connection's own states come first in its frames. Entries after this many are echoes of states that the connection has received.
 * [WS-44]
 */
const MOST_READ = 64
/** At most this many ids are remembered. A room remembers the same number. */
const MOST_SHOWN = 2_048

/**
 * Notes to which connection the ids in an AWARENESS frame of a room belong. The room has accepted these states, so the gateway learns
 * from them who introduced an id. An id without a state stays with its connection while that is joined, as in the room. [WS-44]
 *
 * `connection`: the connection that set the states or left. It is 0 when the frame does not name one, for example for a state that was
 * not renewed, and when the connection belongs to another node.
 */
export function noteShown(
  shown: Map<number, number>,
  frame: Uint8Array,
  connection: number,
  isJoined: (connection: number) => boolean,
): void {
  for (const { client, isRemoved } of entriesIn(readAwareness(frame.subarray(1)) ?? NOTHING)) {
    const known = shown.get(client)
    const owner = connection === 0 ? (known ?? 0) : connection
    // Setting the key again makes it the newest entry, which is forgotten last.
    shown.delete(client)
    if (!isRemoved || (owner !== 0 && isJoined(owner))) shown.set(client, owner)
  }
  for (const oldest of shown.keys()) {
    if (shown.size <= MOST_SHOWN) break
    shown.delete(oldest)
  }
}

/**
 * Keeps the states of an AWARENESS update that belong to the connection itself. These are states under ids that the connection has
 * introduced. While it has introduced none, these are the states of its first update, which the room may accept. All other states are
 * echoes. [WS-44]
 */
export function keptPresence(
  kept: OwnPresence | null,
  update: Uint8Array,
  shown: ReadonlyMap<number, number>,
  connection: number,
): OwnPresence | null {
  const isOwn = (id: number): boolean => shown.get(id) === connection
  const isOfOther = (id: number): boolean => shown.has(id) && !isOwn(id)
  const isFirst = [...(kept?.keys() ?? [])].every(isOfOther)
  let own = kept
  let read = 0
  for (const { client, isRemoved, stateBytes, bytes } of entriesIn(update)) {
    if (++read > MOST_READ) break
    // The room ignores a state of this size too, and continues to show the state before it.
    if (stateBytes > MOST_STATE_BYTES) continue
    if (!isOwn(client) && !kept?.has(client) && !(isFirst && !isRemoved)) continue
    own ??= new Map()
    if (!own.has(client) && own.size >= MOST_OWN) {
      const other = [...own.keys()].find((id) => isOfOther(id) || (isOwn(client) && !isOwn(id)))
      if (other === undefined) continue
      own.delete(other)
    }
    own.set(client, new Uint8Array(bytes))
  }
  return own
}

/** The presence of one connection, as the next home of its room gets it. */
export interface Replayed {
  /** The ids that the connection has introduced. */
  readonly ids: readonly number[]
  /** An AWARENESS update with the states to show again; `null` when the connection has none. */
  readonly update: Uint8Array | null
}

/** Returns the part of the kept presence that the next home gets. Leaves out the ids that another connection has introduced. [WS-44, C6] */
export function replayed(own: OwnPresence | null, shown: ReadonlyMap<number, number>, connection: number): Replayed {
  const entries = [...(own ?? [])].filter(([client]) => (shown.get(client) ?? connection) === connection)
  const ids = entries.flatMap(([client]) => (shown.has(client) ? [client] : []))
  if (entries.length === 0) return { ids, update: null }
  const size = entries.reduce((sum, [, { length }]) => sum + length, varUintLength(entries.length))
  const update = new Uint8Array(size)
  let at = writeVarUint(update, 0, entries.length)
  for (const [, bytes] of entries) {
    update.set(bytes, at)
    at += bytes.length
  }
  return { ids, update }
}

interface Entry {
  readonly client: number
  readonly isRemoved: boolean
  readonly stateBytes: number
  /** The whole entry, as a view. */
  readonly bytes: Uint8Array
}

const NOTHING = new Uint8Array()
const NULL = 'null'

/** Reads the entries of an AWARENESS update. When the update is damaged, yields the entries before the damage. */
function* entriesIn(update: Uint8Array): Generator<Entry> {
  const reader = new Reader(update)
  for (let left = reader.varUint(); left > 0; left--) {
    const from = reader.position
    const client = reader.varUint()
    reader.varUint()
    const state = reader.varBytes()
    if (reader.failed) return
    const isRemoved = state.length === NULL.length && state[0] === NULL.charCodeAt(0)
    yield { client, isRemoved, stateBytes: state.length, bytes: update.subarray(from, reader.position) }
  }
}
