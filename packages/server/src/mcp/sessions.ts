import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { ResourceWatch } from './content.ts'
import type { RpcAnswer, RpcId } from './json-rpc.ts'
import { createSessionTable, isIdle, type LiveSession } from './session-table.ts'

export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Facts that one legacy client sends once and need not repeat. [MCP-31] */
export interface Session {
  readonly id: string
  /** Key of the caller to whom the session belongs. */
  readonly owner: string
  readonly holder: SessionHolder
  readonly version: string
  readonly clientName: string | null
  logLevel: LogLevel
  readonly subscriptions: Set<string>
  /** The GET stream of the session; messages are sent to this stream only. [MCP-37] */
  stream: { readonly watch: ResourceWatch; close(): void } | null
  /** Requests that `notifications/cancelled` can still reach. [MCP-15] */
  readonly running: Map<RpcId, AbortController>
  /** Requests of the relay that wait for the client's answer. */
  readonly asked: Map<unknown, (answer: RpcAnswer) => void>
}

/** The principal and workspace whose limits a session counts in. */
export interface SessionHolder {
  readonly workspaceId: string
  readonly principalKey: string
}

export type FoundSession =
  | { readonly kind: 'live'; readonly session: Session }
  | { readonly kind: 'closed' }
  /** No session id, an unknown one, or one of another caller. [MCP-32] */
  | { readonly kind: 'none' }

/** The caller of `initialize`. */
export interface SessionOwner extends SessionHolder {
  readonly key: string
}

/** Sessions in memory. A client whose session was removed continues without one. */
export interface Sessions {
  /**
   * Opens a session. Above the limits it removes idle sessions: first those of this principal, then those of the principal with the most.
   * [MCP-34]
   */
  open(owner: SessionOwner, facts: { readonly version: string; readonly clientName: string | null }): Session
  /** Finds a session, which counts as use. */
  find(id: string | undefined, owner: string): FoundSession
  /** Ends the session and its stream; does nothing unless it is a live session of this owner. [MCP-33] */
  close(id: string | undefined, owner: string): void
  readonly size: number
}

export interface SessionLimits {
  readonly sessions: number
  readonly perPrincipal: number
  readonly closedIds: number
}

const LIMITS: SessionLimits = { sessions: 10_000, perPrincipal: 1_000, closedIds: 1_000_000 }
const IDLE_MS = 24 * 3_600_000
const CLOSED_MS = 3_600_000
/** 32 characters are 190 random bits. [MCP-31] */
const ID_LENGTH = 32

export function createSessions(clock: Clock, random: Random, limits = LIMITS): Sessions {
  const live = createSessionTable()
  /** Ids of closed sessions with the time, the earliest first. [MCP-34] */
  const closed = new Map<string, number>()

  const forget = ({ session }: LiveSession): void => {
    session.stream?.close()
    live.remove(session.id)
  }

  /** A session with an open stream is in use and is never forgotten: a principal has few streams. [MCP-38] */
  const makeRoom = (owner: SessionOwner, nowMs: number): void => {
    for (const entry of live.oldestFirst()) {
      if (nowMs - entry.usedAtMs < IDLE_MS) break
      if (isIdle(entry)) forget(entry)
    }
    for (const entry of live.overPrincipal(owner, limits.perPrincipal - 1)) forget(entry)
    while (live.size >= limits.sessions) {
      const entry = live.idleOfLargest()
      if (entry === null) return
      forget(entry)
    }
  }

  const touched = (id: string, owner: string): Session | null => {
    const entry = live.get(id)
    if (entry === undefined || entry.session.owner !== owner) return null
    const nowMs = clock.monotonicMs()
    if (nowMs - entry.usedAtMs >= IDLE_MS && isIdle(entry)) {
      forget(entry)
      return null
    }
    live.use(entry.session, nowMs)
    return entry.session
  }

  return {
    open(owner, { version, clientName }) {
      const session: Session = {
        id: newId('', ID_LENGTH, random),
        owner: owner.key,
        holder: owner,
        version,
        clientName,
        logLevel: 'info',
        subscriptions: new Set(),
        stream: null,
        running: new Map(),
        asked: new Map(),
      }
      const nowMs = clock.monotonicMs()
      makeRoom(owner, nowMs)
      live.use(session, nowMs)
      return session
    },
    find(id, owner) {
      if (id === undefined) return { kind: 'none' }
      if (closed.has(id)) return { kind: 'closed' }
      const session = touched(id, owner)
      return session ? { kind: 'live', session } : { kind: 'none' }
    },
    close(id, owner) {
      const entry = id === undefined || touched(id, owner) === null ? undefined : live.get(id)
      if (id === undefined || entry === undefined) return
      forget(entry)
      const nowMs = clock.monotonicMs()
      closed.set(id, nowMs)
      for (const [old, atMs] of closed) {
        if (closed.size <= limits.closedIds && nowMs - atMs < CLOSED_MS) break
        closed.delete(old)
      }
    },
    get size() {
      return live.size
    },
  }
}

/** Answers a plain 404: the client has to initialise again. [MCP-34] */
export class SessionClosed extends RelayError {
  constructor() {
    super('NOT_FOUND', 'The session is closed.', { resource: 'session' })
  }
}
