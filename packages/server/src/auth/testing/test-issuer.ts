import { generateKeyPair, type KeyObject, randomUUID, sign as signBytes } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { systemClock } from '../../kernel/clock.ts'

/** How the key-set address misbehaves. */
export type KeySetFault = 'down' | 'hang' | '500' | 'html' | 'empty' | 'huge' | 'redirect' | 'redirect-http'

export interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** Public members with kid, alg and use. */
  readonly jwk: Readonly<Record<string, unknown>>
}

export interface TokenOptions {
  readonly sub?: string
  readonly jti?: string
  /** Default: role `owner` of workspace `default`. */
  readonly wsp?: readonly Readonly<Record<string, unknown>>[]
  /** Shorthand, with `role`, for one entry of `wsp`. */
  readonly workspace?: string
  readonly role?: string
  readonly region?: string
  readonly expiresInSec?: number
  /** Further claims, or replacements of any claim; a member of value `undefined` leaves the claim out. */
  readonly claims?: Readonly<Record<string, unknown>>
}

/** An issuer with real RSA keys and a real key-set address on loopback, for tests. */
export interface TestIssuer extends AsyncDisposable {
  readonly issuer: string
  readonly audience: string
  readonly jwksUrl: string
  /** The key that signs now. */
  readonly key: SigningKey
  /** The key set that the key-set address answers. Tests replace it to drop, add or spoil keys. */
  jwks: { keys: readonly unknown[] }
  fault: KeySetFault | null
  /** Requests the key-set address has seen. */
  readonly fetches: number
  /** Makes a valid token, unless the options say otherwise. */
  token(options?: TokenOptions): string
  /** Returns the claims that `token` would sign. */
  claims(options?: TokenOptions): Record<string, unknown>
  /** Signs any claims, or any payload text; header members of value `undefined` are left out. */
  sign(claims: unknown, header?: Readonly<Record<string, unknown>>, key?: Pick<SigningKey, 'privateKey'>): string
  /** Makes a new key, publishes it beside the old ones, and signs with it from now on. */
  rotate(kid: string): Promise<SigningKey>
  close(): Promise<void>
}

export interface TestIssuerOptions {
  /** The wall clock from which `iat` and `exp` are computed. */
  readonly nowMs?: () => number
  readonly audience?: string
}

const HUGE_BYTES = 10 * 1024 * 1024

/** First keys of closed issuers, for reuse: making a key takes longer than anything else here. Issuers that run together have different keys. */
const freeKeys: SigningKey[] = []

export async function startTestIssuer({
  nowMs = () => systemClock.nowMs(),
  audience = 'service-relay',
}: TestIssuerOptions = {}): Promise<TestIssuer> {
  const firstKey = freeKeys.pop() ?? (await newSigningKey('k1'))
  let key = firstKey
  const state: { jwks: { keys: readonly unknown[] }; fault: KeySetFault | null; fetches: number } = {
    jwks: { keys: [key.jwk] },
    fault: null,
    fetches: 0,
  }
  const server = createServer((_, response) => {
    state.fetches++
    answer(response, state.fault, state.jwks)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const claims = (options: TokenOptions = {}): Record<string, unknown> => {
    const nowSec = Math.floor(nowMs() / 1000)
    const entry = { id: options.workspace ?? 'default', role: options.role ?? 'owner', region: options.region }
    return {
      iss: issuer,
      aud: audience,
      sub: options.sub ?? 'ann',
      jti: options.jti ?? randomUUID(),
      iat: nowSec,
      exp: nowSec + (options.expiresInSec ?? 3600),
      wsp: options.wsp ?? [entry],
      ...options.claims,
    }
  }
  let isClosed = false
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    if (!isClosed) freeKeys.push(firstKey)
    isClosed = true
  }

  return {
    issuer,
    audience,
    jwksUrl: `${issuer}/jwks`,
    get key() {
      return key
    },
    get jwks() {
      return state.jwks
    },
    set jwks(jwks) {
      state.jwks = jwks
    },
    get fault() {
      return state.fault
    },
    set fault(fault) {
      state.fault = fault
    },
    get fetches() {
      return state.fetches
    },
    claims,
    token: (options) => signToken(claims(options), { kid: key.kid }, key.privateKey),
    sign: (payload, header = {}, signer = key) => signToken(payload, { kid: key.kid, ...header }, signer.privateKey),
    async rotate(kid) {
      key = await newSigningKey(kid)
      state.jwks = { keys: [...state.jwks.keys, key.jwk] }
      return key
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

export async function newSigningKey(kid: string, modulusLength = 2048, publicExponent = 65537): Promise<SigningKey> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength, publicExponent })
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' } }
}

/** Signs a token. A `payload` that is a string is used as the text of the payload. */
function signToken(payload: unknown, header: Readonly<Record<string, unknown>>, privateKey: KeyObject): string {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return signParts(JSON.stringify({ alg: 'RS256', typ: 'at+jwt', ...header }), text, privateKey)
}

/** Signs any header and payload bytes with RSA and SHA-256, whatever the header says. */
export function signParts(header: string | Uint8Array, payload: string | Uint8Array, privateKey: KeyObject): string {
  const signed = `${base64url(header)}.${base64url(payload)}`
  return `${signed}.${base64url(signBytes('RSA-SHA256', Buffer.from(signed), privateKey))}`
}

export function base64url(value: string | Uint8Array): string {
  return Buffer.from(value as Uint8Array).toString('base64url')
}

function answer(response: ServerResponse, fault: KeySetFault | null, jwks: unknown): void {
  switch (fault) {
    case 'down':
      response.destroy()
      return
    case 'hang':
      return
    case '500':
      response.writeHead(500).end('{"keys":[]}')
      return
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Sign in</title>')
      return
    case 'empty':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}')
      return
    case 'huge':
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"keys":[],"x":"${'x'.repeat(HUGE_BYTES)}"}`)
      return
    case 'redirect':
      response.writeHead(302, { location: 'https://127.0.0.1:1/jwks' }).end()
      return
    case 'redirect-http':
      response.writeHead(302, { location: '/elsewhere' }).end()
      return
    case null:
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(jwks))
  }
}
