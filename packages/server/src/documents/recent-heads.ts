import type { DocumentHead, DocumentRef } from './document-store.port.ts'

/** The heads of at most this many documents are remembered. */
const MOST_HEADS = 1_000
/** A head with a larger document is not remembered: the size includes the share list, which may have 1 MiB. */
const MOST_BYTES = 65_536

/**
 * Remembers the heads of documents that this process has just stored, so that the next save need not ask the store first.
 *
 * A remembered head may be out of date. It may only be used for a plan that the store compares with the stored state: every
 * change of owner, shares, collection and facts gives a document another version, so the store answers a plan against an
 * outdated head with a conflict. A request must not be refused because of a remembered head. [LIFE-13]
 */
export interface RecentHeads {
  of(ref: DocumentRef): DocumentHead | null
  note(head: DocumentHead): void
}

export function createRecentHeads(): RecentHeads {
  /** Least recently stored first. */
  const heads = new Map<string, DocumentHead>()
  // Neither id can contain a NUL. [BODY-11]
  const keyOf = ({ workspaceId, id }: DocumentRef): string => `${workspaceId}\0${id}`
  return {
    of: (ref) => heads.get(keyOf(ref)) ?? null,
    note(head) {
      const key = keyOf(head)
      heads.delete(key)
      if (head.sizeBytes > MOST_BYTES) return
      heads.set(key, head)
      for (const oldest of heads.keys()) {
        if (heads.size <= MOST_HEADS) return
        heads.delete(oldest)
      }
    },
  }
}
