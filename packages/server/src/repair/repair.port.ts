import type { DocumentRef, StoredBody } from '../documents/document-store.port.ts'
import type { RebuiltLog } from '../sync/update-log.port.ts'
import type { StoredDocument } from '../verify/stored-contents.port.ts'

/** The new state of a document whose log is broken. */
export interface Repaired {
  readonly log: Pick<RebuiltLog, 'update' | 'stateVector' | 'detail'>
  /** A body equal to the new log; absent when the stored body already equals it. */
  readonly body?: StoredBody
  /** True when the new log has another Y history than the old one. Clients must then not merge their copies. [WS-61] */
  readonly startsAnew: boolean
}

/** A store in which one document is repaired, with or without a running relay. [CFG-11] */
export interface RepairStore extends AsyncDisposable {
  /** Returns the workspaces that have a document with this id, and those that have deleted one. */
  find(id: string): Promise<{ readonly stored: readonly string[]; readonly deleted: readonly string[] }>
  /**
   * Locks the document, calls `decide` with it and stores the result in the same transaction: the old rows of the log move to `set_aside`,
   * and the new state becomes the only snapshot. When `decide` returns `null`, nothing changes. Durable when the promise resolves.
   */
  repair(ref: DocumentRef, nowMs: number, decide: (document: StoredDocument) => Repaired | null): Promise<void>
}
