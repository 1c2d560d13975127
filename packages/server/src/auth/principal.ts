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

/** One usable `wsp` entry. Limit claims are kept apart from configured limits; an ill-typed one counts as absent. [AUTH-4] */
export interface Membership {
  readonly workspaceId: string
  readonly role: Role
  /** `undefined` when the claim has none. */
  readonly region: string | undefined
  /** As claimed: 0 means unlimited, `undefined` means the configured fallback applies. */
  readonly claims: { readonly quotaBytes?: number; readonly editorLimit?: number; readonly maxDocBytes?: number }
}

/** A verified caller: signature, issuer, audience, time and revocation held when it was made; `exp` and revocation are checked again at use. */
export interface Principal {
  readonly sub: string
  readonly jti: string
  /** Seconds since 1970. */
  readonly expSec: number
  /** Usable entries in claim order, the first of each workspace id; never empty. */
  readonly memberships: readonly Membership[]
}

/** The outcome of verifying one bearer, the interface's steps in order. `forbidden`: the token is good but no wsp entry is usable. */
export type Verification =
  | { readonly kind: 'verified'; readonly principal: Principal }
  | { readonly kind: 'refused'; readonly reason: TokenRefusal }
  | { readonly kind: 'forbidden' }

/** Never waits for the network: it reads the cached key set and the loaded revocation set. */
export type TokenVerifier = (token: string) => Promise<Verification>
