import type { DocumentRef } from '../documents/document-store.port.ts'

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

function nameOf(ref: DocumentRef): string {
  return `${ref.workspaceId}\n${ref.id}`
}
