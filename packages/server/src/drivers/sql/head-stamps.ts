import type { DocumentHead } from '../../documents/document-store.port.ts'

/** A head, the checksums of its row and of its lineage, and about how many bytes it takes in memory. */
export interface CheckedHead {
  readonly crc32: number
  readonly lineageCrc32: number | null
  readonly bytes: number
  readonly head: DocumentHead
}

/** Reads the list of a workspace in two steps, so that a reader who remembers heads need not read them again. */
export interface HeadLists {
  /** Returns the stamps of a workspace, or of what may have changed in it since the mark of an earlier answer. */
  stamps(workspaceId: string, since: number | null): Promise<Stamps>
  /** Returns heads in no order. A damaged document does not make the list fail: it is left out and logged. [LIFE-5] */
  heads(keys: readonly number[]): Promise<readonly CheckedHead[]>
}

/**
 * The numbers of a stamp. Two heads with the same first three numbers and the same `lineage_crc32`, which is NaN before a document has a
 * lineage, can differ only in the other numbers, which are NaN when the log has no head. `owner` and `epoch` are also NaN when nobody owns
 * the document.
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
  /** Names the moment for a later call; `null` when the next call has to read everything again. */
  readonly mark: number | null
  /** The keys, also of other workspaces, whose documents alone may be others than at the given mark; `null`: all of them may. */
  readonly changed: readonly number[] | null
  /** `STAMP` numbers for each document of the workspace, or of those in `changed`, in list order, as the bytes of a Float64Array. */
  readonly numbers: Uint8Array
}
