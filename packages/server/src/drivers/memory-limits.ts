import { type Bucket, PERSON_WRITES_MS, type RateLimiter, type Taker, type Taking } from '../access/rate-limiter.port.ts'
import { type SeatLimits, type SeatOutcome, type Seats, seatOutcome } from '../access/seats.port.ts'
import type { Clock } from '../kernel/clock.ts'

interface Level {
  /** Tokens that any taker may have. */
  tokens: number
  /** Tokens that are kept for agents while people write. [AG-86] */
  kept: number
  atMs: number
  /** The time when the bucket is full again and may be forgotten. */
  fullAtMs: number
  /** The time when a person last took a token, and when an agent last found too few tokens; `null`: never. */
  personAtMs: number | null
  agentAtMs: number | null
}

/**
 * `AGENT_PART`: the part of the refill that agents get while people write. `KEPT_LEAST`: of that part up to this many tokens or more are kept, so
 * that a call of several tokens can pass. [AG-86]
 */
const AGENT_PART = 1 / 8
const KEPT_LEAST = 5

const SWEEP_AT_LEAST = 1_024

/** A rate limiter whose methods all answer synchronously. */
export interface MemoryRateLimiter extends RateLimiter {
  take(key: string, bucket: Bucket, tokens?: number, taker?: Taker): Taking
  left(key: string, bucket: Bucket): number
  /** Number of buckets in memory: those that are not full, or not known to be full. */
  remembered(): number
}

/**
 * Token buckets of one process, on the monotonic clock. A full bucket equals a new one, so full buckets are forgotten when there are many keys.
 * `delayMs` returns for how long this process could not handle requests. A bucket may then hold the tokens of that time in addition to its burst,
 * since the delayed requests arrive all at once. [LIM-2] With `emptySinceMs`, a monotonic time, a new bucket counts as empty at that time.
 */
export function memoryRateLimiter(
  clock: Clock,
  delayMs: () => number = () => 0,
  emptySinceMs = Number.NEGATIVE_INFINITY,
): MemoryRateLimiter {
  const levels = new Map<string, Level>()
  let sweepAtSize = SWEEP_AT_LEAST

  /** Returns the current level of a bucket. */
  const levelOf = (key: string, { ratePerSec, most }: Refill, nowMs: number): Level => {
    const before = levels.get(key)
    if (before !== undefined) return refilled(before, { ratePerSec, most }, nowMs)
    const tokens = Math.min(most, ((nowMs - emptySinceMs) / 1000) * ratePerSec)
    return { tokens, kept: 0, atMs: nowMs, fullAtMs: nowMs, personAtMs: null, agentAtMs: null }
  }

  const sweep = (nowMs: number): void => {
    for (const [key, level] of levels) if (level.fullAtMs <= nowMs) levels.delete(key)
    sweepAtSize = Math.max(SWEEP_AT_LEAST, levels.size * 2)
  }

  return {
    remembered: () => levels.size,
    left(key: string, { ratePerSec, burst }: Bucket) {
      if (ratePerSec === null) return burst
      return Math.max(0, Math.min(burst, levelOf(key, { ratePerSec, most: burst }, clock.monotonicMs()).tokens))
    },
    take(key: string, { ratePerSec, burst }: Bucket, asked = 1, taker?: Taker) {
      if (ratePerSec === null) return { taken: true }
      const nowMs = clock.monotonicMs()
      const most = burst + (delayMs() / 1000) * ratePerSec
      const level = levelOf(key, { ratePerSec, most }, nowMs)
      const isPersonWriting = isRecent(level.personAtMs, nowMs)
      const leaves = taker?.kind === 'agent' && isPersonWriting ? Math.floor((burst * taker.leaves) / 100) : 0
      const fromAll = level.tokens - asked >= leaves
      const fromKept = !fromAll && taker?.kind === 'agent' && level.kept >= asked
      if (fromAll) level.tokens -= asked
      if (fromKept) level.kept -= asked
      if (taker?.kind === 'person' && fromAll) level.personAtMs = nowMs
      if (taker?.kind === 'agent' && !fromAll && leaves > 0) level.agentAtMs = nowMs
      const { tokens, kept } = level
      const idleAtMs = Math.max(level.personAtMs ?? -Infinity, level.agentAtMs ?? -Infinity) + PERSON_WRITES_MS
      level.fullAtMs = Math.max(nowMs + ((burst - tokens - kept) / ratePerSec) * 1000, idleAtMs)
      levels.set(key, level)
      if (levels.size > sweepAtSize) sweep(nowMs)
      if (fromAll || fromKept) return { taken: true }
      const isShared = isSharing(level, nowMs)
      const waits = [waitMs(asked + leaves - tokens, level.kept, isShared, ratePerSec)]
      if (taker?.kind === 'agent' && isShared) waits.push(((asked - kept) / agentRate(ratePerSec)) * 1000)
      return { taken: false, retryAfterMs: Math.max(1, Math.ceil(Math.min(...waits))) }
    },
  }
}

