import { createHash, createHmac, type KeyObject, sign as signBytes } from 'node:crypto'
import type { Membership, TokenRefusal } from '../principal.ts'
import { base64url, type SigningKey, signParts, type TestIssuer } from './test-issuer.ts'

/** The parts from which token cases are made: an issuer whose clock stands at `nowSec`, and keys of several kinds. */
export interface CaseWorld {
  readonly issuer: TestIssuer
  readonly nowSec: number
  readonly resource: string
  readonly revokedJti: string
  /** An attacker's RSA key that is published nowhere. */
  readonly foreign: SigningKey
  /** A second published key, kid `k2`. */
  readonly second: SigningKey
  readonly weak: SigningKey
  readonly ec: { readonly privateKey: KeyObject; readonly jwk: Readonly<Record<string, unknown>> }
  readonly ed: { readonly privateKey: KeyObject }
}

/** The expected verdict on a token; for an accepted token a case may also check the memberships. */
export type Verdict =
  | { readonly accept: (memberships: readonly Membership[]) => boolean }
  | { readonly refuse: TokenRefusal | 'forbidden' }

export interface TokenCase {
  readonly group: string
  readonly name: string
  readonly token: (world: CaseWorld) => string
  readonly verdict: Verdict
  /** The keys that the issuer publishes instead of `k1` and `k2`. */
  readonly jwks?: (world: CaseWorld) => readonly unknown[]
}

type Row = readonly [name: string, token: (world: CaseWorld) => string, verdict: Verdict]

export const accepted: Verdict = { accept: () => true }
const refused = (reason: TokenRefusal | 'forbidden'): Verdict => ({ refuse: reason })
const malformed = refused('token malformed')
const wrongAlg = refused('unsupported algorithm')
const unknownKey = refused('unknown key')
const badSignature = refused('bad signature')

/** Makes a token that is valid except for these claims. */
const claims = (replaced: Readonly<Record<string, unknown>>) => (world: CaseWorld) => world.issuer.token({ claims: replaced })
/** Makes a token that is valid except for these header members. */
const header = (members: Readonly<Record<string, unknown>>) => (world: CaseWorld) =>
  world.issuer.sign(world.issuer.claims(), members)
/** Makes a valid token in which one claim has this JSON text, which JSON.stringify could not write. */
const rawClaim = (name: string, json: string) => (world: CaseWorld) => {
  const marker = 'd2a6b1'
  return world.issuer.sign(JSON.stringify(world.issuer.claims({ claims: { [name]: marker } })).replace(`"${marker}"`, json))
}

/** Signs header and claims with HMAC, using a public value as the key. */
const hmac = (secret: (world: CaseWorld) => string) => (world: CaseWorld) => {
  const signed = `${base64url(JSON.stringify({ alg: 'HS256', kid: 'k1' }))}.${base64url(JSON.stringify(world.issuer.claims()))}`
  return `${signed}.${createHmac('sha256', secret(world)).update(signed).digest('base64url')}`
}

const signedBy =
  (alg: string, sign: (data: Buffer, world: CaseWorld) => Buffer) =>
  (world: CaseWorld): string => {
    const signed = `${base64url(JSON.stringify({ alg, kid: 'k1' }))}.${base64url(JSON.stringify(world.issuer.claims()))}`
    return `${signed}.${sign(Buffer.from(signed), world).toString('base64url')}`
  }

const PSS = { padding: 6, saltLength: 32 } as const

const alg: readonly Row[] = [
  ...['none', 'None', 'NONE'].map((name): Row => [name, header({ alg: name }), wrongAlg]),
  [
    'HS256 keyed by the public PEM',
    hmac((w) => w.issuer.key.publicKey.export({ format: 'pem', type: 'spki' }).toString()),
    wrongAlg,
  ],
  ['HS256 keyed by n', hmac((w) => String(w.issuer.key.jwk['n'])), wrongAlg],
  ['HS256 keyed by the JWK text', hmac((w) => JSON.stringify(w.issuer.key.jwk)), wrongAlg],
  [
    'ES256',
    signedBy('ES256', (data, w) => signBytes('sha256', data, { key: w.ec.privateKey, dsaEncoding: 'ieee-p1363' })),
    wrongAlg,
  ],
  ['EdDSA', signedBy('EdDSA', (data, w) => signBytes(null, data, w.ed.privateKey)), wrongAlg],
  ['PS256', signedBy('PS256', (data, w) => signBytes('sha256', data, { key: w.issuer.key.privateKey, ...PSS })), wrongAlg],
  ['RS384', signedBy('RS384', (data, w) => signBytes('RSA-SHA384', data, w.issuer.key.privateKey)), wrongAlg],
  ['RS512', signedBy('RS512', (data, w) => signBytes('RSA-SHA512', data, w.issuer.key.privateKey)), wrongAlg],
  ['missing', header({ alg: undefined }), wrongAlg],
]

