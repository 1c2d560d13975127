import { type Clock, systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { systemTimers, type Timers } from '../kernel/timers.ts'
import { fetchChunks as fetchChunksOf } from './operator-fetch.ts'
import { readPolledRevocation, readTimestamp } from './revocation-entry.ts'
import { readPollAnswer } from './revocation-stream.ts'
import type { Revocation } from './revocations.port.ts'
import type { Revocations } from './revocations.ts'

export interface RevocationPollOptions {
  readonly url: string
  readonly bearer: string
  readonly intervalMs: number
  readonly revocations: Pick<Revocations, 'add' | 'cursor'>
  readonly log: Logger
  readonly clock?: Clock
  readonly timers?: Timers
  /**
   * Decides whether this node polls, when several nodes have the same control plane. If it does not, this node asks again
   * after `leftMs` at the latest. Absent: this node always polls. [AUTH-14]
   */
  readonly turn?: () => Promise<{ readonly isMine: boolean; readonly leftMs: number }>
  /** Called with the number of entries of a poll whose jti no token can have. */
  readonly onUnreadable?: (count: number) => void
  /**
   * Must end by itself, and at once when `signal` is aborted. The default follows V3: 10 s to the first byte, 128 MiB,
   * address rules of K12.
   */
  readonly fetchChunks?: (
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => AsyncIterable<Uint8Array>
}

const FIRST_LOOK_BACK_MS = 24 * 60 * 60_000
const TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 128 * 1024 * 1024
const BATCH = 10_000
const MAX_CURSOR_CHARS = 1024
/** Shortest wait before a node asks again whether it is its turn to poll. */
const SOONEST_MS = 1_000

/** How much longer than the interval a node keeps the turn: the time of one poll, and 5 s more. */
export const TURN_SLACK_MS = TIMEOUT_MS + 5_000

/**
 * Polls the control plane for revocations, at once and then every interval. [AUTH-14, V3]
 *
 * Entries take effect in batches as they arrive. The cursor is stored with the last batch, in one transaction, and only
 * when the whole answer was read and `next_since` is not before the cursor. So a failed poll may have revoked some
 * tokens but never skips any: the next interval asks from the same cursor again.
 *
 * An entry whose jti no token can have is logged and counted, and such a poll does not renew the age of the set, so
 * that an operator notices. [AUTH-15]
 */
export function startRevocationPoll(options: RevocationPollOptions): AsyncDisposable {
  const { log } = options
  const timers = options.timers ?? systemTimers
  const closing = new AbortController()
  let cancel: () => void = () => {}
  let running: Promise<void> = Promise.resolve()

  const poll = async (): Promise<void> => {
    let nextMs = options.intervalMs
    try {
      const turn = await options.turn?.()
      if (turn?.isMine === false) nextMs = Math.min(nextMs, Math.max(SOONEST_MS, turn.leftMs))
      else await pollOnce(options, closing.signal)
    } catch (error) {
      if (closing.signal.aborted) return
      const problem = error instanceof Error ? error.message : 'poll failed'
      log.warn('auth.revocations.poll-failed', 'The revocation poll failed; it is repeated at the next interval.', { problem })
    }
    if (!closing.signal.aborted) cancel = timers.after(nextMs, start)
  }
  const start = (): void => {
    running = poll()
  }
  start()

  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      cancel()
      await running
    },
  }
}

async function pollOnce(options: RevocationPollOptions, signal: AbortSignal): Promise<void> {
  const { revocations, log, bearer } = options
  const clock = options.clock ?? systemClock
  const fetchChunks =
    options.fetchChunks ??
    ((url, headers) => fetchChunksOf(url, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES, headers, signal }))
  const since = (await revocations.cursor()) ?? new Date(clock.nowMs() - FIRST_LOOK_BACK_MS).toISOString()
  const url = new URL(options.url)
  url.searchParams.set('since', since)

  let batch: Revocation[] = []
  let unreadable = 0
  let count = 0
  let nextSince: unknown
  for await (const part of readPollAnswer(fetchChunks(url.href, { authorization: `Bearer ${bearer}` }, signal))) {
    if (part.kind === 'next-since') nextSince = part.value
    else {
      const entry = readPolledRevocation(part.value, clock.nowMs())
      if (entry) batch.push(entry)
      if (entry) count++
      else unreadable++
    }
    if (batch.length < BATCH) continue
    await revocations.add(batch, { partial: true })
    batch = []
  }

  if (unreadable > 0) {
    options.onUnreadable?.(unreadable)
    log.error('auth.revocations.unreadable', 'Some polled revocations have no jti that a token can have; they revoke nothing.', {
      count: unreadable,
    })
  }
  const cursor = isCursorFrom(nextSince, since) ? nextSince : null
  await revocations.add(batch, cursor === null ? { partial: true } : { cursor, partial: unreadable > 0 })
  if (count > 0) log.info('auth.revocations.polled', 'Revocations were received.', { audit: true, count })
  if (cursor === null) throw new Error('next_since is missing, empty, too long, or before the cursor')
}

/**
 * Whether `nextSince` may replace the cursor `since`: text that is not an earlier time. The cursor is stored as the control plane wrote it,
 * since a date may be finer than milliseconds, and another text may be a cursor of another kind.
 */
function isCursorFrom(nextSince: unknown, since: string): nextSince is string {
  if (typeof nextSince !== 'string' || nextSince === '' || nextSince.length > MAX_CURSOR_CHARS) return false
  const next = readTimestamp(nextSince)
  const last = readTimestamp(since)
  return next === null || last === null || next >= last
}
