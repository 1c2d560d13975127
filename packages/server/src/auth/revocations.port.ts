/** A token that must no longer be accepted. */
export interface Revocation {
  readonly jti: string
  /** ms since 1970. */
  readonly revokedAtMs: number
}

/**
 * The durable set of revocations and the cursor of the poll. [AUTH-14, AUTH-16] When `add` resolves, every entry (and
 * the cursor, when given) is durable, in one transaction. Storage faults reject with `RelayError('UNAVAILABLE' |
 * 'NOT_PERSISTED')`.
 */
export interface RevocationStore {
  /**
   * Keeps one entry for each jti, with the earliest `revokedAtMs`. Drops the oldest entries beyond `keep` in the same transaction. `isWhole`: these
   * are the last entries of a push or poll that was received completely; other nodes learn this together with the entries. [AUTH-15]
   */
  add(
    entries: readonly Revocation[],
    options: { readonly cursor?: string; readonly keep: number; readonly isWhole?: boolean },
  ): Promise<void>
  /** Returns every entry, oldest first. */
  all(): Promise<readonly Revocation[]>
  /** Returns the `since` of the next poll, or `null` before the first successful poll. */
  cursor(): Promise<string | null>
}
