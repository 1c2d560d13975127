import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../kernel/log.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { openKeySet } from './key-set.ts'
import type { TokenVerifier, Verification } from './principal.ts'
import { startTestIssuer, type TestIssuer } from './testing/test-issuer.ts'
import { createTokenVerifier } from './verify-token.ts'

const NOW_MS = Date.UTC(2026, 5, 1)
const NOW_SEC = NOW_MS / 1000
const RUNS = Number(process.env['DOCRELAY_FUZZ_RUNS'] ?? 1_200)

let issuer: TestIssuer
let verify: TokenVerifier

beforeAll(async () => {
  issuer = await startTestIssuer({ nowMs: () => NOW_MS })
  const time = manualTime(NOW_MS)
  const keySet = openKeySet({ url: issuer.jwksUrl, log: silentLogger, ...time, fetchJson: async () => issuer.jwks })
  await keySet.firstFetch(10_000)
  const rules = { issuer: issuer.issuer, audience: issuer.audience, resource: null }
  verify = createTokenVerifier({ ...rules, keySet, revocations: new Set(['revoked']), clock: time.clock })
})
afterAll(() => issuer.close())

/** A part of a token, and the refusal that it causes; `null`: the part is valid. */
interface Part {
  readonly value: unknown
  readonly refusal: string | null
}

const ABSENT = Symbol('absent')
const good = (...values: unknown[]): fc.Arbitrary<Part> => fc.constantFrom(...values).map((value) => ({ value, refusal: null }))
const bad = (refusal: string, ...values: unknown[]): fc.Arbitrary<Part> =>
  fc.constantFrom(...values).map((value) => ({ value, refusal }))
const mostly = (fine: fc.Arbitrary<Part>, ...wrong: fc.Arbitrary<Part>[]): fc.Arbitrary<Part> =>
  fc.oneof({ arbitrary: fine, weight: 12 }, ...wrong.map((arbitrary) => ({ arbitrary, weight: 1 })))

/** Values of a wrong type for every claim except `aud` and `wsp`. */
const JUNK = [ABSENT, null, true, [], {}, 1.5, [[]], { length: 1 }]

const entry = fc.record({
  id: fc.constantFrom<unknown>('w1', 'w2', '', 7, ABSENT, 'w\0'),
  role: fc.constantFrom<unknown>('owner', 'member', 'viewer', 'Owner', 'admin', null, ABSENT),
  quota_bytes: fc.constantFrom<unknown>(0, 5, -1, 1.5, '5', null, ABSENT),
})

const tokenParts = (): fc.Arbitrary<Record<string, Part>> =>
  fc.record({
    alg: mostly(good('RS256'), bad('unsupported algorithm', 'RS512', 'none', 'HS256', 'rs256', ...JUNK)),
    crit: mostly(good(ABSENT), bad('unsupported algorithm', [], ['exp'], null, 'x')),
    kid: mostly(good('k1'), bad('unknown key', 'k2', 'K1', '', 'k1 ', 1, ...JUNK)),
    tampered: mostly(good(false), bad('bad signature', true)),
    iss: mostly(
      good(issuer.issuer),
      bad('missing claim iss', ABSENT),
      bad('issuer mismatch', `${issuer.issuer}/`, '', null, [issuer.issuer]),
    ),
    aud: mostly(
      good('service-relay', ['x', 'service-relay'], ['service-relay']),
      bad('missing claim aud', ABSENT),
      bad('audience mismatch', '', 'service-relay ', [], ['x'], null, {}, ['service-relay', 1], [['service-relay']]),
    ),
    exp: mostly(
      good(NOW_SEC + 1, NOW_SEC + 86_400, Number.MAX_SAFE_INTEGER),
      bad('token expired', NOW_SEC, NOW_SEC - 1, 0, -1),
      bad('missing claim exp', String(NOW_SEC + 9), 2 ** 53, NOW_SEC + 0.5, ...JUNK),
    ),
    iat: mostly(
      good(NOW_SEC, NOW_SEC + 60, 0, -5),
      bad('token issued in the future', NOW_SEC + 61, Number.MAX_SAFE_INTEGER),
      bad('missing claim iat', String(NOW_SEC), 2 ** 53, ...JUNK),
    ),
    sub: mostly(
      good('ann', 'é'.repeat(128), '__proto__'),
      bad('missing claim sub', '', 7, 'x'.repeat(257), 'é'.repeat(129), 'a\0', '\udfff', ...JUNK),
    ),
    jti: mostly(good('j1', 'constructor'), bad('missing claim jti', '', 7, 'x'.repeat(257), ...JUNK)),
    wsp: mostly(good([{ id: 'w1', role: 'owner' }]), bad('missing claim wsp', ABSENT, null, {}, 'w1', 1)),
    revoked: mostly(good(false), bad('token revoked', true)),
  })

