import type { Bucket, RateLimiter, Taker, Taking } from '../../access/rate-limiter.port.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Timers } from '../../kernel/timers.ts'
import { GIVE_BACK, JOIN, PERSON_GRANT_MS, TAKE } from './bucket-scripts.ts'
import { type LocalShare, openLocalShare } from './local-share.ts'
import type { Redis } from './redis.ts'

/** At most this part of the burst is granted in advance. The grant lapses after `GRANT_MS`. */
const GRANT_PART = 1 / 8
const GRANT_MS = 250
/**
 * A person types at a steady rate of a few letters a second. So a person is granted in advance the tokens for `AHEAD_MS` at the rate since the last
 * request, when that request was less than `KNOWN_MS` ago. The grant lapses after `PERSON_GRANT_MS`.
 */
const AHEAD_MS = 1_500
const KNOWN_MS = 4_000
/** Time between two announcements that this node uses the shared buckets. An announcement that arrives after the next one is due has no effect. */
const SIGN_MS = 250
/** After a script has failed, this node uses its own part of the buckets for this long. */
const ODD_MS = 1_000

const TAKEN: Taking = { taken: true }

export interface RedisRateLimiterOptions {
  readonly redis: Redis
  readonly clock: Clock
  readonly timers: Timers
  /** The name of this node; no other node has the same. */
  readonly node: string
  /** Number of live nodes at the last heartbeat. While the bus is down, each node takes an equal part of the buckets. */
  readonly nodes: () => number
  /** Replaces the server's clock in tests; in ms. */
  readonly serverNowMs?: () => number
}

export interface RedisRateLimiter extends RateLimiter, Disposable {
  /** Number of calls of `take` since the start that were answered without the bus. [LIFE-27] */
  readonly answeredLocally: number
  /** Whether this node takes tokens from the shared buckets now. */
  readonly isShared: boolean
}

/** Tokens granted to one kind of caller of one bucket, and the calls that wait for a grant. */
interface Slot {
  readonly name: string
  readonly key: string
  readonly taker: Taker | undefined
  bucket: Bucket
  /** Tokens that were taken from the shared bucket and are not spent yet. */
  left: number
  /** When these tokens lapse, by the clock of this node; `grantedAtMs`: when they were taken, by the clock of the server. */
  lapsesAtMs: number
  grantedAtMs: number
  /** `askedAtMs`: when this slot last asked the server, by the clock of this node. `spent`: how many tokens it has spent since. */
  askedAtMs: number
  spent: number
  readonly waiting: Waiting[]
  cancel: () => void
}

interface Waiting {
  readonly asked: number
  resolve(taking: Taking): void
}

/**
 * Token buckets that all nodes share. A person who keeps writing is granted the tokens of the next 1.5 s in advance, and may spend them for 2 s
 * without asking the server. Any other caller that takes twice within 250 ms is granted an eighth of the burst, for 250 ms. Unspent tokens go back to
 * the bucket. All nodes together never take more than burst and rate allow. While the bus is down, each node spends its own part, which starts empty,
 * or full for buckets slower than one token a second. [LIM-2, LIFE-27]
 */
export function createRedisRateLimiter(options: RedisRateLimiterOptions): RedisRateLimiter {
  return new SharedBuckets(options)
}

class SharedBuckets implements RedisRateLimiter {
  readonly #options: RedisRateLimiterOptions
  readonly #slots = new Map<string, Slot>()
  /** This node's own part of the buckets; `null` while this node uses the shared buckets. */
  #local: LocalShare | null
  #answeredLocally = 0
  #hasStarted = false
  /** The server's time at its last answer, and the time of this node at that moment. */
  #server: { readonly nowMs: number; readonly atMs: number } | null = null
  #cancelSign: () => void = () => undefined
  #cancelReturn: () => void = () => undefined
  #isClosed = false

  constructor(options: RedisRateLimiterOptions) {
    this.#options = options
    this.#local = openLocalShare(options.clock, options.nodes)
    options.redis.onChange((isUp) => {
      if (isUp) void this.#join()
      else this.#goLocal()
    })
  }

