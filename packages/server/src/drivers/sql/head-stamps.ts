import type { DocumentHead } from '../../documents/document-store.port.ts'

/** A head, the checksums of its row and of its lineage, and its approximate bytes in memory. */
export interface CheckedHead {
  readonly crc32: number
  readonly lineageCrc32: number | null
  readonly bytes: number
  readonly head: DocumentHead
}

/** Reads the list of a workspace in two steps, stamps and heads, so that a reader that remembers heads need not read them again. */
export interface HeadLists {
  /** Returns the stamps of a workspace, or only of documents that may have changed since `since`, the mark of an earlier answer. */
  stamps(workspaceId: string, since: number | null): Promise<Stamps>
  /** Returns heads in no particular order. A damaged document is left out and logged, and does not make the list fail. [LIFE-5] */
  heads(keys: readonly number[]): Promise<readonly CheckedHead[]>
}

/**
 * The numbers of a stamp. When two stamps have the same `key`, `version`, `crc32` and `lineage_crc32`, the heads can differ only in the numbers of
 * the stamp. `lineage_crc32` is NaN before a document has a lineage. The numbers of the log are NaN when the log has no head. `owner` and `epoch` are
 * NaN when the document has no owner.
 */
export const STAMP = [
  'key',
  'version',
  'crc32',
  'last_seq',
  'covered_seq',
  'body_ahead',
  'owner',
  'epoch',
  'lineage_crc32',
] as const

export interface Stamps {
  /** Identifies this moment for a later call; `null` when the next call has to read all stamps. */
  readonly mark: number | null
  /** Keys of all documents, also in other workspaces, that may have changed since the given mark; `null` when any document may have changed. */
  readonly changed: readonly number[] | null
  /** The numbers of `STAMP` for each document of the workspace, or for those in `changed`, in list order, as the bytes of a Float64Array. */
  readonly numbers: Uint8Array
}
