import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'
import { shownName } from '../../kernel/shown-name.ts'
import type { PresenceClocks } from '../worker-messages.ts'

/** The state of one client id as the room last relayed it. */
interface Entry {
  connection: number
  sub: string
  /** True when the connection has left. Then any connection may take the id over. */
  abandoned: boolean
  /** Clock of the last state that was sent to others. [WS-47] */
  clock: number
  /** The newest clock that the connection has sent for this id; -1 before its first state. */
  heard: number
  /** UTF-8 JSON; `null` after the state was removed. */
  state: Uint8Array | null
  renewedAtMs: number
}

/** An incoming state. */
export interface StateEntry {
  readonly client: number
  readonly clock: number
  readonly json: Uint8Array
}

/** The sender of a state. */
interface Sender {
  readonly connection: number
  readonly sub: string
}

/** A state to send to others, under the room's own clock. */
export interface OutgoingState {
  readonly client: number
  readonly clock: number
  readonly state: Uint8Array | null
}

const MAX_IDS = 4
/** After this many ids that the sender may not introduce, the rest of the frame is ignored. */
const MAX_REFUSED = 4
/** Maximum number of entries read from one frame. A client that sends all received states back names at most the ids of one room. */
const MAX_ENTRIES = 1_024
const MAX_STATE_BYTES = 16 * 1024
const MAX_STATES = 512
/**
 * Maximum number of ids whose clocks are kept, with or without a state. The clock of an id without a state is kept so that others see a
 * returning client's state as newer.
 */
const MAX_KNOWN = 2_048
const MAX_ROOM_BYTES = 1024 * 1024
const MAX_DEPTH = 32
const KEEP_MS = 30_000
const NULL = new Uint8Array([0x6e, 0x75, 0x6c, 0x6c])
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes an awareness update. Returns `null` when the bytes are not exactly one update whose states are objects or null. Entries after the
 * first 1,024 are not read, because no room shows so many ids. [WS-42, WS-43]
 */
export function readAwareness(bytes: Uint8Array): readonly StateEntry[] | null {
  const reader = new Reader(bytes)
  const count = reader.varUint()
  if (count * 3 > bytes.length) return null
  const entries: StateEntry[] = []
  for (let i = 0; i < Math.min(count, MAX_ENTRIES); i++) {
    const [client, clock, state] = [reader.varUint(), reader.varUint(), reader.varBytes()]
    const json = reader.failed ? null : readState(state)
    if (json === null) return null
    entries.push({ client, clock, json })
  }
  const isWhole = count > MAX_ENTRIES || reader.remaining === 0
  return reader.failed || !isWhole ? null : entries
}

/**
 * Returns the bytes when they are the JSON of null or of an object that is nested at most 32 deep and has no member `__proto__`; else
 * `null`.
 */
function readState(json: Uint8Array): Uint8Array | null {
  if (isNull(json)) return json
  try {
    const value: unknown = JSON.parse(utf8.decode(json))
    if (value === null) return NULL
    return typeof value === 'object' && !Array.isArray(value) && isShallow(value, MAX_DEPTH) ? json : null
  } catch {
    return null
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth === 0) return false
  return Object.entries(value).every(([name, member]) => name !== '__proto__' && isShallow(member, depth - 1))
}

function isNull(json: Uint8Array): boolean {
  return json.length === 4 && json.every((byte, i) => byte === NULL[i])
}

/** Encodes states as one awareness update. */
export function writeAwareness(states: readonly OutgoingState[]): Uint8Array {
  let size = varUintLength(states.length)
  for (const { client, clock, state } of states) {
    const { length } = state ?? NULL
    size += varUintLength(client) + varUintLength(clock) + varUintLength(length) + length
  }
  const bytes = new Uint8Array(size)
  let at = writeVarUint(bytes, 0, states.length)
  for (const { client, clock, state } of states) {
    const json = state ?? NULL
    at = writeVarUint(bytes, at, client)
    at = writeVarUint(bytes, at, clock)
    at = writeVarUint(bytes, at, json.length)
    bytes.set(json, at)
    at += json.length
  }
  return bytes
}

/**
 * The awareness states of one room: which connection introduced which client id, and the state of each id. States are never stored or
 * logged, and no permission depends on them. [WS-42..WS-47, G11] The caller passes monotonic times. This class sends nothing.
 */
export class Presence {
  private readonly entries = new Map<number, Entry>()
  /** Client ids by the connection that introduced them, for connections that have not left. */
  private readonly owned = new Map<number, Set<number>>()
  /** By client id: the newest clock that others saw in a former home of the room. The first state here gets a higher clock. [WS-47] */
  private readonly seen: Map<number, number>
  private bytes = 0
  /** Number of entries with a state. */
  private shown = 0

  constructor(seen: PresenceClocks = []) {
    this.seen = new Map(seen)
  }

