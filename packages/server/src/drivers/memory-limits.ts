import type { Bucket, RateLimiter } from '../access/rate-limiter.port.ts'
import type { SeatLimits, SeatOutcome, Seats } from '../access/seats.port.ts'
import type { Clock } from '../kernel/clock.ts'

interface Level {
  tokens: number
  atMs: number
  /** When the bucket is full again and may be forgotten. */
  fullAtMs: number
}

const SWEEP_AT_LEAST = 1_024

export interface MemoryRateLimiter extends RateLimiter {
  /** Number of buckets that are not full or not yet known to be full. */
  remembered(): number
}

/**
 * Token buckets of one process, on the monotonic clock. A full bucket equals a new one, so full buckets are forgotten
 * when there are many keys. `delayMs` answers for how long requests could not be handled: a bucket may then hold what it would have given
 * meanwhile, since those requests come all at once. [LIM-2]
 */
export function memoryRateLimiter(clock: Clock, delayMs: () => number = () => 0): MemoryRateLimiter {
  const levels = new Map<string, Level>()
  let sweepAtSize = SWEEP_AT_LEAST

  const sweep = (nowMs: number): void => {
    for (const [key, level] of levels) if (level.fullAtMs <= nowMs) levels.delete(key)
    sweepAtSize = Math.max(SWEEP_AT_LEAST, levels.size * 2)
  }

  return {
    remembered: () => levels.size,
    take(key: string, { ratePerSec, burst }: Bucket, asked = 1) {
      if (ratePerSec === null) return { taken: true }
      const nowMs = clock.monotonicMs()
      const before = levels.get(key)
      const most = burst + (delayMs() / 1000) * ratePerSec
      const refilled = before ? before.tokens + ((nowMs - before.atMs) / 1000) * ratePerSec : most
      const tokens = Math.min(most, refilled)
      const taken = tokens >= asked
      const left = taken ? tokens - asked : tokens
      levels.set(key, { tokens: left, atMs: nowMs, fullAtMs: nowMs + ((burst - left) / ratePerSec) * 1000 })
      if (levels.size > sweepAtSize) sweep(nowMs)
      return taken ? { taken } : { taken, retryAfterMs: Math.max(1, Math.ceil(((asked - tokens) / ratePerSec) * 1000)) }
    },
  }
}

/** Seats of one process. Each verb decides and counts in one synchronous step. */
export function memorySeats(): Seats {
  /** By workspace, then connection; the value says whether the connection holds an editor seat. */
  const workspaces = new Map<string, Map<string, boolean>>()
  const editorsOf = (seats: ReadonlyMap<string, boolean> | undefined): number =>
    seats ? [...seats.values()].filter((editor) => editor).length : 0

  const place = (
    { workspaceId, connectionId, editor }: { workspaceId: string; connectionId: string; editor: boolean },
    limits: SeatLimits,
  ): SeatOutcome => {
    const seats = workspaces.get(workspaceId) ?? new Map<string, boolean>()
    const held = seats.get(connectionId)
    if (held === undefined && limits.connections !== null && seats.size >= limits.connections) return 'connection-limit'
    if (editor && held !== true && limits.editors !== null && editorsOf(seats) >= limits.editors) return 'editor-limit'
    seats.set(connectionId, editor)
    workspaces.set(workspaceId, seats)
    return 'taken'
  }

  return {
    take: async (seat, limits) => place(seat, limits),
    change: async (seat, limits) => place(seat, limits),
    async release(workspaceId, connectionId) {
      const seats = workspaces.get(workspaceId)
      seats?.delete(connectionId)
      if (seats?.size === 0) workspaces.delete(workspaceId)
    },
    editors: async (workspaceId) => editorsOf(workspaces.get(workspaceId)),
  }
}
