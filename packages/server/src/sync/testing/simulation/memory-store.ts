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
  /** The newest one comes last; at most two are kept. */
  snapshots: Snapshot[]
  removals: { readonly atMs: number; readonly text: string }[]
  points: PointHead[]
}

/** The tables behind the ports of this folder. Every call of a port changes them completely or not at all. */
export class MemoryTables {
  readonly byKey = new Map<number, StoredDocument>()
  readonly tombstones = new Map<string, Tombstone>()
  readonly #keys = new Map<string, number>()
  readonly #random: Random
  /** Called in the transaction of a change, with what other nodes are to be told. */
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

  /** In the order of their keys. */
  all(workspaceId?: string): readonly StoredDocument[] {
    return [...this.byKey.values()].filter(({ head }) => workspaceId === undefined || head.workspaceId === workspaceId)
  }
}

export function nameOf({ workspaceId, id }: DocumentRef): string {
  return JSON.stringify([workspaceId, id])
}
