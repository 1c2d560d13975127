/** Whose copies they are: a person's, of one relay and workspace. */
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
   * Opens the newest copy of a document, or a place for one. Where a workspace is named and has none, that is one that was made while none
   * was named; it may be of another workspace, which its lineage tells at the join.
   */
  open(scope: CopyScope, docId: string, now: () => number): Promise<StoredCopy>
  /** Removes every copy of the person at this origin, of whatever workspace; of everybody when `sub` is `null`. */
  clear(whose: { readonly origin: string; readonly sub: string | null }): Promise<void>
  /** Whether a copy that `clear` would remove holds words that the relay has not acknowledged. */
  hasUnsaved?(whose: { readonly origin: string; readonly sub: string | null }): Promise<boolean>
}

/** The copy of one document. It belongs to one lineage of the document; copies of different lineages are never mixed. */
export interface StoredCopy {
  /**
   * What was stored, as one Yjs update; `null` when there is no copy yet. `unsaved`: whether it holds words that the relay has not
   * acknowledged; a store that does not say counts as one that does.
   */
  readonly content: { readonly lineage: string; readonly update: Uint8Array; readonly unsaved?: boolean } | null
  /** Begins a copy with the whole content of the document. Rejects when the platform refuses. */
  begin(lineage: string, update: Uint8Array, unsaved?: boolean): Promise<void>
  /**
   * Adds an update to the copy. `unsaved`: whether who adds it has words then that are not acknowledged; what others have stays as they
   * said. Resolves with false when the copy is not there any more: somebody cleared it.
   */
  append(update: Uint8Array, unsaved?: boolean): Promise<boolean>
  /** The relay has acknowledged everything that the copy held when it was opened, and everything that was added by this object. */
  saved?(): Promise<void>
  /**
   * Removes all copies of the document, whatever their lineage; with `keepsUnsaved` not those with words of somebody else, such as another
   * tab, that are not acknowledged.
   */
  remove(options?: { readonly keepsUnsaved?: boolean }): Promise<void>
}