  get answeredLocally(): number {
    return this.#answeredLocally
  }

  get isShared(): boolean {
    return this.#local === null
  }

  take(key: string, bucket: Bucket, asked = 1, taker?: Taker): Taking | Promise<Taking> {
    if (bucket.ratePerSec === null) return TAKEN
    if (this.#local !== null) return this.#takeLocally(this.#local, key, bucket, asked, taker)
    const slot = this.#slotOf(key, bucket, taker)
    if (slot.waiting.length === 0 && this.#paid(slot) >= asked) {
      spend(slot, asked)
      return TAKEN
    }
    return new Promise((resolve) => {
      slot.waiting.push({ asked, resolve })
      // All calls of one turn of the event loop share one request to the server.
      if (slot.waiting.length === 1) queueMicrotask(() => void this.#serve(slot))
    })
  }

  left(key: string, bucket: Bucket): number | Promise<number> {
    if (bucket.ratePerSec === null) return bucket.burst
    return this.#local?.left(key, bucket) ?? this.#sharedLeft(key, bucket)
  }

  [Symbol.dispose](): void {
    this.#isClosed = true
    this.#cancelSign()
    this.#cancelReturn()
    for (const slot of this.#slots.values()) slot.cancel()
    this.#slots.clear()
  }

  async #sharedLeft(key: string, bucket: Bucket): Promise<number> {
    const answer = await this.#ask(key, bucket, { least: 0, asked: 0, welcome: 0, slot: null })
    if (answer === null) return this.#local?.left(key, bucket) ?? 0
    let paid = 0
    for (const slot of this.#slots.values()) if (slot.key === key) paid += this.#paid(slot)
    return Math.max(0, Math.min(bucket.burst, answer.left + paid))
  }

  #takeLocally(local: LocalShare, key: string, bucket: Bucket, asked: number, taker: Taker | undefined): Taking {
    this.#answeredLocally++
    return local.take(key, bucket, asked, taker)
  }

  /** Returns the slot of this bucket and kind of caller; creates it when it does not exist. */
  #slotOf(key: string, bucket: Bucket, taker: Taker | undefined): Slot {
    const name = `${taker?.kind ?? ''} ${taker?.kind === 'agent' ? taker.leaves : ''} ${key}`
    const known = this.#slots.get(name)
    if (known !== undefined) {
      known.bucket = bucket
      return known
    }
    const slot: Slot = {
      name,
      key,
      taker,
      bucket,
      left: 0,
      lapsesAtMs: 0,
      grantedAtMs: 0,
      askedAtMs: Number.NEGATIVE_INFINITY,
      spent: 0,
      waiting: [],
      cancel: () => undefined,
    }
    this.#slots.set(name, slot)
    return slot
  }

  #paid({ left, lapsesAtMs }: Slot): number {
    return this.#options.clock.monotonicMs() < lapsesAtMs ? left : 0
  }

