import { Presence, readAwareness, type StateEntry, writeAwareness } from './awareness.ts'
import { awarenessFrame } from '@docrelay/protocol/codec'
import type { RoomHost } from './room-host.ts'
import type { Member } from './room-members.ts'
import type { PresenceClocks } from '../worker-messages.ts'

const PER_SECOND = 30
const BURST = 60
const EXPIRY_CHECK_MS = 5_000
/**
 * Limit on the frames of one connection that wait for their turn. Above this limit the oldest frame is dropped, because newer states follow.
 * [WS-48]
 */
const FRAMES_WAITING = 64
const MS_PER_BYTE = 20e-6

interface Pace {
  tokens: number
  atMs: number
  /** Client ids whose newest state waits for the next sending slot. */
  readonly late: Set<number>
  timer: (() => void) | null
}

/** Handles the awareness frames of one room: reads incoming frames and sends outgoing ones at the rate of WS-48. [WS-42..WS-48] */
export class RoomAwareness {
  private readonly presence: Presence
  private readonly paces = new Map<number, Pace>()
  private readonly host: RoomHost
  private readonly room: number
  private readonly workspaceId: string
  /** Frames that wait for a turn, by connection. */
  private readonly waiting = new Map<number, Uint8Array[]>()
  private expiry: (() => void) | null = null

  /** @param clocks the newest clocks that the connections saw in the former home of the room; new states get higher ones [WS-47] */
  constructor(host: RoomHost, room: { readonly id: number; readonly workspaceId: string }, clocks?: PresenceClocks) {
    this.presence = new Presence(clocks)
    this.host = host
    this.room = room.id
    this.workspaceId = room.workspaceId
  }

  /** Notes that the connection introduced these ids in the former home of the room. */
  introduced(member: Member, clients: readonly number[]): void {
    this.presence.introduced(member, clients, this.host.clock.monotonicMs())
  }

  /** Queues a frame for its turn, because reading it takes processor time like an edit does. [WS-12] */
  receive(member: Member, payload: Uint8Array): void {
    const frames = this.waiting.get(member.connection)
    if (frames !== undefined) {
      frames.push(payload)
      if (frames.length > FRAMES_WAITING) frames.shift()
      return
    }
    this.waiting.set(member.connection, [payload])
    this.ask(member, payload.length)
  }

  private ask(member: Member, bytes: number): void {
    this.host.turns.ask({
      workspaceId: this.workspaceId,
      connection: member.connection,
      estimateMs: bytes * MS_PER_BYTE,
      run: () => {
        const frames = this.waiting.get(member.connection)
        const frame = frames?.shift()
        if (frame === undefined) return
        this.take(member, frame)
        if (frames?.[0] === undefined) this.waiting.delete(member.connection)
        else this.ask(member, frames[0].length)
      },
    })
  }

  private take(member: Member, payload: Uint8Array): void {
    const entries = readAwareness(payload)
    if (entries === null) {
      this.host.emit({ kind: 'violation', connection: member.connection })
      return
    }
    const now = this.host.clock.monotonicMs()
    const changed = this.presence.take(member, entries, now)
    this.expiry ??= this.host.after(EXPIRY_CHECK_MS, () => this.expire())
    if (changed.length === 0) return
    const pace = this.pace(member.connection, now)
    if (pace.timer === null && pace.tokens >= 1) {
      pace.tokens--
      this.send(changed, member.connection)
      return
    }
    for (const { client } of changed) pace.late.add(client)
    pace.timer ??= this.host.after(1000 / PER_SECOND, () => this.catchUp(member.connection, pace))
  }

  /** Sends a state that no connection set, such as an agent's. Returns false when the room can show no more states. [PRES-1] */
  show(sender: { readonly connection: number; readonly sub: string }, entry: StateEntry): boolean {
    const changed = this.presence.take(sender, [entry], this.host.clock.monotonicMs())
    this.send(changed, 0)
    this.expiry ??= this.host.after(EXPIRY_CHECK_MS, () => this.expire())
    return changed.length > 0
  }

  /** Returns the user name in the awareness states of a connection; `null` when there is no name. */
  nameOf(connection: number): string | null {
    return this.presence.nameOf(connection)
  }

  clocks(): PresenceClocks {
    return this.presence.clocks()
  }

  saw(clocks: PresenceClocks): void {
    this.send(this.presence.saw(clocks), 0)
  }

  knows(client: number): boolean {
    return this.presence.knows(client)
  }

  private pace(connection: number, now: number): Pace {
    let pace = this.paces.get(connection)
    if (pace === undefined) {
      pace = { tokens: BURST, atMs: now, late: new Set(), timer: null }
      this.paces.set(connection, pace)
    }
    pace.tokens = Math.min(BURST, pace.tokens + ((now - pace.atMs) * PER_SECOND) / 1000)
    pace.atMs = now
    return pace
  }

  private catchUp(connection: number, pace: Pace): void {
    pace.timer = null
    this.pace(connection, this.host.clock.monotonicMs())
    pace.tokens = Math.max(0, pace.tokens - 1)
    const newest = this.presence.newest(connection, pace.late)
    pace.late.clear()
    this.send(newest, connection)
  }

  /** Returns all current states as one awareness update; `null` when there is no state. [WS-45] */
  snapshot(): Uint8Array | null {
    const present = this.presence.present(this.host.clock.monotonicMs())
    return present.length === 0 ? null : writeAwareness(present)
  }

  /** Sends null states for all ids whose states the connection still shows. [WS-46] */
  leave(member: Member): void {
    const { connection } = member
    // A null state is sent only for a state that is known here. The newest waiting frame may hold a state that others saw in the
    // former home of the room, so this frame is applied first.
    const newest = this.waiting.get(connection)?.at(-1)
    if (newest !== undefined) this.take(member, newest)
    const pace = this.paces.get(connection)
    pace?.timer?.()
    this.paces.delete(connection)
    this.waiting.delete(connection)
    this.send(this.presence.leave(connection), connection)
  }

  private expire(): void {
    this.expiry = null
    this.send(this.presence.expire(this.host.clock.monotonicMs()), 0)
    if (!this.presence.isEmpty) this.expiry = this.host.after(EXPIRY_CHECK_MS, () => this.expire())
  }

  private send(states: Parameters<typeof writeAwareness>[0], except: number): void {
    if (states.length === 0) return
    this.host.emit({ kind: 'awareness', room: this.room, frame: awarenessFrame(writeAwareness(states)), except })
  }

  close(): void {
    this.waiting.clear()
    this.expiry?.()
    for (const { timer } of this.paces.values()) timer?.()
  }
}
