import type { DocumentHead } from '../../documents/document-store.port.ts'

/** A head, the checksum of its row, and about how many bytes it takes in memory. */
export interface CheckedHead {
  readonly crc32: number
  readonly bytes: number
  readonly head: DocumentHead
}

/** Reads the list of a workspace in two steps, so that a reader who remembers heads need not read them again. */
export interface HeadLists {
  /** Returns `STAMP` numbers for each document of the workspace, in list order, as the bytes of a Float64Array. */
  stamps(workspaceId: string): Promise<Uint8Array>
  /** Returns heads in no order. A damaged document does not make the list fail: it is left out and logged. [LIFE-5] */
  heads(keys: readonly number[]): Promise<readonly CheckedHead[]>
}

/**
 * The numbers of a stamp. Heads with equal first three numbers differ at most in the other three. NaN when the log has
 * no head.
 */
export const STAMP = ['key', 'version', 'crc32', 'last_seq', 'covered_seq', 'body_ahead'] as const
