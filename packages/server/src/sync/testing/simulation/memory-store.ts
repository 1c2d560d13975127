import type { DocumentHead, DocumentState, DocumentRef, Tombstone } from '../../../documents/document-store.port.ts'
import type { Told } from '../../../drivers/sql/feed-writing.ts'
import type { Random } from '../../../kernel/ids.ts'
import { newId } from '../../../kernel/ids.ts'
import type { PointHead } from '../../../recovery/recovery-store.port.ts'
import type { LogRecord, Snapshot } from '../../update-log.port.ts'

/** The rows of one document. */
export interface StoredDocument {
  head: DocumentHead
  body: Uint8Array
  records: LogRecord[]
  /** At most two snapshots. The newest one comes last. */
  snapshots: Snapshot[]
  removals: { readonly atMs: number; readonly text: string }[]
  points: PointHead[]
}

/** The tables that the ports of this folder use. Every call of a port makes all of its changes or none. */
export class MemoryTables {
  readonly byKey = new Map<number, StoredDocument>()
  readonly tombstones = new Map<string, Tombstone>()
  readonly #keys = new Map<string, number>()
  readonly #random: Random
  /** Called in the transaction of a change with the row of the feed for other nodes. */
  tell: (told: Told) => void = () => undefined
  #nextKey = 1

  constructor(random: Random) {
    this.#random = random
  }

  of(ref: DocumentRef): StoredDocument | undefined {
    const key = this.#keys.get(nameOf(ref))
    return key === undefined ? undefined : this.byKey.get(key)
  }

  state(ref: DocumentRef): DocumentState {
    const document = this.of(ref)
    if (document !== undefined) return { kind: 'document', head: document.head }
    const tombstone = this.tombstones.get(nameOf(ref))
    return tombstone === undefined ? { kind: 'absent' } : { kind: 'tombstone', tombstone }
  }

  add(head: Omit<DocumentHead, 'key' | 'lineage'>, body: Uint8Array): DocumentHead {
    const created = { ...head, key: this.#nextKey++, lineage: this.newLineage() }
    this.byKey.set(created.key, { head: created, body, records: [], snapshots: [], removals: [], points: [] })
    this.#keys.set(nameOf(head), created.key)
    this.tombstones.delete(nameOf(head))
    return created
  }

  bury(head: DocumentHead, deletedAtMs: number): Tombstone {
    const { workspaceId, id } = head
    const tombstone = { workspaceId, id, deletedAtMs, lastServerVersion: head.version, ownerId: head.ownerId }
    this.byKey.delete(head.key)
    this.#keys.delete(nameOf(head))
    this.tombstones.set(nameOf(head), tombstone)
    return tombstone
  }

  newLineage(): string {
    return newId('', 16, this.#random)
  }

  /** Returns the documents in the order of their keys. */
  all(workspaceId?: string): readonly StoredDocument[] {
    return [...this.byKey.values()].filter(({ head }) => workspaceId === undefined || head.workspaceId === workspaceId)
  }
}

export function nameOf({ workspaceId, id }: DocumentRef): string {
  return JSON.stringify([workspaceId, id])
}