/** Makes a token signed with an attacker's key; its header says where to find that key. */
const forgedBy = (member: (world: CaseWorld) => Readonly<Record<string, unknown>>) => (world: CaseWorld) =>
  world.issuer.sign(world.issuer.claims(), { ...member(world) }, world.foreign)

const headers: readonly Row[] = [
  ['jwk', forgedBy((w) => ({ jwk: w.foreign.jwk })), badSignature],
  ['jku', forgedBy((w) => ({ jku: `${w.issuer.issuer}/forged-jwks` })), badSignature],
  ['x5u', forgedBy((w) => ({ x5u: `${w.issuer.issuer}/forged-certificate` })), badSignature],
  ['x5c', forgedBy(() => ({ x5c: ['MIIB'] })), badSignature],
  ['crit unknown', header({ crit: ['exp'], exp: 1 }), wrongAlg],
  ['crit empty', header({ crit: [] }), wrongAlg],
  ['crit not an array', header({ crit: 'exp' }), wrongAlg],
  ['b64 false with zip', header({ b64: false, zip: 'DEF' }), wrongAlg],
]

const KIDS: readonly (readonly [string, unknown])[] = [
  ['missing', undefined],
  ['""', ''],
  ['null', null],
  ['number', 1],
  ['array', ['k1']],
  ['object', { k1: 'k1' }],
  ['__proto__', '__proto__'],
  ['constructor', 'constructor'],
  ['../../k', '../../k'],
  ['SQL text', "k1' OR '1'='1"],
  ['10 KB', 'k'.repeat(10 * 1024)],
  ['NUL', 'k1\0'],
]
const kid: readonly Row[] = KIDS.map(([name, value]) => [name, header({ kid: value }), unknownKey])

const at = (name: 'exp' | 'iat' | 'nbf', offsetSec: number) => (world: CaseWorld) =>
  world.issuer.token({ claims: { [name]: world.nowSec + offsetSec } })
const noExp = refused('missing claim exp')
const noIat = refused('missing claim iat')
const expired = refused('token expired')

const time: readonly Row[] = [
  ['exp 1 s ago', at('exp', -1), expired],
  ['exp now', at('exp', 0), expired],
  ['exp in 1 s', at('exp', 1), accepted],
  ['exp missing', claims({ exp: undefined }), noExp],
  ['exp null', claims({ exp: null }), noExp],
  ['exp string', claims({ exp: '4102444800' }), noExp],
  ['exp float', claims({ exp: 4102444800.5 }), noExp],
  ['exp 1e400', rawClaim('exp', '1e400'), noExp],
  ['exp -1', claims({ exp: -1 }), expired],
  ['exp 2^53', claims({ exp: 2 ** 53 }), noExp],
  ['iat in 59 s', at('iat', 59), accepted],
  ['iat in 60 s', at('iat', 60), accepted],
  ['iat in 61 s', at('iat', 61), refused('token issued in the future')],
  ['iat missing', claims({ iat: undefined }), noIat],
  ['iat string', claims({ iat: '1' }), noIat],
  ['iat float', claims({ iat: 1.5 }), noIat],
  ['iat -1', claims({ iat: -1 }), accepted],
  ['iat 1e400', rawClaim('iat', '1e400'), noIat],
  ['exp 100 years ahead', at('exp', 100 * 365 * 86_400), accepted],
  ['nbf ahead', at('nbf', 3600), accepted],
]

