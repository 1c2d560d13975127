import type { Room } from './room.ts'
import type { Writer } from './room-save.ts'

const HOUR_MS = 3_600_000

/** Counts live bodies above their size limit, which are stored anyway, and logs them at most once an hour. [LIFE-16] */
export interface OverCap {
  /**
   * Called when a body was stored. The limit is `maxDocBytes` of `writer`, who is the last writer. Before the first edit `writer` is `null`,
   * and the configured limit applies.
   */
  note(sizeBytes: number, writer: Pick<Writer, 'maxDocBytes'> | null): void
}

export function overCap({ host, ref }: Room): OverCap {
  let loggedMs = Number.NEGATIVE_INFINITY
  return {
    note(sizeBytes, writer) {
      const { maxDocBytes } = writer ?? host.options
      if (maxDocBytes === null || sizeBytes <= maxDocBytes) return
      host.count('doc_over_cap_snapshots')
      const now = host.clock.monotonicMs()
      if (now - loggedMs < HOUR_MS) return
      loggedMs = now
      host.log.warn('document.over_cap', 'A live document is above max_doc_bytes.', {
        workspace: ref.workspaceId,
        docId: ref.id,
        sizeBytes,
        maxDocBytes,
      })
    },
  }
}
