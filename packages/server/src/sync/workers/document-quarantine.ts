import type { DocumentRef } from '../../documents/document-store.port.ts'

const KEPT_MS = 10 * 60_000

/**
 * Remembers which documents recently ended a worker. Such a document is kept in a separate worker for ten minutes, so that it affects no
 * other document if it ends its worker again. When it does so within these ten minutes, its whole workspace is kept there. [C6]
 */
export class Quarantine {
  private readonly documents = new Map<string, number[]>()
  private readonly workspaces = new Map<string, number>()
  private readonly nowMs: () => number

  constructor(nowMs: () => number) {
    this.nowMs = nowMs
  }

  note(ref: DocumentRef): void {
    const now = this.nowMs()
    const name = nameOf(ref)
    const ends = (this.documents.get(name) ?? []).filter((atMs) => now - atMs < KEPT_MS)
    ends.push(now)
    this.documents.set(name, ends)
    if (ends.length > 1) this.workspaces.set(ref.workspaceId, now)
  }

  /**
   * Quarantines a document that may have ended other nodes, for ten minutes from now. A repeated call starts the ten minutes again, but
   * does not quarantine the workspace as a second end of a worker does. [LIFE-26]
   */
  keep(ref: DocumentRef): void {
    const earlier = this.documents.get(nameOf(ref)) ?? []
    this.documents.set(nameOf(ref), [...earlier.slice(0, -1), this.nowMs()])
  }

  holds(ref: DocumentRef): boolean {
    const now = this.nowMs()
    const last = this.documents.get(nameOf(ref))?.at(-1)
    const workspace = this.workspaces.get(ref.workspaceId)
    return (last !== undefined && now - last < KEPT_MS) || (workspace !== undefined && now - workspace < KEPT_MS)
  }
}

const HEAVY_BYTES = 8 * 1024 * 1024
/** At most this many heavy documents are remembered. A document that was forgotten is recognised as heavy at its next load. */
const HEAVY_KEPT = 10_000

/** Remembers which documents are too large, or too slow to load, to share a worker with small documents. [C8] */
export class HeavyDocuments {
  private readonly names = new Set<string>()

  /** Records after a load whether a document is heavy. Before the load the size of the live state is not known. */
  note(ref: DocumentRef, heavy: boolean): void {
    this.names.delete(nameOf(ref))
    if (heavy) this.names.add(nameOf(ref))
    for (const oldest of this.names) {
      if (this.names.size <= HEAVY_KEPT) break
      this.names.delete(oldest)
    }
  }

  /** Returns whether a document is heavy. `sizeBytes` is the size of its stored body. */
  holds(ref: DocumentRef, sizeBytes: number): boolean {
    return sizeBytes > HEAVY_BYTES || this.names.has(nameOf(ref))
  }
}

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
