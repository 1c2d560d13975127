import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Logger, silentLogger } from '../kernel/log.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { type KeySet, openKeySet } from './key-set.ts'
import { fetchJson } from './operator-fetch.ts'
import { type KeySetFault, newSigningKey, startTestIssuer, type TestIssuer } from './testing/test-issuer.ts'
import { createTokenVerifier } from './verify-token.ts'

const MINUTE = 60_000
const NOW_MS = Date.UTC(2026, 5, 1)

let issuer: TestIssuer
let time: ManualTime
let keySet: KeySet
let fetching: Promise<unknown>
let lines: { event: string; fields: unknown }[]
let startsAtMs: number[]

beforeEach(async () => {
  issuer = await startTestIssuer({ nowMs: () => NOW_MS })
  time = manualTime(NOW_MS)
  lines = []
  startsAtMs = []
  keySet = open()
})
afterEach(async () => {
  await keySet[Symbol.asyncDispose]()
  await issuer.close()
})

/** Opens a key set on the address of the test issuer, with the clock of the test. */
function open(timeoutMs = 2_000): KeySet {
  const log: Logger = {
    ...silentLogger,
    info: (event, _, fields) => lines.push({ event, fields }),
    warn: (event, _, fields) => lines.push({ event, fields }),
  }
  fetching = Promise.resolve()
  return openKeySet({
    url: issuer.jwksUrl,
    log,
    ...time,
    fetchJson: (url, signal) => {
      startsAtMs.push(time.clock.monotonicMs())
      const answer = fetchJson(url, { timeoutMs, maxBytes: 1024 * 1024, signal })
      fetching = answer.catch(() => {})
      return answer
    },
  })
}

/** Moves the clock in steps that are small enough for real answers to arrive in between. */
async function elapse(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await time.advance(Math.min(5_000, left))
    await fetching
    await time.advance(0)
  }
}

const known = (): string => keySet.key('k1').kind

describe('the key set over time', () => {
  it('[A-1] [AUTH-9] [AUTH-10] during an outage keys work for 59 min, fail from 60 min on, and work again within 10 s after it', async () => {
    await keySet.firstFetch(10_000)
    issuer.fault = 'down'
    const seen: string[] = []
    for (const untilMs of [
      0,
      4 * MINUTE + 59_000,
      5 * MINUTE + 1_000,
      30 * MINUTE,
      59 * MINUTE,
      60 * MINUTE - 1,
      60 * MINUTE,
      66 * MINUTE,
    ]) {
      await elapse(untilMs - keySet.ageSec() * 1000)
      seen.push(`${known()} ${keySet.state()}`)
    }
    expect(seen).toEqual([
      'known fresh',
      'known fresh',
      'known grace',
      'known grace',
      'known grace',
      'known grace',
      'unavailable expired',
      'unavailable expired',
    ])
    // From minute 4 on there is one try every 5 s.
    expect(keySet.failures).toBe((62 * 60) / 5 + 1)
    issuer.fault = null
    await elapse(10_000)
    expect(`${known()} ${keySet.state()}`).toBe('known fresh')
  })

  it('[A-1] [AUTH-11] a verification with a known key never waits for a fetch, even while one hangs', async () => {
    await keySet.firstFetch(10_000)
    const verify = createTokenVerifier({ ...issuer, resource: null, keySet, revocations: new Set(), clock: time.clock })
    const tokens = Array.from({ length: 200 }, (_, i) => issuer.token({ sub: `s${i}`, expiresInSec: 10_000 }))
    issuer.fault = 'hang'
    await time.advance(4 * MINUTE)
    expect(startsAtMs).toHaveLength(2)
    for (const token of tokens) {
      let turned = false
      setImmediate(() => {
        turned = true
      })
      expect((await verify(token)).kind).toBe('verified')
      // A verification that waits, for the network or anything else, gives the event loop a turn.
      expect(turned).toBe(false)
    }
  })

  it('[A-14] [AUTH-10] jumps of the wall clock change neither refresh times nor grace', async () => {
    await keySet.firstFetch(10_000)
    issuer.fault = 'down'
    time.jumpWall(60 * MINUTE)
    expect([keySet.state(), keySet.ageSec()]).toEqual(['fresh', 0])
    await elapse(30 * MINUTE)
    time.jumpWall(-120 * MINUTE)
    await elapse(29 * MINUTE)
    expect(`${known()} ${keySet.state()}`).toBe('known grace')
    await elapse(MINUTE)
    expect(`${known()} ${keySet.state()}`).toBe('unavailable expired')
  })

  it('[AUTH-9] the key set is refreshed in the background before its 5 minutes end', async () => {
    await keySet.firstFetch(10_000)
    await elapse(30 * MINUTE)
    expect(startsAtMs.slice(1).map((atMs, i) => atMs - (startsAtMs[i] ?? 0))).toEqual(Array(7).fill(4 * MINUTE))
    expect(keySet.ageSec()).toBeLessThan(4 * 60)
  })

  it('[A-3] [AUTH-11] a new key id works within 6 s of its first use; a removed one is refused after a refresh', async () => {
    await keySet.firstFetch(10_000)
    const { kid } = await issuer.rotate('k2')
    expect(keySet.key(kid).kind).toBe('unknown')
    await elapse(6_000)
    expect(keySet.key(kid).kind).toBe('known')
    issuer.jwks = { keys: [issuer.key.jwk] }
    keySet.key('k3')
    await elapse(6_000)
    expect([known(), keySet.keyCount()]).toEqual(['unknown', 1])
  })

  it('[AUTH-11] a key id first seen while a fetch is running causes another fetch', async () => {
    await keySet.firstFetch(10_000)
    await time.advance(5_000)
    keySet.key('k2')
    const jwks = { keys: [...issuer.jwks.keys] }
    await time.advance(0)
    await issuer.rotate('k3')
    const published = issuer.jwks
    // The running fetch still gets the older set.
    issuer.jwks = jwks
    keySet.key('k3')
    await fetching
    issuer.jwks = published
    await elapse(6_000)
    expect(keySet.key('k3').kind).toBe('known')
  })

  it('[A-4] [AUTH-11] 1,000 unknown key ids a second cause at most one fetch per 5 s and do not affect known ones', async () => {
    await keySet.firstFetch(10_000)
    for (let second = 0; second < 20; second++) {
      for (let i = 0; i < 1_000; i++) keySet.key(`unknown-${second}-${i}`)
      expect(known()).toBe('known')
      await elapse(1_000)
    }
    expect(issuer.fetches).toBe(5)
    expect(Math.min(...startsAtMs.slice(1).map((atMs, i) => atMs - (startsAtMs[i] ?? 0)))).toBeGreaterThanOrEqual(5_000)
  })

  it('[AUTH-11] one key id that stays unknown causes no further fetches', async () => {
    await keySet.firstFetch(10_000)
    for (let second = 0; second < 25; second++) {
      keySet.key('unknown')
      await elapse(1_000)
    }
    expect(issuer.fetches).toBe(2)
  })

  it('[A-5] 100 tokens verified during a failing fetch all get an answer', async () => {
    await keySet.firstFetch(10_000)
    const verify = createTokenVerifier({ ...issuer, resource: null, keySet, revocations: new Set(), clock: time.clock })
    issuer.fault = '500'
    const answers = Array.from({ length: 100 }, (_, i) =>
      verify(i % 2 === 0 ? issuer.token() : issuer.sign(issuer.claims(), { kid: `u${i}` })),
    )
    const advanced = elapse(6_000)
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind)
    await advanced
    expect(kinds.filter((kind) => kind === 'verified')).toHaveLength(50)
    expect(keySet.failures).toBe(1)
  })
})

