import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { ResourceWatch } from './content.ts'
import type { RpcAnswer, RpcId } from './json-rpc.ts'
import type { Subscribing } from './session-facts.port.ts'
import { ClosedIds, IDLE_MS, makeRoom, SESSION_LIMITS } from './session-room.ts'
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
  /** Running requests that `notifications/cancelled` can still cancel. [MCP-15] */
  readonly running: Map<RpcId, AbortController>
  /** Requests from the relay to the client that wait for its answer. */
  readonly asked: Map<unknown, (answer: RpcAnswer) => void>
  /** The state of the session that all nodes share; `null` on a single node. */
  readonly shared: SharedSession | null
}

/** A session that any node can serve. Changes are lost while the bus does not answer. [MCP-31, LIFE-27] */
export interface SharedSession {
  setLogLevel(level: LogLevel): Promise<void>
  /** Resolves to `null` when the subscription cannot be stored now. */
  subscribe(uri: string, most: number): Promise<Subscribing | null>
  unsubscribe(uri: string): Promise<void>
  /** Cancels a request that another node may run. [MCP-15] */
  cancelElsewhere(requestId: string | number): void
  /** Announces the stream that was opened here, which ends the session's stream on any other node. [MCP-37] */
  takeOver(): void
}

/** The facts of a session that `initialize` decides. */
export interface SessionStart {
  readonly version: string
  readonly clientName: string | null
}

/** The principal and workspace for whose limits a session counts. */
export interface SessionHolder {
  readonly workspaceId: string
  readonly principalKey: string
}

export type FoundSession =
  | { readonly kind: 'live'; readonly session: Session }
  | { readonly kind: 'closed' }
  /** The request has no session id, an unknown one, or one of another caller. [MCP-32] */
  | { readonly kind: 'none' }

/** The caller to whom a session belongs. */
export interface SessionOwner extends SessionHolder {
  readonly key: string
}

/** Sessions, in the memory of one node or shared by several nodes. A client whose session was forgotten continues without one. */
export interface Sessions {
  /**
   * Opens a session. Above the limits it removes idle sessions: first those of this principal, then those of the principal with the most.
   * [MCP-34]
   */
  open(owner: SessionOwner, facts: SessionStart): Session
  /** Finds a session and marks it as just used. */
  find(id: string | undefined, owner: SessionOwner): FoundSession | Promise<FoundSession>
  /** Ends the session and its stream; does nothing unless it is a live session of this owner. [MCP-33] */
  close(id: string | undefined, owner: SessionOwner): void | Promise<void>
  /** Number of sessions in the memory of this node. */
  readonly size: number
}

/** Sessions of a single node; finding one needs no waiting. */
export interface LocalSessions extends Sessions {
  find(id: string | undefined, owner: SessionOwner): FoundSession
  close(id: string | undefined, owner: SessionOwner): void
}

/** 32 characters are 190 random bits. [MCP-31] */
const ID_LENGTH = 32

export function createSessions(clock: Clock, random: Random, limits = SESSION_LIMITS): LocalSessions {
  const live = createSessionTable()
  const closed = new ClosedIds(limits.closedIds)

  const forget = ({ session }: LiveSession): void => {
    session.stream?.close()
    live.remove(session.id)
  }

  const touched = (id: string, { key }: SessionOwner): Session | null => {
    const entry = live.get(id)
    if (entry === undefined || entry.session.owner !== key) return null
    const nowMs = clock.monotonicMs()
    if (nowMs - entry.usedAtMs >= IDLE_MS && isIdle(entry)) {
      forget(entry)
      return null
    }
    live.use(entry.session, nowMs)
    return entry.session
  }

  return {
    open(owner, facts) {
      const session = newSession(newId('', ID_LENGTH, random), owner, facts, null)
      const nowMs = clock.monotonicMs()
      makeRoom(live, owner, { limits, nowMs, forget })
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
      closed.add(id, clock.monotonicMs())
    },
    get size() {
      return live.size
    },
  }
}

export function newSession(
  id: string,
  owner: SessionOwner,
  { version, clientName }: SessionStart,
  shared: SharedSession | null,
): Session {
  return {
    id,
    owner: owner.key,
    holder: owner,
    version,
    clientName,
    logLevel: 'info',
    subscriptions: new Set(),
    stream: null,
    running: new Map(),
    asked: new Map(),
    shared,
  }
}

/** Answers a plain 404: the client has to initialise again. [MCP-34] */
export class SessionClosed extends RelayError {
  constructor() {
    super('NOT_FOUND', 'The session is closed.', { resource: 'session' })
  }
}
