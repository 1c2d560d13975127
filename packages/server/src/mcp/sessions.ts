import type { Clock } from '../kernel/clock.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { ResourceWatch } from './content.ts'
import type { RpcAnswer, RpcId } from './json-rpc.ts'

export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What one legacy client told once and need not repeat. [MCP-31] */
export interface Session {
  readonly id: string
  /** The key of the caller it belongs to. */
  readonly owner: string
  readonly version: string
  readonly clientName: string | null
  logLevel: LogLevel
  readonly subscriptions: Set<string>
  /** Its GET stream; messages go to this one only. [MCP-37] */
  stream: { readonly watch: ResourceWatch; close(): void } | null
  /** Requests that `notifications/cancelled` can still reach. [MCP-15] */
  readonly running: Map<RpcId, AbortController>
  /** Requests of ours that wait for the client's answer. */
  readonly asked: Map<unknown, (answer: RpcAnswer) => void>
}

export type FoundSession =
  | { readonly kind: 'live'; readonly session: Session }
  | { readonly kind: 'closed' }
  /** No id, an unknown one, or one of somebody else. [MCP-32] */
  | { readonly kind: 'none' }

/** In memory only: a client whose session is forgotten goes on without one. */
export interface Sessions {
  open(owner: string, facts: { readonly version: string; readonly clientName: string | null }): Session
  /** Counts as use. */
  find(id: string | undefined, owner: string): FoundSession
  /** Ends it, its stream included; nothing happens when it is not a live one of this owner. [MCP-33] */
  close(id: string | undefined, owner: string): void
  readonly size: number
}

export interface SessionLimits {
  readonly sessions: number
  readonly closedIds: number
}

const LIMITS: SessionLimits = { sessions: 10_000, closedIds: 1_000_000 }
const IDLE_MS = 24 * 3_600_000
const CLOSED_MS = 3_600_000
/** 190 bits. [MCP-31] */
const ID_LENGTH = 32

export function createSessions(clock: Clock, random: Random, limits = LIMITS): Sessions {
  /** The least recently used comes first. */
  const live = new Map<string, { readonly session: Session; usedAtMs: number }>()
  /** Id and when it was closed, the earliest first. [MCP-34] */
  const closed = new Map<string, number>()

  const forget = (id: string): void => {
    live.get(id)?.session.stream?.close()
    live.delete(id)
  }

  /** A session with an open stream is in use. */
  const forgetIdle = (nowMs: number): void => {
    for (const [id, { session, usedAtMs }] of live) {
      if (live.size <= limits.sessions && (nowMs - usedAtMs < IDLE_MS || session.stream !== null)) return
      forget(id)
    }
  }

  const touched = (id: string, owner: string): Session | null => {
    const entry = live.get(id)
    if (entry === undefined || entry.session.owner !== owner) return null
    const nowMs = clock.monotonicMs()
    if (nowMs - entry.usedAtMs >= IDLE_MS && entry.session.stream === null) {
      forget(id)
      return null
    }
    live.delete(id)
    live.set(id, { session: entry.session, usedAtMs: nowMs })
    return entry.session
  }

  return {
    open(owner, { version, clientName }) {
      const session: Session = {
        id: newId('', ID_LENGTH, random),
        owner,
        version,
        clientName,
        logLevel: 'info',
        subscriptions: new Set(),
        stream: null,
        running: new Map(),
        asked: new Map(),
      }
      const nowMs = clock.monotonicMs()
      live.set(session.id, { session, usedAtMs: nowMs })
      forgetIdle(nowMs)
      return session
    },
    find(id, owner) {
      if (id === undefined) return { kind: 'none' }
      if (closed.has(id)) return { kind: 'closed' }
      const session = touched(id, owner)
      return session ? { kind: 'live', session } : { kind: 'none' }
    },
    close(id, owner) {
      if (id === undefined || touched(id, owner) === null) return
      forget(id)
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

/** Plain 404: the client has to begin anew. [MCP-34] */
export class SessionClosed extends RelayError {
  constructor() {
    super('NOT_FOUND', 'The session is closed.', { resource: 'session' })
  }
}
