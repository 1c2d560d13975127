/** Whose copies are read and written: one person's, at one relay and in one workspace. */
export interface CopyScope {
  readonly origin: string
  /** The workspace that the application named; empty when it named none. */
  readonly workspace: string
  /** The `sub` of the person's token. */
  readonly sub: string
}

/** Where copies of documents are kept on this device. */
export interface Persistence {
  /**
   * Opens the newest copy of a document, or a place for one. When the named workspace has no copy, opens one that was made without a named
   * workspace. Such a copy may be of another workspace; then its lineage differs from the one that the relay names at the join.
   */
  open(scope: CopyScope, docId: string, now: () => number): Promise<StoredCopy>
  /** Removes every copy of the person at this origin, of every workspace; everybody's copies when `sub` is `null`. */
  clear(whose: { readonly origin: string; readonly sub: string | null }): Promise<void>
  /** Whether a copy that `clear` would remove holds words that the relay has not acknowledged. */
  hasUnsaved?(whose: { readonly origin: string; readonly sub: string | null }): Promise<boolean>
}

/** The copy of one document. It belongs to one lineage of the document; copies of different lineages are never mixed. */
export interface StoredCopy {
  /**
   * The stored content as one Yjs update; `null` when there is no copy yet. `unsaved`: whether the content has words that the relay has not
   * acknowledged; absent counts as true.
   */
  readonly content: { readonly lineage: string; readonly update: Uint8Array; readonly unsaved?: boolean } | null
  /** Begins a copy with the whole content of the document. Rejects when the platform refuses. */
  begin(lineage: string, update: Uint8Array, unsaved?: boolean): Promise<void>
  /**
   * Adds an update to the copy. `unsaved`: whether the caller now has unacknowledged words; this leaves the marks of other tabs as they are.
   * Resolves with false when somebody has cleared the copy.
   */
  append(update: Uint8Array, unsaved?: boolean): Promise<boolean>
  /** Call it when the relay has acknowledged everything in the copy at its opening, and everything that this object added. */
  saved?(): Promise<void>
  /**
   * Removes all copies of the document, whatever their lineage; with `keepsUnsaved` not those with words of somebody else, such as another
   * tab, that are not acknowledged.
   */
  remove(options?: { readonly keepsUnsaved?: boolean }): Promise<void>
}
