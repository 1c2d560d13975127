import { isIdle, type LiveSession, type SessionTable } from './session-table.ts'
import type { SessionHolder } from './sessions.ts'

export interface SessionLimits {
  readonly sessions: number
  readonly perPrincipal: number
  readonly closedIds: number
}

export const SESSION_LIMITS: SessionLimits = { sessions: 10_000, perPrincipal: 1_000, closedIds: 1_000_000 }
export const IDLE_MS = 24 * 3_600_000
const CLOSED_MS = 3_600_000

/**
 * Makes room for one more session of a principal. Forgets sessions idle for 24 h, then the oldest idle sessions of this principal, then those
 * of the principal with the most. A session with an open stream is never forgotten; the streams of a principal are limited instead. [MCP-34,
 * MCP-38]
 */
export function makeRoom(
  live: SessionTable,
  owner: SessionHolder,
  {
    limits,
    nowMs,
    forget,
  }: { readonly limits: SessionLimits; readonly nowMs: number; readonly forget: (entry: LiveSession) => void },
): void {
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

/** Ids of closed sessions, each with the time of its end, ordered by that time. [MCP-34] */
export class ClosedIds {
  readonly #ids = new Map<string, number>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string, nowMs: number): void {
    this.#ids.set(id, nowMs)
    for (const [old, atMs] of this.#ids) {
      if (this.#ids.size <= this.#most && nowMs - atMs < CLOSED_MS) break
      this.#ids.delete(old)
    }
  }
}
