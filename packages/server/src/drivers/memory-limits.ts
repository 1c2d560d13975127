import type { Bucket, RateLimiter } from '../access/rate-limiter.port.ts'
import type { SeatLimits, SeatOutcome, Seats } from '../access/seats.port.ts'
import type { Clock } from '../kernel/clock.ts'

interface Level {
  tokens: number
  atMs: number
  /** When the bucket will be full again, and so may be forgotten. */
  fullAtMs: number
}

const SWEEP_AT_LEAST = 1_024

export interface MemoryRateLimiter extends RateLimiter {
  /** Buckets that are not full, and those not yet found to be full again. */
  remembered(): number
}

/** Token buckets of one process, on the monotonic clock. A full bucket is as good as none: such ones are forgotten as keys pile up. */
export function memoryRateLimiter(clock: Clock): MemoryRateLimiter {
  const levels = new Map<string, Level>()
  let sweepAtSize = SWEEP_AT_LEAST

  const sweep = (nowMs: number): void => {
    for (const [key, level] of levels) if (level.fullAtMs <= nowMs) levels.delete(key)
    sweepAtSize = Math.max(SWEEP_AT_LEAST, levels.size * 2)
  }

  return {
    remembered: () => levels.size,
    take(key: string, { ratePerSec, burst }: Bucket) {
      if (ratePerSec === null) return { taken: true }
      const nowMs = clock.monotonicMs()
      const before = levels.get(key)
      const refilled = before ? before.tokens + ((nowMs - before.atMs) / 1000) * ratePerSec : burst
      const tokens = Math.min(burst, refilled)
      const taken = tokens >= 1
      const left = taken ? tokens - 1 : tokens
      levels.set(key, { tokens: left, atMs: nowMs, fullAtMs: nowMs + ((burst - left) / ratePerSec) * 1000 })
      if (levels.size > sweepAtSize) sweep(nowMs)
      return taken ? { taken } : { taken, retryAfterMs: Math.max(1, Math.ceil(((1 - tokens) / ratePerSec) * 1000)) }
    },
  }
}

/** Seats of one process. Each verb decides and counts in one step, before it first yields. */
export function memorySeats(): Seats {
  /** Workspace, then connection; the value tells whether it holds an editor seat. */
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