/** The order in which the rules check the parts of a token. */
const ORDER = ['alg', 'crit', 'kid', 'tampered', 'iss', 'aud', 'exp', 'iat', 'sub', 'jti', 'wsp', 'revoked']
const CLAIMS = ['iss', 'aud', 'exp', 'iat', 'sub', 'jti', 'wsp']

const present = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ABSENT))
const valuesOf = (parts: Readonly<Record<string, Part>>, names: readonly string[]): Record<string, unknown> =>
  present(Object.fromEntries(names.map((name) => [name, parts[name]?.value])))

function signed(parts: Readonly<Record<string, Part>>): string {
  const claims = valuesOf(parts, CLAIMS)
  if (parts['revoked']?.value === true && parts['jti']?.refusal === null) claims['jti'] = 'revoked'
  const header = { alg: undefined, kid: undefined, ...valuesOf(parts, ['alg', 'crit', 'kid']) }
  const token = issuer.sign(claims, header)
  if (parts['tampered']?.value !== true) return token
  const [head, , signature] = token.split('.')
  return `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'other' })).toString('base64url')}.${signature}`
}

function reasonOf(verification: Verification): string | null {
  return verification.kind === 'refused' ? verification.reason : verification.kind === 'verified' ? null : 'forbidden'
}

describe('[F-4] randomly mutated tokens', () => {
  it('[AUTH-2] [AUTH-3] [AUTH-4] [AUTH-5] a token is accepted exactly when the reference model accepts it, and otherwise the first failed check is named', async () => {
    let acceptedCount = 0
    await fc.assert(
      fc.asyncProperty(tokenParts(), async (parts) => {
        const expected = ORDER.map((name) => parts[name]?.refusal ?? null).find((refusal) => refusal !== null) ?? null
        const actual = reasonOf(await verify(signed(parts)))
        if (actual === null) acceptedCount++
        expect(actual).toBe(expected)
      }),
      { numRuns: RUNS },
    )
    // A model that refuses everything would prove nothing.
    expect(acceptedCount).toBeGreaterThan(RUNS / 20)
  })

  it('[AUTH-4] exactly the usable wsp entries are kept, the first of each workspace', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ arbitrary: entry, weight: 9 }, { arbitrary: fc.constantFrom(null, 'w1', 7, []), weight: 1 }), {
          maxLength: 6,
        }),
        async (list) => {
          const wsp = list.map((item) =>
            typeof item === 'object' && item !== null && !Array.isArray(item) ? present(item) : item,
          )
          const seen = new Set<unknown>()
          const usable = list.flatMap((item) => {
            if (typeof item !== 'object' || item === null || Array.isArray(item)) return []
            const { id, role, quota_bytes: quota } = item
            if (!['w1', 'w2'].includes(id as string) || !['owner', 'member', 'viewer'].includes(role as string) || seen.has(id))
              return []
            seen.add(id)
            return [{ workspaceId: id, role, region: undefined, claims: quota === 0 || quota === 5 ? { quotaBytes: quota } : {} }]
          })
          const verification = await verify(issuer.token({ wsp: wsp as Record<string, unknown>[] }))
          if (usable.length === 0) expect(verification).toEqual({ kind: 'forbidden' })
          else expect(verification).toMatchObject({ kind: 'verified', principal: { memberships: usable } })
        },
      ),
      { numRuns: RUNS / 4 },
    )
  })

  it('[AUTH-2] [AUTH-3] any change of the text of a token makes it invalid', async () => {
    const token = issuer.token()
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é'
    const change = fc.tuple(
      fc.constantFrom('replace', 'insert', 'delete', 'swap', 'cut', 'repeat'),
      fc.nat(token.length - 1),
      fc.constantFrom(...letters.split('')),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const mutated = changes.reduce((text, [kind, at, letter]) => changed(text, kind, at, letter), token)
        expect((await verify(mutated)).kind === 'verified').toBe(mutated === token)
      }),
      { numRuns: RUNS * 2 },
    )
    expect((await verify(token)).kind).toBe('verified')
  })

  it('[AUTH-2] arbitrary text, parts and JSON never throw and are never accepted', async () => {
    const part = fc.oneof(
      fc.string(),
      fc.base64String(),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        expect((await verify(parts.join('.'))).kind).toBe('refused')
      }),
      { numRuns: RUNS },
    )
  })
})

function changed(text: string, kind: string, at: number, letter: string): string {
  switch (kind) {
    case 'replace':
      return text.slice(0, at) + letter + text.slice(at + 1)
    case 'insert':
      return text.slice(0, at) + letter + text.slice(at)
    case 'delete':
      return text.slice(0, at) + text.slice(at + 1)
    case 'swap':
      return text.slice(at) + text.slice(0, at)
    case 'cut':
      return text.slice(0, at)
    default:
      return text + text.slice(at)
  }
}
