import type { CloseCode, CloseWord } from '@docrelay/protocol/codes'
import type { WireErrorCode } from '@docrelay/protocol/codes'
import type { Access, Level } from '../../access/access.ts'
import type { AckTracker } from './ack-tracker.ts'
import type { ChunkBox } from './chunks.ts'
import type { HeldUpdates } from './held-updates.ts'
import type { OwnPresence } from './own-presence.ts'
import type { MemberRights } from '../worker-messages.ts'
import type { Room } from './room-table.ts'

/** The socket of a connection: `raw` writes ready-made frames, the rest belongs to the WebSocket library. */
export interface Wire {
  readonly raw: {
    readonly writableLength: number
    readonly destroyed: boolean
    write(bytes: Uint8Array): boolean
    cork(): void
    uncork(): void
    once(event: 'drain', listener: () => void): unknown
  }
  close(code: number, reason: string): void
  terminate(): void
  ping(): void
  pause(): void
  resume(): void
}

/** The caller of a connection, according to the newest token that was accepted. */
export interface Identity {
  readonly access: Access
  readonly jti: string
  /** ms since 1970. */
  readonly expMs: number
  /** Feature `ack` was granted. [WS-38] */
  readonly ack: boolean
  /** Feature `joined` was granted. [WS-61] */
  readonly joined: boolean
}

/** The document a connection is joined to. */
export interface Binding {
  readonly room: Room
  /** Number of the join, counted per connection. */
  readonly join: number
  /** True when the client named the lineage of its copy, so that its copy cannot contain content of an earlier lineage. [WS-62] */
  readonly knowsLineage: boolean
  /** The level that the shares grant; decides whether writes are accepted. */
  level: Level
  /** The level that was announced to the client: `view` while the log of the document has a gap. [LIFE-5] */
  announced: Level
  readonly acks: AckTracker
  /**
   * True once the client has got the step1 of its join or of a later resync. When it is false and the room moves, the next home sends the
   * step1. [C8]
   */
  isAsked: boolean
  /** True until the first step1 after a JOIN, which takes no token. [WS-28] */
  stepOneFree: boolean
  /** A step1 of the client that is not answered yet. When the home of the room ends, the next home gets the step1 again. [C6] */
  stepOne: Uint8Array | null
  /**
   * A step1 was sent because writes were dropped, and the token for the answering step2 is already taken. Until that step2 arrives, but at
   * most until `dropsUntilMs`, updates are dropped too, because the step2 contains them. [WS-29]
   */
  stepTwo: { readonly dropsUntilMs: number } | null
  /** True once an edit without permission was written to the audit log. Later edits without permission are not logged again. [OPS-7] */
  editRefused: boolean
  chunks: ChunkBox | null
  /** The newest presence states of this client. When the home of the room ends, the next home gets these states. [C6] */
  presence: OwnPresence | null
}

/** A binding that the relay ended; later writes are answered with the same code. [WS-54] */
export interface EndedBinding {
  readonly room: Room
  readonly code: Extract<WireErrorCode, 'ERR_DELETED' | 'ERR_VIEW_FORBIDDEN'>
  received: number
  /** The DOC_EVENT deleted must still be sent, also to a caller without the right to read. [WS-51] */
  eventDue: boolean
  /** Ids of chunked messages that were refused. */
  readonly refusedChunks: string[]
}

export type SessionState =
  /** `isRefused`: AUTH failed and the close waits; nothing that the client sends has an effect. [WS-16] */
  | { readonly kind: 'unauthenticated'; readonly deadlineMs: number; readonly isRefused: boolean }
  | { readonly kind: 'authenticated'; readonly identity: Identity; readonly ended: EndedBinding | null }
  | { readonly kind: 'joined'; readonly identity: Identity; readonly binding: Binding }
  | { readonly kind: 'closed' }

/**
 * Reasons for pausing the reading from a socket, as bits. Reading resumes when no bit is set. `link`: the link to the node that
 * owns the document is full. [WS-12, W4]
 */
export const PAUSE = { queue: 1, rate: 2, unsettled: 4, link: 8 } as const

/** A bucket of one connection. */
export interface OwnBucket {
  tokens: number
  atMs: number
}

/**
 * One socket. A part that few connections need is `null` until the connection needs it, so that a thousand idle connections cost little
 * more than their sockets. Times are monotonic ms.
 */
export class Connection {
  readonly id: number
  readonly wire: Wire
  /** The workspace that the query member `workspace` of the upgrade names. */
  readonly namedWorkspace: string | undefined
  /** The address to which the socket is charged in the limits per address. [WS-6] */
  readonly address: string
  state: SessionState
  /** The workspace in which this connection holds a seat. */
  seat: string | null = null
  joins = 0
  memberAt = -1

  /** Frames that wait for asynchronous work on earlier frames. [WS-11] */
  queue: Uint8Array[] | null = null
  queuedBytes = 0
  busy = false
  paused = 0

  heardMs: number
  pingedMs: number
  windowFrames = 0
  violations: number[] | null = null
  joinBucket: OwnBucket | null = null
  viewBucket: OwnBucket | null = null
  /**
   * The earliest and the latest time of a resync. `drops`: updates are dropped until then, and the resync brings them back.
   * `paid`: the token for the resync was taken. [WS-29]
   */
  resync: { readonly dueMs: number; readonly latestMs: number; readonly drops: boolean; readonly paid: boolean } | null = null

  /** Bytes to write at the end of this turn. */
  out: Uint8Array | Uint8Array[] | null = null
  ackDue = 0
  /** True while the connection waits for the end of the turn. */
  marked = false
  held: HeldUpdates | null = null
  /** Bytes of the largest answer that waits for the socket. They raise the limit of waiting bytes. [WS-55] */
  exemptBytes = 0
  /** Number of the newest turn of a room that contains an update of this connection. `Fanout` counts the turns. */
  turn = 0

  constructor(given: Pick<Connection, 'id' | 'wire' | 'namedWorkspace' | 'address'>, nowMs: number, authTimeoutMs: number) {
    this.id = given.id
    this.wire = given.wire
    this.namedWorkspace = given.namedWorkspace
    this.address = given.address
    this.state = { kind: 'unauthenticated', deadlineMs: nowMs + authTimeoutMs, isRefused: false }
    this.heardMs = nowMs
    this.pingedMs = nowMs
  }
}

/** Closes a connection. When `retryAfterMs` is absent, codes 1012 and 1013 get a random retry-after. [WS-57] */
export type CloseConnection = (connection: Connection, code: CloseCode, word: CloseWord, retryAfterMs?: number) => void

export function identityOf(connection: Connection): Identity | null {
  const { state } = connection
  return state.kind === 'authenticated' || state.kind === 'joined' ? state.identity : null
}

export function bindingOf(connection: Connection): Binding | null {
  return connection.state.kind === 'joined' ? connection.state.binding : null
}

/** Returns the rights that the room needs of a joined connection. */
export function memberRights(binding: Pick<Binding, 'level'>, { access }: Pick<Identity, 'access'>): MemberRights {
  return { canWrite: canWrite(binding.level), maxDocBytes: access.limits.maxDocBytes }
}

/** Returns whether a level allows writes. */
export function canWrite(level: Level): boolean {
  return level === 'edit' || level === 'owner'
}
