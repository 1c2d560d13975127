import type { Membership, Principal, Role, TokenRefusal } from './principal.ts'

/** The configuration that claims are checked against. */
export interface ClaimRules {
  readonly issuer: string
  readonly audience: string
  /** Resource of RFC 8707; `null` when not configured. */
  readonly resource: string | null
}

/** The outcome of checking claims. `read` says nothing about revocation, which is checked last, and again at every use. */
export type ClaimsOutcome =
  | { readonly kind: 'read'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly reason: TokenRefusal }

type Claims = Readonly<Record<string, unknown>>

/** Clock skew allowed for `iat`; `exp` has none. [AUTH-5] */
const IAT_SKEW_SEC = 60
const MAX_ID_BYTES = 256

/**
 * Checks the claims of a token whose signature is good, in the interface's order: iss and aud, exp and iat, sub and
 * jti, wsp. [K6-K9] The principal may have no memberships; the caller then answers 403, after the revocation check.
 * `nbf` and all other claims are ignored, and the lifetime of a token has no limit.
 */
export function readClaims(claims: Claims, rules: ClaimRules, nowSec: number): ClaimsOutcome {
  const refusal = issuerRefusal(claims['iss'], rules) ?? audienceRefusal(claims['aud'], rules)
  if (refusal) return { kind: 'refused', reason: refusal }

  const { exp: expSec, iat: iatSec, sub, jti, wsp } = claims
  if (!isSafeInteger(expSec)) return missing('exp')
  if (expSec <= nowSec) return { kind: 'refused', reason: 'token expired' }
  if (!isSafeInteger(iatSec)) return missing('iat')
  if (iatSec > nowSec + IAT_SKEW_SEC) return { kind: 'refused', reason: 'token issued in the future' }
  if (!isStorableId(sub)) return missing('sub')
  if (!isStorableId(jti)) return missing('jti')
  if (!Array.isArray(wsp)) return missing('wsp')
  return { kind: 'read', principal: { sub, jti, expSec, memberships: readMemberships(wsp) } }
}

function issuerRefusal(iss: unknown, rules: ClaimRules): TokenRefusal | null {
  if (iss === undefined) return 'missing claim iss'
  return iss === rules.issuer ? null : 'issuer mismatch'
}

function audienceRefusal(aud: unknown, rules: ClaimRules): TokenRefusal | null {
  if (aud === undefined) return 'missing claim aud'
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  const allStrings = audiences.every((entry) => typeof entry === 'string')
  const matches = audiences.some((entry) => entry === rules.audience || (rules.resource !== null && entry === rules.resource))
  return allStrings && matches ? null : 'audience mismatch'
}

/**
 * Returns the usable entries in the order of the claim, the first one of each workspace. An unknown role never acts as
 * another one. [AUTH-4, K9]
 */
function readMemberships(wsp: readonly unknown[]): Membership[] {
  const byWorkspace = new Map<string, Membership>()
  for (const entry of wsp) {
    const membership = readMembership(entry)
    if (membership && !byWorkspace.has(membership.workspaceId)) byWorkspace.set(membership.workspaceId, membership)
  }
  return [...byWorkspace.values()]
}

function readMembership(entry: unknown): Membership | null {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return null
  const { id, role, region, quota_bytes, editor_limit, max_doc_bytes } = entry as Claims
  if (!isStorableId(id) || !isRole(role)) return null
  return {
    workspaceId: id,
    role,
    region: typeof region === 'string' ? region : undefined,
    claims: {
      ...limitClaim('quotaBytes', quota_bytes),
      ...limitClaim('editorLimit', editor_limit),
      ...limitClaim('maxDocBytes', max_doc_bytes),
    },
  }
}

/** A limit that is not a non-negative integer counts as absent, so that the configured one applies. [AUTH-4] */
function limitClaim(name: keyof Membership['claims'], value: unknown): Membership['claims'] {
  return isSafeInteger(value) && value >= 0 ? { [name]: value } : {}
}

/**
 * Whether a claim is an id that stores can keep. They keep UTF-8 text: an id with a lone surrogate would be read back as another id, and one
 * with NUL could not be stored.
 */
function isStorableId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_ID_BYTES) return false
  return Buffer.byteLength(value) <= MAX_ID_BYTES && !/\p{Surrogate}|\0/u.test(value)
}

function isRole(value: unknown): value is Role {
  return value === 'owner' || value === 'member' || value === 'viewer'
}

function isSafeInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/** Makes the refusal for a missing claim. A claim of the wrong type counts as missing. */
function missing(name: string): ClaimsOutcome {
  return { kind: 'refused', reason: `missing claim ${name}` }
}
