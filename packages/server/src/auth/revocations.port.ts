/** A token that must no longer be accepted. */
export interface Revocation {
  readonly jti: string
  /** ms since 1970. */
  readonly revokedAtMs: number
}

/**
 * The durable revocation set and the polling cursor. [AUTH-14, AUTH-16]
 * When a promise of `add` resolves, every entry (and the cursor, when given) is durable, in one transaction.
 * Storage faults reject with `RelayError('UNAVAILABLE' | 'NOT_PERSISTED')`.
 */
export interface RevocationStore {
  /** Entries are deduplicated by jti; the earliest `revokedAtMs` stays. The oldest beyond `keep` are dropped in the same transaction. */
  add(entries: readonly Revocation[], options: { readonly cursor?: string; readonly keep: number }): Promise<void>
  /** Every entry, oldest first. */
  all(): Promise<readonly Revocation[]>
  /** The `since` of the next poll, or `null` before the first successful one. */
  cursor(): Promise<string | null>
}
