import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../kernel/log.ts'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import { type KeySet, openKeySet } from './key-set.ts'
import type { TokenVerifier } from './principal.ts'
import { chooseMembership } from './tenancy.ts'
import { newSigningKey, startTestIssuer, type TestIssuer } from './testing/test-issuer.ts'
import { type CaseWorld, TOKEN_CASES, tokenOfLength } from './testing/token-cases.ts'
import { createTokenVerifier } from './verify-token.ts'

const RESOURCE = 'https://relay.example/mcp'
const REVOKED = 'revoked-jti'
const NOW_MS = Date.UTC(2026, 5, 1, 12)

let issuer: TestIssuer
let world: CaseWorld

beforeAll(async () => {
  issuer = await startTestIssuer({ nowMs: () => NOW_MS })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ed = generateKeyPairSync('ed25519')
  world = {
    issuer,
    nowSec: NOW_MS / 1000,
    resource: RESOURCE,
    revokedJti: REVOKED,
    foreign: await newSigningKey('k1'),
    second: await newSigningKey('k2'),
    weak: await newSigningKey('k1', 1024),
    ec: { privateKey: ec.privateKey, jwk: { ...ec.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' } },
    ed: { privateKey: ed.privateKey },
  }
})
afterAll(() => issuer.close())

interface Bench {
  readonly verify: TokenVerifier
  readonly keySet: KeySet
  readonly time: ManualTime
  readonly revoked: Set<string>
  /** The keys that the next refresh of the key set gets. */
  jwks: readonly unknown[]
}

async function bench(jwks: readonly unknown[] = [issuer.key.jwk, world.second.jwk]): Promise<Bench> {
  const time = manualTime(NOW_MS)
  const revoked = new Set([REVOKED])
  const state = { jwks }
  const keySet = openKeySet({ url: issuer.jwksUrl, log: silentLogger, ...time, fetchJson: async () => ({ keys: state.jwks }) })
  await keySet.firstFetch(10_000)
  const rules = { issuer: issuer.issuer, audience: issuer.audience, resource: RESOURCE }
  const verify = createTokenVerifier({ ...rules, keySet, revocations: revoked, clock: time.clock })
  return Object.assign(state, { verify, keySet, time, revoked })
}

describe('[AUTH-2] [AUTH-3] [AUTH-4] [AUTH-5] the fixed token cases, with real signatures', () => {
  const COUNTS = {
    alg: 12,
    header: 8,
    kid: 12,
    time: 20,
    identity: 10,
    'aud, iss': 16,
    wsp: 18,
    encoding: 18,
    'signature, key': 10,
  }

  it('[F-4] every group is complete: 124 cases of tokens, 6 of their transport', () => {
    const counts: Record<string, number> = {}
    for (const { group } of TOKEN_CASES) counts[group] = (counts[group] ?? 0) + 1
    expect(counts).toEqual(COUNTS)
    expect(TOKEN_CASES).toHaveLength(124)
    expect(new Set(TOKEN_CASES.map(({ group, name }) => `${group} ${name}`)).size).toBe(124)
  })

  it.each(TOKEN_CASES.map((row) => [row.group, row.name, row] as const))(
    '%s: %s',
    async (_group, _name, { token, verdict, jwks }) => {
      const { verify } = await bench(jwks?.(world))
      const fetchesBefore = issuer.fetches
      const verification = await verify(token(world))
      if ('refuse' in verdict) {
        const expected = verdict.refuse === 'forbidden' ? { kind: 'forbidden' } : { kind: 'refused', reason: verdict.refuse }
        expect(verification).toEqual(expected)
      } else {
        if (verification.kind !== 'verified') throw new Error(`refused: ${JSON.stringify(verification)}`)
        expect(verdict.accept(verification.principal.memberships)).toBe(true)
      }
      expect(issuer.fetches).toBe(fetchesBefore)
    },
  )
})

describe('token verification', () => {
  it('[AUTH-2] the caller is read from a valid token', async () => {
    const { verify } = await bench()
    const wsp = [{ id: 'w1', role: 'member', region: 'eu', quota_bytes: 5, editor_limit: 0, max_doc_bytes: 7, other: true }]
    expect(await verify(issuer.token({ sub: 'ann', jti: 'j1', expiresInSec: 90, wsp }))).toEqual({
      kind: 'verified',
      principal: {
        sub: 'ann',
        jti: 'j1',
        expSec: NOW_MS / 1000 + 90,
        memberships: [
          { workspaceId: 'w1', role: 'member', region: 'eu', claims: { quotaBytes: 5, editorLimit: 0, maxDocBytes: 7 } },
        ],
      },
    })
  })

  it('[AUTH-2] a token of exactly 32 KiB, the size of a whole header block, is accepted', async () => {
    const { verify } = await bench()
    expect((await verify(tokenOfLength(world, 32 * 1024))).kind).toBe('verified')
  })

  it('[AUTH-3] jwk, jku, x5u and x5c headers are ignored beside a valid signature, and cause no connection', async () => {
    const { verify } = await bench()
    const members = {
      jwk: world.foreign.jwk,
      jku: `${issuer.issuer}/x`,
      x5u: `${issuer.issuer}/x`,
      x5c: ['MIIB'],
      typ: 'anything',
    }
    expect((await verify(issuer.sign(issuer.claims(), members))).kind).toBe('verified')
    expect(issuer.fetches).toBe(0)
  })

  it('[AUTH-4] sub and jti may have 256 bytes of UTF-8, and no character that the store would change', async () => {
    const { verify } = await bench()
    const outcomes = ['é'.repeat(128), 'é'.repeat(129), 'a\0b', '\ud800'].map((sub) =>
      verify(issuer.sign(issuer.claims({ claims: { sub } }))),
    )
    const refused = { kind: 'refused', reason: 'missing claim sub' }
    expect(await Promise.all(outcomes)).toMatchObject([{ kind: 'verified' }, refused, refused, refused])
  })

  it('[AUTH-4] a repeated claim that is not used is refused too, without its name', async () => {
    const { verify } = await bench()
    const text = JSON.stringify(issuer.claims()).replace('{', '{"email":1,"email":2,')
    expect(await verify(issuer.sign(text))).toEqual({ kind: 'refused', reason: 'missing claim (repeated member)' })
  })

  it('[AUTH-4] members of the same name in different objects are not repeated claims', async () => {
    const { verify } = await bench()
    expect(
      (await verify(issuer.token({ claims: { address: { exp: 1, sub: 'x' }, list: [{ exp: 1 }, '{"exp":1,"exp":2}'] } }))).kind,
    ).toBe('verified')
  })

  it('[AUTH-6] a token of another workspace is forbidden in dedicated tenancy, without naming the pinned one', async () => {
    const { verify } = await bench()
    const verification = await verify(issuer.token({ workspace: 'foreign' }))
    if (verification.kind !== 'verified') throw new Error('refused')
    const choice = chooseMembership(verification.principal, { mode: 'dedicated', workspaceId: 'w1' }, undefined)
    expect(choice).toEqual({ kind: 'forbidden-plain' })
  })

  it('[AUTH-16] a cached token is still checked against the revocation set', async () => {
    const { verify, revoked } = await bench()
    const token = issuer.token({ jti: 'j9' })
    expect((await verify(token)).kind).toBe('verified')
    revoked.add('j9')
    expect(await verify(token)).toEqual({ kind: 'refused', reason: 'token revoked' })
  })

  it('[AUTH-5] a cached token ends at its exp', async () => {
    const { verify, time } = await bench()
    const token = issuer.token({ expiresInSec: 2 })
    expect((await verify(token)).kind).toBe('verified')
    await time.advance(1_999)
    expect((await verify(token)).kind).toBe('verified')
    await time.advance(1)
    expect(await verify(token)).toEqual({ kind: 'refused', reason: 'token expired' })
  })

  it('[AUTH-3] a cached token ends when its key is removed', async () => {
    const world1 = await bench()
    const token = issuer.token()
    expect((await world1.verify(token)).kind).toBe('verified')
    world1.jwks = [world.second.jwk]
    await world1.time.advance(4 * 60_000)
    expect(await world1.verify(token)).toEqual({ kind: 'refused', reason: 'unknown key' })
  })

  it('[AUTH-3] a cached token ends when another key takes its key id', async () => {
    const world1 = await bench()
    const token = issuer.token()
    expect((await world1.verify(token)).kind).toBe('verified')
    world1.jwks = [world.foreign.jwk]
    await world1.time.advance(4 * 60_000)
    expect(await world1.verify(token)).toEqual({ kind: 'refused', reason: 'bad signature' })
  })

  it('[AUTH-10] after the grace every verification fails, also of cached tokens and unknown key ids', async () => {
    const world1 = await bench()
    const token = issuer.token({ expiresInSec: 100_000 })
    world1.jwks = []
    await world1.time.advance(60 * 60_000 - 1)
    expect((await world1.verify(token)).kind).toBe('verified')
    await world1.time.advance(1)
    const unavailable = { kind: 'refused', reason: 'jwks unavailable' }
    expect(await world1.verify(token)).toEqual(unavailable)
    expect(await world1.verify(issuer.sign(issuer.claims(), { kid: 'other' }))).toEqual(unavailable)
    expect(await world1.verify('x.y.z')).toEqual({ kind: 'refused', reason: 'token malformed' })
  })

  it('[A-6] exp has no leeway and iat 60 s, also within a second', async () => {
    const { verify, time } = await bench()
    await time.advance(999)
    const nowSec = NOW_MS / 1000
    const kinds = []
    for (const claims of [
      { iat: nowSec + 59 },
      { iat: nowSec + 60 },
      { iat: nowSec + 61 },
      { exp: nowSec - 1 },
      { exp: nowSec },
      { exp: nowSec + 1 },
    ]) {
      kinds.push((await verify(issuer.token({ claims }))).kind)
    }
    expect(kinds).toEqual(['verified', 'verified', 'refused', 'refused', 'refused', 'verified'])
  })
})
