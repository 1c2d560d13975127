import type { FeedTable } from './feed-table.port.ts'

export type RevocationRow =
  | { readonly kind: 'revoked'; readonly id: number; readonly atMs: number; readonly jti: string; readonly revokedAtMs: number }
  /** A push or a poll was received completely, even if it had no new revocations. [AUTH-15] */
  | { readonly kind: 'heard'; readonly id: number; readonly atMs: number }

/**
 * Additions to the set of revocations, for the other nodes; the set itself is stored elsewhere. Rows are written only when
 * the store was opened for several nodes. Never shown to callers. [AUTH-14, FEED-2]
 */
export type RevocationFeed = FeedTable<RevocationRow>
