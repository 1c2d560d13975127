import type { CloseCode, CloseWord } from '@docrelay/protocol/codes'
import type { WireErrorCode } from '@docrelay/protocol/codes'
import type { Access, Level } from '../../access/access.ts'
import type { AckTracker } from './ack-tracker.ts'
import type { ChunkBox } from './chunks.ts'
import type { HeldUpdates } from './held-updates.ts'
import type { Room } from './room-table.ts'

/** The socket under a connection: `raw` takes ready-made frames, the rest is the WebSocket library's. */
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

/** Who a connection speaks for since its last good token. */
export interface Identity {
  readonly access: Access
  readonly jti: string
  /** ms since 1970. */
  readonly expMs: number
  /** Feature `ack` was granted. [WS-38] */
  readonly ack: boolean
}

/** The document a connection is joined to. */
export interface Binding {
  readonly room: Room
  /** Counts the joins of the connection. */
  readonly join: number
  level: Level
  readonly acks: AckTracker
  /** The first step1 after a JOIN is free. [WS-28] */
  stepOneFree: boolean
  /** A step1 that is not answered yet; handed over again when the worker ends. [C6] */
  stepOne: Uint8Array | null
  /** The token of the step2 that answers a resync was taken already. [WS-29] */
  stepTwoPaid: boolean
  /** The first edit that the caller had no right to is in the audit log; the rest would only repeat it. [OPS-7] */
  editRefused: boolean
  chunks: ChunkBox | null
  /** The newest AWARENESS update; shown again when the worker ends. [C6] */
  presence: Uint8Array | null
}

/** A binding that was ended from outside; later writes get the same code again. [WS-54] */
export interface EndedBinding {
  readonly room: Room
  readonly code: Extract<WireErrorCode, 'ERR_DELETED' | 'ERR_VIEW_FORBIDDEN'>
  received: number
  /** The DOC_EVENT deleted is still due, whoever may read. [WS-51] */
  eventDue: boolean
  /** Ids of chunked messages that were refused. */
  readonly refusedChunks: string[]
}

export type SessionState =
  | { readonly kind: 'unauthenticated'; readonly deadlineMs: number }
  | { readonly kind: 'authenticated'; readonly identity: Identity; readonly ended: EndedBinding | null }
  | { readonly kind: 'joined'; readonly identity: Identity; readonly binding: Binding }
  | { readonly kind: 'closed' }

/** Why reading from a socket is paused; bits, so that every reason must pass. [WS-12, W4] */
export const PAUSE = { queue: 1, rate: 2, unsettled: 4 } as const

/** A bucket that belongs to one connection alone. */
export interface OwnBucket {
  tokens: number
  atMs: number
}

/**
 * One socket. Everything a connection may need rarely is `null` until then: a thousand idle connections should cost little more than their sockets.
 * Times are monotonic ms.
 */
export class Connection {
  readonly id: number
  readonly wire: Wire
  /** The query member `workspace`. */
  readonly namedWorkspace: string | undefined
  state: SessionState
  /** Workspace whose seat this connection holds. */
  seat: string | null = null
  joins = 0
  memberAt = -1

  /** Frames waiting behind asynchronous work. [WS-11] */
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
  /** When a resync may be sent and when it must be. */
  resync: { readonly dueMs: number; readonly latestMs: number } | null = null
  resyncedMs = Number.NEGATIVE_INFINITY

  /** Wire bytes of this turn. */
  out: Uint8Array | Uint8Array[] | null = null
  ackDue = 0
  /** Waits for the end of the turn. */
  marked = false
  held: HeldUpdates | null = null
  /** Bytes of one large answer that may exceed the bound alone. [WS-55] */
  exemptBytes = 0
  /** Marks the senders of the turn that is being written. */
  turn = 0

  constructor(id: number, wire: Wire, namedWorkspace: string | undefined, nowMs: number, authTimeoutMs: number) {
    this.id = id
    this.wire = wire
    this.namedWorkspace = namedWorkspace
    this.state = { kind: 'unauthenticated', deadlineMs: nowMs + authTimeoutMs }
    this.heardMs = nowMs
    this.pingedMs = nowMs
  }
}

/** Ends a connection; a code of 1012 or 1013 gets its retry-after where it is sent. [WS-57] */
export type CloseConnection = (connection: Connection, code: CloseCode, word: CloseWord) => void

export function identityOf(connection: Connection): Identity | null {
  const { state } = connection
  return state.kind === 'authenticated' || state.kind === 'joined' ? state.identity : null
}

export function bindingOf(connection: Connection): Binding | null {
  return connection.state.kind === 'joined' ? connection.state.binding : null
}

/** Editors of a workspace hold an editor seat and may write where their level lets them. */
export function canWrite(level: Level): boolean {
  return level === 'edit' || level === 'owner'
}
