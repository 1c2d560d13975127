import { type Clock, systemClock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { systemTimers, type Timers } from '../kernel/timers.ts'
import { type UsableKeys, usableKeys, type VerificationKey } from './jwk.ts'
import { fetchJson as fetchJsonOf } from './operator-fetch.ts'

/** `unavailable`: no key set has ever been fetched, or its grace period is over; then no key id is known. */
export type KeyLookup =
  | { readonly kind: 'known'; readonly key: VerificationKey }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unavailable' }

/**
 * `fresh` for 5 minutes after the last success, `grace` until 1 hour, then `expired`; `none` before the first success.
 */
export type KeySetState = 'none' | 'fresh' | 'grace' | 'expired'

export interface KeySet extends AsyncDisposable {
  /**
   * Looks a key up in memory. An unknown key id requests a refresh in the background; the empty key id never does.
   * [AUTH-11]
   */
  key(kid: string): KeyLookup
  /** Resolves when the first fetch has ended or `timeoutMs` have passed, whichever comes first; never rejects. [AUTH-12] */
  firstFetch(timeoutMs: number): Promise<void>
  state(): KeySetState
  /** Seconds since the last success, −1 when there was none. */
  ageSec(): number
  keyCount(): number
  /** Failed refreshes so far. */
  readonly failures: number
}

export interface KeySetOptions {
  readonly url: string
  /** Allows plain http to a private network. [AUTH-13] */
  readonly privateHttp?: boolean
  readonly log: Logger
  readonly clock?: Clock
  readonly timers?: Timers
  /** Must end by itself within 10 s, and at once when `signal` is aborted. The default follows K12. */
  readonly fetchJson?: (url: string, signal: AbortSignal) => Promise<unknown>
}

const FRESH_MS = 5 * 60_000
const GRACE_MS = 60 * 60_000
const REFRESH_AFTER_MS = 4 * 60_000
/** Least time between the starts of two fetches, whatever requests them. */
const MIN_SPACING_MS = 5_000
const FETCH_TIMEOUT_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024
/** After a refresh that lacks a key id, that key id requests no further refresh for this long. */
const UNKNOWN_KID_MS = 30_000
const MAX_UNKNOWN_KIDS = 1_000

/**
 * Keeps the issuer's public keys in memory and renews them in the background, from minute 4 on, and every 5 s while
 * that fails. [AUTH-9, K14]
 *
 * No caller ever waits for a fetch. A success replaces the set, so a key that the issuer dropped is refused at once.
 * Anything except a JSON answer with at least one usable key is a failure and keeps the last good set. The age is
 * monotonic time since the last success: after 1 hour every lookup is `unavailable`, also for known key ids. [AUTH-10,
 * K12, K15]
 */
export function openKeySet(options: KeySetOptions): KeySet {
  return new RefreshedKeySet(options)
}

class RefreshedKeySet implements KeySet {
  failures = 0
  readonly #url: string
  readonly #log: Logger
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #fetchJson: (url: string, signal: AbortSignal) => Promise<unknown>
  readonly #closing = new AbortController()
  #keys: ReadonlyMap<string, VerificationKey> = new Map()
  #succeededAtMs: number | null = null
  #startedAtMs = Number.NEGATIVE_INFINITY
  #running: Promise<void> | null = null
  /** An unknown key id came during a fetch. The answer may be older than the key, so another fetch must follow. */
  #askedMeanwhile = false
  #cancelTimer: () => void = () => {}
  #nextAtMs = Number.POSITIVE_INFINITY
  #skippedTold = ''
  readonly #unknownKids = new Map<string, number>()

  constructor(options: KeySetOptions) {
    this.#url = options.url
    this.#log = options.log
    this.#clock = options.clock ?? systemClock
    this.#timers = options.timers ?? systemTimers
    this.#fetchJson =
      options.fetchJson ??
      ((url, signal) =>
        fetchJsonOf(url, {
          timeoutMs: FETCH_TIMEOUT_MS,
          maxBytes: MAX_ANSWER_BYTES,
          signal,
          privateHttp: options.privateHttp === true,
        }))
  }

  key(kid: string): KeyLookup {
    const state = this.state()
    if (state === 'none' || state === 'expired') return { kind: 'unavailable' }
    const key = this.#keys.get(kid)
    if (key) return { kind: 'known', key }
    if (kid !== '') this.#missed(kid)
    return { kind: 'unknown' }
  }

  state(): KeySetState {
    if (this.#succeededAtMs === null) return 'none'
    const ageMs = this.#clock.monotonicMs() - this.#succeededAtMs
    if (ageMs < FRESH_MS) return 'fresh'
    return ageMs < GRACE_MS ? 'grace' : 'expired'
  }

  ageSec(): number {
    return this.#succeededAtMs === null ? -1 : (this.#clock.monotonicMs() - this.#succeededAtMs) / 1000
  }

  keyCount(): number {
    return this.#keys.size
  }

  async firstFetch(timeoutMs: number): Promise<void> {
    const fetched = this.#refresh()
    await new Promise<void>((resolve) => {
      const cancel = this.#timers.after(timeoutMs, resolve)
      void fetched.then(() => {
        cancel()
        resolve()
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#cancelTimer()
    await this.#running
  }

  #missed(kid: string): void {
    const nowMs = this.#clock.monotonicMs()
    const lookedForAtMs = this.#unknownKids.get(kid)
    if (lookedForAtMs !== undefined && nowMs - lookedForAtMs < UNKNOWN_KID_MS) return
    this.#unknownKids.delete(kid)
    if (this.#unknownKids.size >= MAX_UNKNOWN_KIDS) this.#forgetOldestUnknownKid()
    this.#unknownKids.set(kid, nowMs)
    if (this.#running) this.#askedMeanwhile = true
    else this.#schedule(this.#startedAtMs + MIN_SPACING_MS)
  }

  #forgetOldestUnknownKid(): void {
    for (const kid of this.#unknownKids.keys()) {
      this.#unknownKids.delete(kid)
      return
    }
  }

  /** Makes sure that a refresh starts at `atMs` or earlier. */
  #schedule(atMs: number): void {
    if (this.#closing.signal.aborted || this.#nextAtMs <= atMs) return
    this.#cancelTimer()
    this.#nextAtMs = atMs
    this.#cancelTimer = this.#timers.after(Math.max(0, atMs - this.#clock.monotonicMs()), () => void this.#refresh())
  }

  /** Runs one fetch at a time; never rejects. */
  #refresh(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve()
    this.#running ??= this.#fetchOnce()
    return this.#running
  }

  async #fetchOnce(): Promise<void> {
    this.#cancelTimer()
    this.#nextAtMs = Number.POSITIVE_INFINITY
    this.#startedAtMs = this.#clock.monotonicMs()
    this.#askedMeanwhile = false
    const problem = await this.#replaceKeys()
    if (problem !== null && !this.#closing.signal.aborted) {
      this.failures++
      const state = this.state()
      const isUsed = state === 'fresh' || state === 'grace'
      const effect = isUsed ? 'the last good one stays in use for up to an hour' : 'every token is refused until it is'
      this.#log.warn('auth.keys.failed', `The key set could not be fetched; ${effect}.`, { problem, state })
    }
    this.#running = null
    const soonMs = this.#startedAtMs + MIN_SPACING_MS
    this.#schedule(problem !== null || this.#askedMeanwhile ? soonMs : this.#clock.monotonicMs() + REFRESH_AFTER_MS)
  }

  /** Fetches the key set and replaces the keys. @returns the problem, or `null` after a success. */
  async #replaceKeys(): Promise<string | null> {
    let usable: UsableKeys | null
    try {
      usable = usableKeys(await this.#fetchJson(this.#url, this.#closing.signal))
    } catch (error) {
      return error instanceof Error ? error.message : 'fetch failed'
    }
    if (!usable) return 'the answer is no key set'
    this.#tellSkipped(usable.skipped)
    if (usable.keys.size === 0) return 'the answer has no usable key'
    this.#keys = usable.keys
    this.#succeededAtMs = this.#clock.monotonicMs()
    return null
  }

  /** Logs skipped keys only when they change: many issuers also publish keys for other algorithms. */
  #tellSkipped(skipped: readonly string[]): void {
    const told = skipped.join(' ')
    if (told === this.#skippedTold) return
    this.#skippedTold = told
    if (skipped.length === 0) return
    const kids = skipped.slice(0, 10)
    this.#log.info('auth.keys.skipped', 'Some keys of the key set cannot be used.', { count: skipped.length, kids })
  }
}
