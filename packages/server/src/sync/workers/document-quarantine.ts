import type { DocumentRef } from '../../documents/document-store.port.ts'

const KEPT_MS = 10 * 60_000

/**
 * Which documents ended a worker lately: the document itself, after a second end within ten minutes its whole workspace, is kept in a worker of
 * its own for ten minutes, so that a repeat hurts nobody else. [C6]
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

  holds(ref: DocumentRef): boolean {
    const now = this.nowMs()
    const last = this.documents.get(nameOf(ref))?.at(-1)
    const workspace = this.workspaces.get(ref.workspaceId)
    return (last !== undefined && now - last < KEPT_MS) || (workspace !== undefined && now - workspace < KEPT_MS)
  }
}

const HEAVY_BYTES = 8 * 1024 * 1024
/** Forgotten documents are found heavy again at their next load. */
const HEAVY_KEPT = 10_000

/** Which documents are too large, or were too slow to load, to share a worker with small ones. [C8] */
export class HeavyDocuments {
  private readonly names = new Set<string>()

  /** After a load, which alone knows the size of the live state. */
  note(ref: DocumentRef, heavy: boolean): void {
    this.names.delete(nameOf(ref))
    if (heavy) this.names.add(nameOf(ref))
    for (const oldest of this.names) {
      if (this.names.size <= HEAVY_KEPT) break
      this.names.delete(oldest)
    }
  }

  /** `sizeBytes`: of the stored body. */
  holds(ref: DocumentRef, sizeBytes: number): boolean {
    return sizeBytes > HEAVY_BYTES || this.names.has(nameOf(ref))
  }
}

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
