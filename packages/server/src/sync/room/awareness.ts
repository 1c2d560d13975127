import { Reader, varUintLength, writeVarUint } from '@docrelay/protocol/bytes'

/** One client id's state as the room last relayed it. */
interface Entry {
  connection: number
  sub: string
  /** Its connection left: the id is anyone's. */
  abandoned: boolean
  /** Clock of the last state sent to others. [WS-47] */
  clock: number
  /** Newest clock that its owner has sent. */
  heard: number
  /** UTF-8 JSON; `null` once it was taken away. */
  state: Uint8Array | null
  renewedAtMs: number
}

/** An incoming state. */
export interface StateEntry {
  readonly client: number
  readonly clock: number
  readonly json: Uint8Array
}

/** Who sends states. */
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
/** After so many ids that a sender may not introduce, the rest of its frame is not looked at. */
const MAX_REFUSED = 4
/** Entries of one frame that are read; a client that sends back what it heard names at most the ids of one room. */
const MAX_ENTRIES = 1_024
const MAX_STATE_BYTES = 16 * 1024
const MAX_STATES = 512
/** Clocks of ids that show nothing are kept beside them, so that a return is seen as newer, up to so many ids in all. */
const MAX_KNOWN = 2_048
const MAX_ROOM_BYTES = 1024 * 1024
const MAX_DEPTH = 32
const KEEP_MS = 30_000
const NULL = new Uint8Array([0x6e, 0x75, 0x6c, 0x6c])
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Takes an awareness update apart; `null` when it is not exactly one whose states are objects or null. Entries behind the first 1,024 are left
 * out unread: no room shows so many ids. [WS-42, WS-43]
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

/** The JSON of an object or null, nested at most 32 deep and without a name that would reach a prototype; `null` when it is not that. */
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

/** An awareness update of these states. */
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
 * Who is present in one room: the states connections set for the client ids they introduced. Never stored, never logged, and no right depends on
 * it. [WS-42..WS-47, G11] Times are monotonic and given by the caller; nothing is sent from here.
 */
export class Presence {
  private readonly entries = new Map<number, Entry>()
  /** Client ids by the connection that introduced them and has not left. */
  private readonly owned = new Map<number, Set<number>>()
  private bytes = 0
  /** Entries with a state. */
  private shown = 0

  /**
   * Takes the entries in that the sender may set; answers what others must be told. Entries beyond a limit are left out, and after four ids that
   * the sender may not introduce so is the rest. [WS-43]
   */
  take(sender: Sender, incoming: Iterable<StateEntry>, nowMs: number): OutgoingState[] {
    const changed = new Map<number, OutgoingState>()
    let refused = 0
    for (const entry of incoming) {
      if (this.isBeyond(sender, entry)) {
        if (++refused >= MAX_REFUSED) break
        continue
      }
      const outgoing = this.takeOne(sender, entry, nowMs)
      if (outgoing !== null) changed.set(outgoing.client, outgoing)
    }
    return [...changed.values()]
  }

  /** Whether the sender would introduce an id beyond what it, or the room, may show. */
  private isBeyond(sender: Sender, { client, json }: StateEntry): boolean {
    const known = this.entries.get(client)
    if ((known !== undefined && !known.abandoned) || isNull(json)) return false
    return this.shown >= MAX_STATES || this.ownedBy(sender.connection) >= MAX_IDS
  }

  private takeOne(sender: Sender, given: StateEntry, nowMs: number): OutgoingState | null {
    const state = isNull(given.json) ? null : given.json
    if (given.json.length > MAX_STATE_BYTES || given.clock > MAX_HEARD_CLOCK) return null
    const known = this.entries.get(given.client)
    if (known === undefined) {
      if (state === null) return null
      this.makeRoom()
      return this.set(
        given.client,
        { connection: sender.connection, sub: sender.sub, abandoned: false, clock: 0, heard: 0, state: null, renewedAtMs: nowMs },
        given,
        state,
      )
    }
    if (known.connection !== sender.connection) {
      // A number below 0 is an agent's: clients of its own sub may send back what they got. [PRES-3]
      const isOwn = known.connection >= 0 && known.sub === sender.sub && sender.connection > known.connection
      if (!(known.abandoned || isOwn) || this.ownedBy(sender.connection) >= MAX_IDS) return null
      if (known.abandoned && state === null) return null
      this.owned.get(known.connection)?.delete(given.client)
      Object.assign(known, { connection: sender.connection, sub: sender.sub, abandoned: false })
      this.own(sender.connection, given.client)
    } else if (given.clock < known.heard || (given.clock === known.heard && !(state === null && known.state !== null))) {
      // An old clock says nothing new, but its sender is alive.
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

  /** Forgets the oldest id that shows nothing when too many are known. */
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

  /** A connection ended or left: null states for what it still shows. Its clocks are kept, so that a return is seen as newer. [WS-46] */
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

  /** States that were not renewed within 30 s. [WS-45] */
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

  /** Everyone's present state, for one who joins. [WS-45] */
  present(nowMs: number): OutgoingState[] {
    const states: OutgoingState[] = []
    for (const [client, { clock, state, renewedAtMs }] of this.entries) {
      if (state !== null && nowMs - renewedAtMs <= KEEP_MS) states.push({ client, clock, state })
    }
    return states
  }

  /** The newest state of some ids, for a slot that was late. [WS-48] */
  newest(clients: Iterable<number>): OutgoingState[] {
    const states: OutgoingState[] = []
    for (const client of clients) {
      const entry = this.entries.get(client)
      if (entry !== undefined) states.push({ client, clock: entry.clock, state: entry.state })
    }
    return states
  }

  /** Whether somebody introduced this id. */
  knows(client: number): boolean {
    return this.entries.has(client)
  }

  get isEmpty(): boolean {
    return this.shown === 0
  }
}

const MAX_CLOCK = 2 ** 32 - 1
/** Far above any clock that counts changes, and far below the last one: whoever shows an id next must still be newer. [WS-47] */
const MAX_HEARD_CLOCK = 2 ** 31
const FORGET_MS = 10 * 60_000
