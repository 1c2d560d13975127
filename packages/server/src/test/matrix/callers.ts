import type { TokenOptions } from '../../auth/testing/test-issuer.ts'

const member = (sub: string): TokenOptions => ({ sub, role: 'member' })
const viewer = (sub: string): TokenOptions => ({ sub, role: 'viewer' })

/** The jti of a token that is revoked before all tests. */
export const REVOKED_JTI = 'a-token-that-is-gone'

/** A kind of caller of PERM-3: its token (`null` for none), and whether the relay keeps documents private. */
export interface CallerKind {
  readonly as: TokenOptions | null
  readonly isOpen?: true
  /** The credential to send, in place of one made from `as`. */
  readonly token?: string
}

/** The columns of PERM-3, with kinds that share a column listed apart, and callers without a usable token. */
export const CALLERS: Readonly<Record<string, CallerKind>> = {
  'doc owner': { as: member('own') },
  'owner share': { as: member('co') },
  'edit share': { as: member('ed') },
  'view share': { as: member('vi') },
  'ws owner': { as: { sub: 'boss', role: 'owner' } },
  member: { as: member('mia') },
  'viewer, owner': { as: viewer('own') },
  'viewer, edit share': { as: viewer('ed') },
  viewer: { as: viewer('zoe') },
  'open: member': { as: member('mia'), isOpen: true },
  'open: viewer': { as: viewer('zoe'), isOpen: true },
  anonymous: { as: null },
  revoked: { as: { ...member('own'), jti: REVOKED_JTI } },
  malformed: { as: null, token: 'not.a-token' },
  expired: { as: { ...member('own'), expiresInSec: -1 } },
  'other audience': { as: { ...member('own'), claims: { aud: 'another-service' } } },
  'other workspace': { as: { sub: 'own', workspace: 'elsewhere', role: 'owner' } },
}

/** Returns the credential that the caller sends; `null` for none. */
export function tokenOf(kind: CallerKind, issuer: { token(options: TokenOptions): string }): string | null {
  return kind.token ?? (kind.as === null ? null : issuer.token(kind.as))
}

/** The share list of every document in the tables. The documents belong to `own`. */
export const SHARES = [
  { userId: 'co', permission: 'owner' },
  { userId: 'ed', permission: 'edit' },
  { userId: 'vi', permission: 'view' },
]
