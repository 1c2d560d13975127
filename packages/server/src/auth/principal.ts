/** Why a token was refused; the text is sent as `error` of AUTH_RESPONSE and as `reason` of TOKEN_INVALID. [WS-60] */
export type TokenRefusal =
  | 'token malformed'
  | 'unsupported algorithm'
  | 'unknown key'
  | 'bad signature'
  | 'issuer mismatch'
  | 'audience mismatch'
  | 'token expired'
  | 'token issued in the future'
  | `missing claim ${string}`
  | 'token revoked'
  | 'jwks unavailable'

export type Role = 'owner' | 'member' | 'viewer'

/**
 * One usable `wsp` entry. Limit claims are kept apart from configured limits; a claim of the wrong type counts as
 * absent. [AUTH-4]
 */
export interface Membership {
  readonly workspaceId: string
  readonly role: Role
  /** `undefined` when the entry has no region. */
  readonly region: string | undefined
  /** As claimed: 0 means unlimited, `undefined` means the configured fallback applies. */
  readonly claims: { readonly quotaBytes?: number; readonly editorLimit?: number; readonly maxDocBytes?: number }
}

/** A verified caller. Signature, issuer, audience, time and revocation were checked; `exp` and revocation are checked again at each use. */
export interface Principal {
  readonly sub: string
  readonly jti: string
  /** Seconds since 1970. */
  readonly expSec: number
  /** Usable entries in claim order, the first of each workspace id; never empty. */
  readonly memberships: readonly Membership[]
}

/**
 * The outcome of verifying one bearer, in the order of the interface's steps. `forbidden`: the token is good but has no
 * usable wsp entry.
 */
export type Verification =
  | { readonly kind: 'verified'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly reason: TokenRefusal }
  | { readonly kind: 'forbidden' }

/** Verifies a bearer. Never waits for the network: reads the cached key set and the loaded revocation set. */
export type TokenVerifier = (token: string) => Promise<Verification>

/**
 * Returns why the token of an earlier verified principal would be refused now (expired or revoked); `null` when it is still accepted. Looks only
 * into memory, and does not check the signature again.
 */
export type Recheck = (principal: Principal) => TokenRefusal | null