  /** Asks the server for tokens until all waiting calls are answered, in their order. */
  async #serve(slot: Slot): Promise<void> {
    const { waiting } = slot
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      if (this.#options.clock.monotonicMs() >= slot.lapsesAtMs) this.#giveBack(slot)
      const sentAtMs = this.#options.clock.monotonicMs()
      const welcome = welcomeOf(slot, sentAtMs)
      const asked = waiting.reduce((sum, one) => sum + one.asked, -slot.left)
      const least = first.asked - slot.left
      const answer = await this.#ask(slot.key, slot.bucket, { least, asked, welcome, slot })
      if (answer === null) return this.#serveLocally(slot)
      slot.left += answer.given
      slot.grantedAtMs = answer.serverMs
      slot.lapsesAtMs = sentAtMs + grantMs(slot)
      slot.askedAtMs = sentAtMs
      slot.spent = 0
      for (let next = waiting[0]; next !== undefined && slot.left >= next.asked; next = waiting[0]) {
        spend(slot, next.asked)
        waiting.shift()
        next.resolve(TAKEN)
      }
      if (answer.given === 0) refuse(waiting, first.asked, answer.waitMs)
    }
    this.#lapseLater(slot)
  }

  #serveLocally(slot: Slot): void {
    const local = (this.#local ??= openLocalShare(this.#options.clock, this.#options.nodes))
    for (const { asked, resolve } of slot.waiting.splice(0)) {
      resolve(this.#takeLocally(local, slot.key, slot.bucket, asked, slot.taker))
    }
    this.#forget(slot)
  }

  #lapseLater(slot: Slot): void {
    slot.cancel()
    const leftMs = slot.lapsesAtMs - this.#options.clock.monotonicMs()
    slot.cancel = this.#options.timers.after(Math.max(0, leftMs), () => {
      if (slot.waiting.length > 0) return
      this.#giveBack(slot)
      const knownMs = isPerson(slot) ? slot.askedAtMs + KNOWN_MS - this.#options.clock.monotonicMs() : 0
      if (knownMs <= 0) return this.#forget(slot)
      slot.cancel = this.#options.timers.after(knownMs, () => slot.waiting.length === 0 && this.#forget(slot))
    })
  }

  #forget(slot: Slot): void {
    slot.cancel()
    if (this.#slots.get(slot.name) === slot) this.#slots.delete(slot.name)
  }

  /** Gives the tokens that were not spent back to the shared bucket. */
  #giveBack(slot: Slot): void {
    if (slot.left === 0) return
    const args = [slot.bucket.burst, slot.left, slot.grantedAtMs, this.#holder(slot), this.#nowArgument()]
    this.#options.redis.run(GIVE_BACK, keysOf(slot.key), args).catch(() => undefined)
    slot.left = 0
  }

  /** Takes tokens from the shared bucket. Returns `null` when the shared buckets cannot be used at the moment. */
  async #ask(key: string, { ratePerSec, burst }: Bucket, { least, asked, welcome, slot }: Asking): Promise<Answer | null> {
    if (this.#local !== null) return null
    const taker = slot?.taker
    const leaves = taker?.kind === 'agent' ? taker.leaves : 0
    const held = slot === null ? ['', 0, 0] : [this.#holder(slot), slot.left, grantMs(slot)]
    const args = [ratePerSec ?? 0, burst, least, asked, welcome, taker?.kind ?? '', leaves, ...held, this.#nowArgument()]
    try {
      const answer = answerOf(await this.#options.redis.run(TAKE, keysOf(key), args))
      if (this.#local !== null) return null
      if (answer.given >= 0) return answer
      this.#goLocal()
      this.#returnLater(answer.waitMs)
    } catch {
      if (this.#local === null) {
        this.#goLocal()
        this.#returnLater(ODD_MS)
      }
    }
    return null
  }

  /** Returns the name under which the server counts the tokens that a slot has in advance. */
  #holder({ taker }: Slot): string {
    return `${this.#options.node} ${taker?.kind ?? ''} ${taker?.kind === 'agent' ? taker.leaves : ''}`
  }

  #nowArgument(): string | number {
    return this.#options.serverNowMs?.() ?? ''
  }

  /** Announces this node, and switches to the shared buckets at the time at which they count. */
  async #join(): Promise<void> {
    const { redis } = this.#options
    const how = this.#hasStarted ? 'returns' : 'starts'
    const answer = await redis.run(JOIN, SIGN_KEYS, [how, 0, this.#nowArgument()]).then(joinedOf, () => null)
    if (answer === null || !redis.isUp || this.#isClosed) return
    this.#hasStarted = true
    this.#note(answer.serverMs)
    this.#signLater()
    this.#returnLater(answer.waitMs)
  }

  #returnLater(waitMs: number): void {
    this.#cancelReturn()
    const back = (): void => {
      this.#local = this.#options.redis.isUp ? null : this.#local
    }
    this.#cancelReturn = () => undefined
    if (waitMs <= 0) back()
    else this.#cancelReturn = this.#options.timers.after(waitMs, back)
  }

  /**
   * Drops tokens granted in advance, because the server may have forgotten that they were taken, and opens this node's own part.
   */
  #goLocal(): void {
    this.#cancelReturn()
    if (!this.#options.redis.isUp) this.#cancelSign()
    for (const slot of this.#slots.values()) slot.left = 0
    this.#local ??= openLocalShare(this.#options.clock, this.#options.nodes)
  }

  #signLater(): void {
    this.#cancelSign()
    this.#cancelSign = this.#options.timers.after(SIGN_MS, () => {
      const { redis } = this.#options
      const validUntilMs = this.#serverNowMs() + SIGN_MS
      redis.run(JOIN, SIGN_KEYS, ['stays', validUntilMs, this.#nowArgument()]).then(
        (answer) => this.#note(joinedOf(answer).serverMs),
        () => undefined,
      )
      this.#signLater()
    })
  }

  #note(serverMs: number): void {
    this.#server = { nowMs: serverMs, atMs: this.#options.clock.monotonicMs() }
  }

  #serverNowMs(): number {
    const { nowMs, atMs } = this.#server ?? { nowMs: 0, atMs: 0 }
    return nowMs + (this.#options.clock.monotonicMs() - atMs)
  }
}