const noSub = refused('missing claim sub')
const noJti = refused('missing claim jti')
const identity: readonly Row[] = [
  ['sub missing', claims({ sub: undefined }), noSub],
  ['sub ""', claims({ sub: '' }), noSub],
  ['sub number', claims({ sub: 7 }), noSub],
  ['sub object', claims({ sub: { id: 'ann' } }), noSub],
  ['sub 10 KB', claims({ sub: 's'.repeat(10 * 1024) }), noSub],
  ['jti missing', claims({ jti: undefined }), noJti],
  ['jti ""', claims({ jti: '' }), noJti],
  ['jti number', claims({ jti: 7 }), noJti],
  ['jti 10 KB', claims({ jti: 'j'.repeat(10 * 1024) }), noJti],
  ['jti revoked', (w) => w.issuer.token({ jti: w.revokedJti }), refused('token revoked')],
]

const wrongAudience = refused('audience mismatch')
const wrongIssuer = refused('issuer mismatch')
const audience = (change: (right: string) => unknown) => (world: CaseWorld) =>
  world.issuer.token({ claims: { aud: change(world.issuer.audience) } })
const issuer = (change: (right: string) => unknown) => (world: CaseWorld) =>
  world.issuer.token({ claims: { iss: change(world.issuer.issuer) } })

const audienceAndIssuer: readonly Row[] = [
  ['aud one match in an array', audience((right) => ['other', right]), accepted],
  ['aud resource', (w) => w.issuer.token({ claims: { aud: w.resource } }), accepted],
  ['aud no match', audience(() => ['other', 'another']), wrongAudience],
  ['aud ""', audience(() => ''), wrongAudience],
  ['aud prefix', audience((right) => right.slice(0, -1)), wrongAudience],
  ['aud suffix', audience((right) => `${right}-2`), wrongAudience],
  ['aud case', audience((right) => right.toUpperCase()), wrongAudience],
  ['aud trailing slash', audience((right) => `${right}/`), wrongAudience],
  ['aud nested array', audience((right) => [[right]]), wrongAudience],
  ['aud object', audience((right) => ({ [right]: right })), wrongAudience],
  ['aud missing', audience(() => undefined), refused('missing claim aud')],
  ['iss array', issuer((right) => [right]), wrongIssuer],
  ['iss case', issuer((right) => right.toUpperCase()), wrongIssuer],
  ['iss trailing slash', issuer((right) => `${right}/`), wrongIssuer],
  ['iss missing', issuer(() => undefined), refused('missing claim iss')],
  ['iss other', issuer(() => 'https://issuer.example'), wrongIssuer],
]

const noWsp = refused('missing claim wsp')
const wsp = (value: unknown) => claims({ wsp: value })
const entry = (members: Readonly<Record<string, unknown>>) => wsp([{ id: 'w1', role: 'member', region: 'eu', ...members }])
const first = (check: (membership: Membership) => boolean): Verdict => ({
  accept: (memberships) => memberships.length === 1 && memberships[0] !== undefined && check(memberships[0]),
})
const hundred = Array.from({ length: 100 }, (_, i) => ({ id: `w${i}`, role: 'viewer' }))
/** A `wsp` entry whose role is set through `__proto__`, which JSON.parse makes a plain member. */
const PROTO_ENTRY = '[{"id":"w1","__proto__":{"role":"owner"}}]'