function isRecent(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && nowMs - atMs < PERSON_WRITES_MS
}

/** Whether a part of the refill is kept for agents: a person has written recently, and an agent has found too few tokens recently. */
function isSharing({ personAtMs, agentAtMs }: Level, nowMs: number): boolean {
  return isRecent(personAtMs, nowMs) && isRecent(agentAtMs, nowMs)
}

function agentRate(ratePerSec: number): number {
  return Math.min(ratePerSec, Math.max(1, ratePerSec * AGENT_PART))
}

function keptMost(ratePerSec: number): number {
  return Math.max(KEPT_LEAST, agentRate(ratePerSec))
}

interface Refill {
  readonly ratePerSec: number
  /** The number of tokens in a full bucket. */
  readonly most: number
}

/** Returns the level of a bucket at `nowMs`. Tokens kept for agents become available to all when the bucket is no longer shared. */
function refilled(before: Level, { ratePerSec, most }: Refill, nowMs: number): Level {
  const seconds = (nowMs - before.atMs) / 1000
  const gain = seconds * ratePerSec
  const isShared = isSharing(before, nowMs)
  const kept = isShared ? Math.min(keptMost(ratePerSec), before.kept + seconds * agentRate(ratePerSec)) : 0
  const tokens = Math.min(most, before.tokens + gain + before.kept - kept)
  return { ...before, tokens, kept, atMs: nowMs }
}

/** Returns the ms until the bucket has `missing` more tokens for all takers. */
function waitMs(missing: number, kept: number, isShared: boolean, ratePerSec: number): number {
  if (!isShared) return (missing / ratePerSec) * 1000
  const untilKept = ((keptMost(ratePerSec) - kept) / agentRate(ratePerSec)) * 1000
  const slow = ratePerSec - agentRate(ratePerSec)
  const gained = (slow * untilKept) / 1000
  return gained >= missing ? (missing / slow) * 1000 : untilKept + ((missing - gained) / ratePerSec) * 1000
}

/** Seats of one process. Each method decides and counts in one synchronous step. */
export function memorySeats(): Seats {
  /** By workspace and then by connection; true when the connection has an editor seat. */
  const workspaces = new Map<string, Map<string, boolean>>()
  const editorsOf = (seats: ReadonlyMap<string, boolean> | undefined): number =>
    seats ? [...seats.values()].filter((editor) => editor).length : 0

  const place = (
    { workspaceId, connectionId, editor }: { workspaceId: string; connectionId: string; editor: boolean },
    limits: SeatLimits,
  ): SeatOutcome => {
    const seats = workspaces.get(workspaceId) ?? new Map<string, boolean>()
    const isEditor = seats.get(connectionId)
    const held = isEditor === undefined ? null : isEditor ? 'editor' : 'viewer'
    const outcome = seatOutcome({ held, connections: seats.size, editors: editorsOf(seats) }, editor, limits)
    if (outcome !== 'taken') return outcome
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
    connections: async (workspaceId) => workspaces.get(workspaceId)?.size ?? 0,
    editors: async (workspaceId) => editorsOf(workspaces.get(workspaceId)),
  }
}
