import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { RevocationOrder } from './revocation-order.ts'
import type { Revocation, RevocationStore } from './revocations.port.ts'

/** Most entries that memory and store keep. [LIM-11] */
export const MAX_REVOCATIONS = 1_000_000

/** The revoked tokens: durable in the store, looked up in memory. */
export interface Revocations {
  /** Looks the jti up in memory; called for every request, and every second for each live socket. [AUTH-16, WS-20] */
  has(jti: string): boolean
  /**
   * When it resolves, the entries (and the cursor, when given) are durable and every later `has` knows them. [REST-29,
   * V2] Rejects with the store's error; then none of the new entries takes effect.
   */
  add(entries: readonly Revocation[], options?: AddOptions): Promise<void>
  /** Adds entries that another node has stored: every later `has` knows them. [AUTH-14] */
  told(entries: readonly Revocation[]): void
  /** Renews the age of the set, after another node has received a push or a poll completely. [AUTH-15] */
  toldWhole(): void
  /** Loads the whole set again, after this node may have missed entries of other nodes. */
  reload(): Promise<void>
  readonly size: number
  /**
   * Seconds since the last complete push or poll, since the start when there was none; −1 when neither is configured.
   * [AUTH-15]
   */
  ageSec(): number
  /** The stored cursor, for the next poll. */
  cursor(): Promise<string | null>
}

export interface AddOptions {
  readonly cursor?: string
  /** True when more entries of the same answer follow, so that the age is not renewed yet. */
  readonly partial?: boolean
}

export interface RevocationsOptions {
  readonly store: RevocationStore
  readonly clock: Clock
  readonly log: Logger
  /** Whether push or polling is configured. */
  readonly hasTransport: boolean
  readonly keep?: number
}

/** Entries that take effect in one turn of the event loop; between the slices of a larger answer other work can run. */
const SLICE = 5_000
const ALARM_SHARE = 0.9

/** Loads the set. The caller awaits it before the ports bind. [AUTH-14, V1] */
export async function openRevocations(options: RevocationsOptions): Promise<Revocations> {
  const { store, clock, log, hasTransport } = options
  const keep = options.keep ?? MAX_REVOCATIONS
  const order = new RevocationOrder(keep)
  for (const { jti, revokedAtMs } of await store.all()) order.add(jti, revokedAtMs)
  let heardAtMs = clock.monotonicMs()

  const makeEffective = (entries: readonly Revocation[]): void => {
    const before = order.size
    for (const { jti, revokedAtMs } of entries) order.add(jti, revokedAtMs)
    const alarm = keep * ALARM_SHARE
    if (before < alarm && order.size >= alarm) {
      log.warn('auth.revocations.filling', 'The revocation set is nearly full; the oldest entries go first.', {
        size: order.size,
        keep,
      })
    }
  }

  return {
    has: (jti) => order.has(jti),
    async add(entries, { cursor, partial = false } = {}) {
      const isWhole = !partial
      await store.add(entries, cursor === undefined ? { keep, isWhole } : { keep, isWhole, cursor })
      for (let at = 0; at < entries.length; at += SLICE) {
        if (at > 0) await new Promise<void>((resolve) => setImmediate(resolve))
        makeEffective(entries.slice(at, at + SLICE))
      }
      if (!partial) heardAtMs = clock.monotonicMs()
    },
    told: makeEffective,
    toldWhole() {
      heardAtMs = clock.monotonicMs()
    },
    async reload() {
      makeEffective(await store.all())
    },
    get size() {
      return order.size
    },
    ageSec: () => (hasTransport ? (clock.monotonicMs() - heardAtMs) / 1000 : -1),
    cursor: () => store.cursor(),
  }
}