export const wspCases: readonly Row[] = [
  ['missing', wsp(undefined), noWsp],
  ['null', wsp(null), noWsp],
  ['object', wsp({ id: 'w1', role: 'owner' }), noWsp],
  ['[]', wsp([]), refused('forbidden')],
  ['100 entries', wsp(hundred), { accept: (list) => list.length === 100 && list[99]?.workspaceId === 'w99' }],
  [
    'one id, two roles',
    wsp([
      { id: 'w1', role: 'viewer' },
      { id: 'w1', role: 'owner' },
    ]),
    first(({ role }) => role === 'viewer'),
  ],
  [
    'two workspaces',
    wsp([
      { id: 'b', role: 'owner' },
      { id: 'a', role: 'viewer' },
    ]),
    { accept: ([b, a]) => b?.workspaceId === 'b' && a?.role === 'viewer' },
  ],
  ['role Owner', entry({ role: 'Owner' }), refused('forbidden')],
  ['role ""', entry({ role: '' }), refused('forbidden')],
  ['role missing', entry({ role: undefined }), refused('forbidden')],
  ['region other', entry({ region: 'us' }), first(({ region }) => region === 'us')],
  ['region missing', entry({ region: undefined }), first(({ region }) => region === undefined)],
  ['quota -1', entry({ quota_bytes: -1 }), first((m) => m.claims.quotaBytes === undefined)],
  [
    'quota 1e400',
    rawClaim('wsp', '[{"id":"w1","role":"member","quota_bytes":1e400}]'),
    first((m) => m.claims.quotaBytes === undefined),
  ],
  ['quota "5"', entry({ quota_bytes: '5' }), first((m) => m.claims.quotaBytes === undefined)],
  ['quota 0', entry({ quota_bytes: 0 }), first((m) => m.claims.quotaBytes === 0)],
  ['__proto__ member', rawClaim('wsp', PROTO_ENTRY), refused('forbidden')],
  ['foreign id in dedicated mode', wsp([{ id: 'foreign', role: 'owner' }]), first((m) => m.workspaceId === 'foreign')],
]

type Parts = readonly [header: string, claims: string, signature: string]
const reshaped = (change: (parts: Parts) => string) => (world: CaseWorld) =>
  change(world.issuer.token().split('.') as unknown as Parts)
const bytes = (head: string | Uint8Array, payload: (world: CaseWorld) => string | Uint8Array) => (world: CaseWorld) =>
  signParts(head, payload(world), world.issuer.key.privateKey)
const HEAD = JSON.stringify({ alg: 'RS256', kid: 'k1' })
const goodClaims = (world: CaseWorld): string => JSON.stringify(world.issuer.claims())
const invalidUtf8 = (world: CaseWorld): Uint8Array =>
  Buffer.concat([Buffer.from(`{"x":"`), Buffer.from([0xc3, 0x28]), Buffer.from(`",${goodClaims(world).slice(1)}`)])

const encoding: readonly Row[] = [
  ['padding', reshaped(([h, c, s]) => `${h}.${c}.${s}==`), malformed],
  [
    '+ and / of the other alphabet',
    reshaped(([h, c, s]) => `${h}.${c}.${Buffer.from(s, 'base64url').toString('base64')}`.replace(/=+$/, '')),
    malformed,
  ],
  ['space', reshaped(([h, c, s]) => `${h}. ${c}.${s}`), malformed],
  ['newline', reshaped(([h, c, s]) => `${h}.${c}.${s}\n`), malformed],
  // 256 signature bytes leave four unused bits in the last character.
  ['non-canonical last bits', reshaped(([h, c, s]) => `${h}.${c}.${s.slice(0, -1)}${nextLetter(s.slice(-1))}`), malformed],
  ['1 part', reshaped(([h]) => h), malformed],
  ['2 parts', reshaped(([h, c]) => `${h}.${c}`), malformed],
  ['4 parts', reshaped(([h, c, s]) => `${h}.${c}.${s}.${s}`), malformed],
  ['5 parts', reshaped(([h, c, s]) => `${h}.${c}.${s}.${c}.${s}`), malformed],
  ['empty header', reshaped(([, c, s]) => `.${c}.${s}`), malformed],
  ['empty payload', reshaped(([h, , s]) => `${h}..${s}`), malformed],
  ['empty signature', reshaped(([h, c]) => `${h}.${c}.`), malformed],
  ['header array', bytes('["RS256","k1"]', goodClaims), malformed],
  ['invalid UTF-8', bytes(HEAD, invalidUtf8), malformed],
  ['byte order mark', bytes(HEAD, (w) => `\uFEFF${goodClaims(w)}`), malformed],
  ['duplicate exp', bytes(HEAD, (w) => goodClaims(w).replace('{', '{"\\u0065xp":4102444800,')), noExp],
  ['duplicate alg', bytes('{"alg":"none","alg":"RS256","kid":"k1"}', goodClaims), wrongAlg],
  ['32 KiB + 1', (w) => tokenOfLength(w, 32 * 1024 + 1), malformed],
]