  /**
   * Applies the entries that the sender may set and returns the states to broadcast. Entries beyond a limit are skipped. After four ids
   * that the sender may not introduce, the rest of the frame is skipped too. [WS-43]
   *
   * A connection can take over ids of others only with the first states that it shows. Later states of such ids are echoes of what the
   * connection has received: y-websocket sends every state back. [WS-44]
   */
  take(sender: Sender, incoming: Iterable<StateEntry>, nowMs: number): OutgoingState[] {
    const mayTakeOver = !this.owned.has(sender.connection)
    const changed = new Map<number, OutgoingState>()
    let refused = 0
    for (const entry of incoming) {
      if (this.isBeyond(sender, entry)) {
        if (++refused >= MAX_REFUSED) break
        continue
      }
      const outgoing = this.takeOne(sender, entry, mayTakeOver, nowMs)
      if (outgoing !== null) changed.set(outgoing.client, outgoing)
    }
    return [...changed.values()]
  }

  /**
   * Notes ids that a connection introduced in the former home of the room. This happens before any state arrives here, so that no other
   * connection can introduce these ids first. [WS-44]
   */
  introduced(sender: Sender, clients: readonly number[], nowMs: number): void {
    for (const client of clients.slice(0, MAX_IDS)) {
      if (this.entries.has(client)) continue
      this.makeRoom()
      this.entries.set(client, this.newEntry(sender, client, nowMs))
      this.own(sender.connection, client)
    }
  }

  private newEntry({ connection, sub }: Sender, client: number, nowMs: number): Entry {
    const clock = this.seen.get(client) ?? 0
    return { connection, sub, abandoned: false, clock, heard: -1, state: null, renewedAtMs: nowMs }
  }

  /** Whether this entry would add an id beyond the limit of the sender or of the room. */
  private isBeyond(sender: Sender, { client, json }: StateEntry): boolean {
    const known = this.entries.get(client)
    if ((known !== undefined && !known.abandoned) || isNull(json)) return false
    return this.shown >= MAX_STATES || this.ownedBy(sender.connection) >= MAX_IDS
  }

  private takeOne(sender: Sender, given: StateEntry, mayTakeOver: boolean, nowMs: number): OutgoingState | null {
    const state = isNull(given.json) ? null : given.json
    if (given.json.length > MAX_STATE_BYTES || given.clock > MAX_HEARD_CLOCK) return null
    const known = this.entries.get(given.client)
    if (known === undefined) {
      if (state === null) return null
      this.makeRoom()
      return this.set(given.client, this.newEntry(sender, given.client, nowMs), given, state)
    }
    if (known.connection !== sender.connection) {
      if (!mayTakeOver) return null
      // Negative connection numbers belong to agents: a client of the same `sub` may echo an agent's state but does not take it over.
      // [PRES-3]
      const isOwn = known.connection >= 0 && known.sub === sender.sub && sender.connection > known.connection
      if (!(known.abandoned || isOwn) || this.ownedBy(sender.connection) >= MAX_IDS) return null
      if (known.abandoned && state === null) return null
      this.owned.get(known.connection)?.delete(given.client)
      Object.assign(known, { connection: sender.connection, sub: sender.sub, abandoned: false })
      this.own(sender.connection, given.client)
    } else if (given.clock < known.heard || (given.clock === known.heard && !(state === null && known.state !== null))) {
      // The clock is not newer, so the state is ignored. But the sender is evidently still there, so its known state is renewed.
      known.renewedAtMs = nowMs
      return null
    }
    known.renewedAtMs = nowMs
    return this.set(given.client, known, given, state)
  }

  private set(client: number, entry: Entry, given: StateEntry, state: Uint8Array | null): OutgoingState | null {
    const bytes = this.bytes - (entry.state?.length ?? 0) + (state?.length ?? 0)
    const shown = this.shown - (entry.state === null ? 0 : 1) + (state === null ? 0 : 1)
    if (bytes > MAX_ROOM_BYTES || shown > MAX_STATES) return null
    this.bytes = bytes
    this.shown = shown
    entry.heard = given.clock
    entry.clock = Math.min(Math.max(entry.clock + 1, given.clock), MAX_CLOCK)
    entry.state = state === null ? null : state.slice()
    this.entries.set(client, entry)
    this.own(entry.connection, client)
    return { client, clock: entry.clock, state: entry.state }
  }

  /** When too many ids are known, forgets the oldest id without a state. */
  private makeRoom(): void {
    if (this.entries.size < MAX_KNOWN) return
    for (const [client, { state }] of this.entries) if (state === null) return this.forget(client)
  }

  private own(connection: number, client: number): void {
    const ids = this.owned.get(connection)
    if (ids === undefined) this.owned.set(connection, new Set([client]))
    else ids.add(client)
  }

  private ownedBy(connection: number): number {
    return this.owned.get(connection)?.size ?? 0
  }