describe('the first fetch', () => {
  const faults: readonly KeySetFault[] = ['down', 'hang', '500', 'html', 'empty', 'huge', 'redirect', 'redirect-http']

  it.each(faults)(
    '[A-2] [AUTH-12] %s: the first fetch ends, every token is refused, and keys work once they can be fetched',
    async (fault) => {
      keySet = open(200)
      issuer.fault = fault
      await keySet.firstFetch(10_000)
      expect([known(), keySet.state(), keySet.ageSec(), keySet.keyCount(), keySet.failures]).toEqual([
        'unavailable',
        'none',
        -1,
        0,
        1,
      ])
      issuer.fault = null
      await elapse(5_000)
      expect(known()).toBe('known')
    },
  )

  it('[AUTH-12] a caller waits for the first fetch at most the given time, and the fetch continues', async () => {
    issuer.fault = 'hang'
    let ended = false
    const first = keySet.firstFetch(10_000).then(() => {
      ended = true
    })
    await time.advance(9_999)
    expect(ended).toBe(false)
    await time.advance(1)
    await first
    expect(keySet.state()).toBe('none')
  })

  it('[A-2] 10,000 keys within 1 MB are read in time', async () => {
    issuer.jwks = { keys: [...Array.from({ length: 10_000 }, (_, i) => ({ kty: 'EC', kid: `e${i}` })), issuer.key.jwk] }
    await keySet.firstFetch(10_000)
    expect([known(), keySet.keyCount()]).toEqual(['known', 1])
    keySet.key('another')
    await elapse(5_000)
    expect([issuer.fetches, lines.map(({ event }) => event)]).toEqual([2, ['auth.keys.skipped']])
    const { fields } = lines[0] ?? {}
    expect(fields).toMatchObject({ count: 10_000 })
    expect(JSON.stringify(fields).length).toBeLessThan(500)
  })

  it('[AUTH-9] an answer without a usable key counts as a failure and keeps the old keys', async () => {
    await keySet.firstFetch(10_000)
    for (const keys of [[], [{ ...issuer.key.jwk, use: 'enc' }], [{ ...(await newSigningKey('k1', 1024)).jwk }]]) {
      issuer.jwks = { keys }
      keySet.key(`ask-${keys.length}-${keySet.failures}`)
      await elapse(5_000)
    }
    expect([keySet.failures, known()]).toEqual([3, 'known'])
  })

  it('[AUTH-9] closing the key set ends a hanging fetch', async () => {
    await keySet[Symbol.asyncDispose]()
    keySet = open(60_000)
    issuer.fault = 'hang'
    const first = keySet.firstFetch(60_000)
    await time.advance(0)
    await keySet[Symbol.asyncDispose]()
    await first
    expect(lines).toEqual([])
  })

  it('[AUTH-9] a closed key set fetches nothing', async () => {
    await keySet.firstFetch(10_000)
    await keySet[Symbol.asyncDispose]()
    keySet.key('unknown')
    await elapse(10 * MINUTE)
    expect([issuer.fetches, time.waiting()]).toEqual([1, 0])
  })
})