function nextLetter(letter: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return alphabet[(alphabet.indexOf(letter) + 1) % 64] ?? 'A'
}

/** Makes a valid token of exactly `length` characters. */
export function tokenOfLength(world: CaseWorld, length: number): string {
  const filled = (header: number, payload: number): string =>
    world.issuer.sign(world.issuer.claims({ claims: { filler: 'x'.repeat(payload) } }), { filler: 'x'.repeat(header) })
  const nearly = Math.floor(((length - filled(0, 0).length) * 3) / 4)
  // A base64url text never has a length of 4n + 1, so header and payload are both varied.
  for (let header = 0; header < 3; header++) {
    for (let payload = nearly - 6; payload < nearly + 3; payload++) {
      const token = filled(header, payload)
      if (token.length === length) return token
    }
  }
  throw new Error(`no token of ${length} characters`)
}

const changedSignature = (change: (signature: Buffer, world: CaseWorld) => Buffer) => (world: CaseWorld) => {
  const [h, c, s] = world.issuer.token().split('.')
  return `${h}.${c}.${change(Buffer.from(s ?? '', 'base64url'), world).toString('base64url')}`
}
const flipped = (signature: Buffer): Buffer => {
  const copy = Buffer.from(signature)
  copy[100] = (copy[100] ?? 0) ^ 1
  return copy
}
const signatureOf = (token: string): Buffer => Buffer.from(token.split('.')[2] ?? '', 'base64url')
const goodToken = (world: CaseWorld): string => world.issuer.token()

type KeyRow = readonly [...Row, jwks?: (world: CaseWorld) => readonly unknown[]]
const signature: readonly KeyRow[] = [
  ['bit flipped', changedSignature(flipped), badSignature],
  ['truncated', changedSignature((s) => s.subarray(0, -1)), badSignature],
  ['of another token', changedSignature((_, w) => signatureOf(w.issuer.token({ sub: 'ben' }))), badSignature],
  ['doubled', changedSignature((s) => Buffer.concat([s, s])), badSignature],
  ['other key, same kid', (w) => w.issuer.sign(w.issuer.claims(), {}, w.foreign), badSignature],
  ['dropped key', goodToken, unknownKey, (w) => [w.second.jwk]],
  ['key set with e = 1', forgedForExponentOne, unknownKey, (w) => [{ ...w.issuer.key.jwk, e: 'AQ' }, w.second.jwk]],
  [
    'RSA-1024',
    (w) => w.issuer.sign(w.issuer.claims(), {}, w.weak),
    unknownKey,
    (w) => [{ ...w.weak.jwk, kid: 'k1' }, w.second.jwk],
  ],
  ['EC key of the kid', goodToken, unknownKey, (w) => [w.ec.jwk, w.second.jwk]],
  ['use: enc', goodToken, unknownKey, (w) => [{ ...w.issuer.key.jwk, use: 'enc' }, w.second.jwk]],
]

/** With the exponent 1 a signature is the padded hash itself, so anyone can write one. */
function forgedForExponentOne(world: CaseWorld): string {
  const signed = world.issuer.token().split('.').slice(0, 2).join('.')
  const prefix = Buffer.from('3031300d060960864801650304020105000420', 'hex')
  const hash = createHash('sha256').update(signed).digest()
  const tail = Buffer.concat([Buffer.from([0]), prefix, hash])
  const padded = Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(256 - 2 - tail.length, 0xff), tail])
  return `${signed}.${padded.toString('base64url')}`
}

const group = (name: string, rows: readonly KeyRow[]): TokenCase[] =>
  rows.map(([caseName, token, verdict, jwks]) => ({ group: name, name: caseName, token, verdict, ...(jwks ? { jwks } : {}) }))

/** The fixed cases of a token; the six of its transport are in `bearer.test.ts`. */
export const TOKEN_CASES: readonly TokenCase[] = [
  ...group('alg', alg),
  ...group('header', headers),
  ...group('kid', kid),
  ...group('time', time),
  ...group('identity', identity),
  ...group('aud, iss', audienceAndIssuer),
  ...group('wsp', wspCases),
  ...group('encoding', encoding),
  ...group('signature, key', signature),
]
