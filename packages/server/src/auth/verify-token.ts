import { hash, verify } from 'node:crypto'
import type { Clock } from '../kernel/clock.ts'
import { type ClaimRules, readClaims } from './claims.ts'
import { type CompactToken, parseCompactToken } from './compact-token.ts'
import type { VerificationKey } from './jwk.ts'
import type { KeyLookup } from './key-set.ts'
import type { Principal, Recheck, TokenRefusal, TokenVerifier, Verification } from './principal.ts'

export interface TokenVerifierOptions extends ClaimRules {
  /** Looks keys up in memory, without waiting. */
  readonly keySet: { key(kid: string): KeyLookup }
  readonly revocations: { has(jti: string): boolean }
  readonly clock: Clock
}

interface CachedVerification {
  readonly principal: Principal
  readonly kid: string
  readonly key: VerificationKey
  readonly untilMs: number
}

const CACHE_MS = 60_000
const CACHE_ENTRIES = 10_000
const MAX_KID_BYTES = 256
const REQUIRED_CLAIMS = new Set(['iss', 'sub', 'aud', 'iat', 'exp', 'jti', 'wsp'])

/** Makes the check of facts that can change after a token was verified: time and revocation. [AUTH-5, AUTH-16] */
export function createRecheck({ revocations, clock }: Pick<TokenVerifierOptions, 'revocations' | 'clock'>): Recheck {
  return ({ expSec, jti }) => {
    if (expSec <= clock.nowMs() / 1000) return 'token expired'
    return revocations.has(jti) ? 'token revoked' : null
  }
}

/**
 * Makes the function that decides whether a bearer is good, with the checks in the interface's order. [AUTH-2..AUTH-5,
 * K2-K9]
 *
 * A good token is remembered by its SHA-256 for at most 60 s, which saves checking the signature and parsing. Its key,
 * `exp` and revocation are checked every time. [K10, AUTH-16] No token ever opens a connection: an unknown key id only
 * requests a refresh of the key set. [AUTH-11]
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { keySet, clock } = options
  const recheck = createRecheck(options)
  const cache = new Map<string, CachedVerification>()

  const settle = (principal: Principal): Verification => {
    const refusal = recheck(principal)
    if (refusal !== null) return refused(refusal)
    return principal.memberships.length === 0 ? { kind: 'forbidden' } : { kind: 'verified', principal }
  }

  const remembered = (digest: string): Principal | null => {
    const entry = cache.get(digest)
    if (!entry) return null
    const found = keySet.key(entry.kid)
    // A cached token is no longer valid once its key was dropped or replaced, or the key set is past its grace period.
    if (entry.untilMs > clock.monotonicMs() && found.kind === 'known' && found.key === entry.key) return entry.principal
    cache.delete(digest)
    return null
  }

  const verifyNow = (token: string, digest: string): Verification => {
    const parsed = parseCompactToken(token)
    if (!parsed) return refused('token malformed')
    const signer = findSigner(parsed, keySet)
    if (typeof signer === 'string') return refused(signer)
    if (!signatureHolds(parsed, signer.key)) return refused('bad signature')
    const repeated = parsed.claims.repeated
    if (repeated !== null) return refused(`missing claim ${REQUIRED_CLAIMS.has(repeated) ? repeated : '(repeated member)'}`)
    const outcome = readClaims(parsed.claims.members, options, clock.nowMs() / 1000)
    if (outcome.kind === 'refused') return outcome
    if (cache.size >= CACHE_ENTRIES) forgetOldest(cache)
    cache.set(digest, { ...signer, principal: outcome.principal, untilMs: clock.monotonicMs() + CACHE_MS })
    return settle(outcome.principal)
  }

  return async (token) => {
    const digest = hash('sha256', token, 'base64')
    const principal = remembered(digest)
    return principal ? settle(principal) : verifyNow(token, digest)
  }
}

/**
 * Returns the key that must have signed the token, or the reason to refuse it. The algorithm is fixed here. Headers that would change what is
 * verified are refused; `jwk`, `jku`, `x5u`, `x5c` and `typ` are ignored. [K3, K4]
 */
function findSigner(
  { header: { members, repeated } }: CompactToken,
  keySet: TokenVerifierOptions['keySet'],
): { readonly kid: string; readonly key: VerificationKey } | TokenRefusal {
  const rewritten = ['crit', 'b64', 'zip'].some((name) => Object.hasOwn(members, name))
  if (members['alg'] !== 'RS256' || rewritten || repeated !== null) return 'unsupported algorithm'
  const kid = members['kid']
  const usable = typeof kid === 'string' && kid !== '' && Buffer.byteLength(kid) <= MAX_KID_BYTES
  // No key set has an ill-formed key id. Looking up the empty id tells whether there are any keys, and never requests a refresh.
  const found = keySet.key(usable ? kid : '')
  if (found.kind === 'unavailable') return 'jwks unavailable'
  return usable && found.kind === 'known' ? { kid, key: found.key } : 'unknown key'
}

/** Checks RSASSA-PKCS1-v1_5 with SHA-256 over the received bytes, before any claim is read. [K5] */
function signatureHolds(token: CompactToken, key: VerificationKey): boolean {
  try {
    return verify('RSA-SHA256', Buffer.from(token.signed, 'latin1'), key, token.signature)
  } catch {
    // The library throws for keys that it cannot use, for example above its own size limit.
    return false
  }
}

/**
 * Drops the oldest tenth of a full cache. A Map keeps the order of insertion. Dropping a tenth at once saves this work for most tokens.
 */
function forgetOldest(cache: Map<string, CachedVerification>): void {
  let remaining = CACHE_ENTRIES / 10
  for (const digest of cache.keys()) {
    if (remaining-- <= 0) return
    cache.delete(digest)
  }
}

function refused(reason: TokenRefusal): Verification {
  return { kind: 'refused', reason }
}