  private forget(client: number): void {
    const entry = this.entries.get(client)
    if (entry === undefined) return
    this.entries.delete(client)
    this.owned.get(entry.connection)?.delete(client)
  }

  /**
   * Returns null states for all ids whose states an ended or leaving connection still shows. Keeps the clocks, so that a later state of
   * the same id counts as newer. [WS-46]
   */
  leave(connection: number): OutgoingState[] {
    const ids = this.owned.get(connection) ?? []
    this.owned.delete(connection)
    const cleared: OutgoingState[] = []
    for (const client of ids) {
      const entry = this.entries.get(client)
      if (entry === undefined) continue
      entry.abandoned = true
      if (entry.state !== null) cleared.push(this.clear(client, entry))
    }
    return cleared
  }

  /** Removes all states that were not renewed within 30 s, and returns null states for them. Forgets ids that were silent for 10 min. [WS-45] */
  expire(nowMs: number): OutgoingState[] {
    const cleared: OutgoingState[] = []
    for (const [client, entry] of this.entries) {
      const silentMs = nowMs - entry.renewedAtMs
      if (entry.state !== null && silentMs > KEEP_MS) cleared.push(this.clear(client, entry))
      if (entry.state === null && silentMs > FORGET_MS) this.forget(client)
    }
    return cleared
  }

  private clear(client: number, entry: Entry): OutgoingState {
    this.bytes -= entry.state?.length ?? 0
    this.shown--
    entry.state = null
    entry.clock = Math.min(entry.clock + 1, MAX_CLOCK)
    return { client, clock: entry.clock, state: null }
  }

  /** Returns all current states, for a connection that joins. [WS-45] */
  present(nowMs: number): OutgoingState[] {
    const states: OutgoingState[] = []
    for (const [client, { clock, state, renewedAtMs }] of this.entries) {
      if (state !== null && nowMs - renewedAtMs <= KEEP_MS) states.push({ client, clock, state })
    }
    return states
  }

  /**
   * Returns the newest states of ids whose states waited for a sending slot of the connection. Leaves out ids that another connection has
   * taken over meanwhile. [WS-44, WS-48]
   */
  newest(connection: number, clients: Iterable<number>): OutgoingState[] {
    const states: OutgoingState[] = []
    for (const client of clients) {
      const entry = this.entries.get(client)
      if (entry?.connection === connection) states.push({ client, clock: entry.clock, state: entry.state })
    }
    return states
  }

  /** Returns the `user.name` of the first state of a connection that contains a name; `null` when no state does. [AG-21] */
  nameOf(connection: number): string | null {
    for (const client of this.owned.get(connection) ?? []) {
      const name = nameIn(this.entries.get(client)?.state ?? NULL)
      if (name !== null) return name
    }
    return null
  }

  /** Returns for each client id the newest clock that others have seen, for the next home of the room. [WS-47] */
  clocks(): PresenceClocks {
    for (const [client, { clock }] of this.entries) this.seen.set(client, clock)
    return [...this.seen].slice(-MAX_KNOWN)
  }

  /**
   * Takes the clocks that connections saw before they came here. Returns, under newer clocks, the states that these connections
   * would otherwise ignore as older ones. [WS-47]
   */
  saw(clocks: PresenceClocks): OutgoingState[] {
    const raised: OutgoingState[] = []
    for (const [client, clock] of clocks) {
      const entry = this.entries.get(client)
      if (entry === undefined) {
        if (this.seen.size < MAX_KNOWN) this.seen.set(client, Math.max(this.seen.get(client) ?? 0, clock))
      } else if (entry.clock <= clock) {
        entry.clock = Math.min(clock + 1, MAX_CLOCK)
        // An id without a state here so far (`heard` is -1) has nothing to send.
        if (entry.heard >= 0) raised.push({ client, clock: entry.clock, state: entry.state })
      }
    }
    return raised
  }

  /** Whether a client id is known in this room, with or without a state. */
  knows(client: number): boolean {
    return this.entries.has(client)
  }

  get isEmpty(): boolean {
    return this.shown === 0
  }
}

const MAX_CLOCK = 2 ** 32 - 1
/**
 * Highest clock accepted from a client. It is far above any clock that counts changes and far below the largest possible one, so that the
 * next owner of the id can still send a newer clock. [WS-47]
 */
const MAX_HEARD_CLOCK = 2 ** 31
const FORGET_MS = 10 * 60_000

const MAX_NAME_CHARACTERS = 24

/** Returns at most 24 characters of the user name in a state; `null` when the state has no name. */
function nameIn(state: Uint8Array): string | null {
  const value = JSON.parse(utf8.decode(state)) as { readonly user?: { readonly name?: unknown } | null } | null
  const name = value?.user?.name
  return typeof name === 'string' ? shownName(name, MAX_NAME_CHARACTERS) : null
}