/** The arguments of the script `TAKE`, in tokens, and the slot that asks. `null` as slot takes nothing and only reads the bucket. */
interface Asking {
  readonly least: number
  readonly asked: number
  readonly welcome: number
  readonly slot: Slot | null
}

interface Answer {
  /** Tokens given; -1 while the buckets do not count yet. */
  readonly given: number
  readonly waitMs: number
  readonly left: number
  readonly serverMs: number
}

function isPerson({ taker }: Slot): boolean {
  return taker?.kind === 'person'
}

/** Returns how long a slot may hold tokens in advance, in ms. */
function grantMs(slot: Slot): number {
  return isPerson(slot) ? PERSON_GRANT_MS : GRANT_MS
}

function spend(slot: Slot, tokens: number): void {
  slot.left -= tokens
  slot.spent += tokens
}

/** Returns how many tokens in advance are useful for a slot: none for a caller that has not taken tokens recently. */
function welcomeOf(slot: Slot, nowMs: number): number {
  const { bucket, lapsesAtMs, askedAtMs, spent } = slot
  const most = nowMs < lapsesAtMs || isPerson(slot) ? Math.ceil(bucket.burst * GRANT_PART) : 0
  if (!isPerson(slot)) return most
  const sinceMs = Math.max(1, nowMs - askedAtMs)
  return sinceMs < KNOWN_MS ? Math.min(most, Math.floor((spent / sinceMs) * AHEAD_MS)) : 0
}

const SINCE_KEY = 'bus:since'
const SIGN_KEYS = ['bus:alive', SINCE_KEY]

function keysOf(key: string): readonly string[] {
  return [`b:{${key}}`, SINCE_KEY, `b:{${key}}:out`]
}

function answerOf(answer: unknown): Answer {
  const [given, waitMs, left, serverMs] = Array.isArray(answer) ? answer.map(Number) : []
  if (given === undefined || waitMs === undefined || left === undefined || serverMs === undefined)
    throw new Error('no answer of the script')
  return { given, waitMs, left, serverMs }
}

function joinedOf(answer: unknown): { readonly waitMs: number; readonly serverMs: number } {
  const [waitMs, serverMs] = Array.isArray(answer) ? answer.map(Number) : []
  if (waitMs === undefined || serverMs === undefined) throw new Error('no answer of the script')
  return { waitMs, serverMs }
}

/** Refuses every waiting call that asks for at least `least` tokens, because so many are not available. */
function refuse(waiting: Waiting[], least: number, retryAfterMs: number): void {
  for (const one of waiting.splice(0)) {
    if (one.asked >= least) one.resolve({ taken: false, retryAfterMs })
    else waiting.push(one)
  }
}
