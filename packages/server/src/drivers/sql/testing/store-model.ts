import type {
  DocumentHead,
  DocumentRef,
  DocumentState,
  DocumentWrite,
  Tombstone,
  WriteOutcome,
} from '../../../documents/document-store.port.ts'
import { noFacts } from '../../../documents/testing/document-writes.ts'
import type { AppendOutcome, AppendRecord, Snapshot } from '../../../sync/update-log.port.ts'

interface ModelDocument {
  head: DocumentHead
  body: Uint8Array
  /** Every record ever appended, by sequence from 1. */
  readonly records: AppendRecord[]
  snapshots: Snapshot[]
}

type Slot =
  | { readonly kind: 'document'; readonly document: ModelDocument }
  | { readonly kind: 'tombstone'; readonly tombstone: Tombstone }

/**
 * A model in memory of the contract of the storage ports; the random test compares the store with it. The model gets the keys and lineages of the
 * store at creation.
 */
export class StoreModel {
  readonly #slots = new Map<string, Slot>()

  state(ref: DocumentRef): DocumentState {
    const slot = this.#slots.get(slotName(ref))
    if (slot === undefined) return { kind: 'absent' }
    return slot.kind === 'tombstone' ? slot : { kind: 'document', head: slot.document.head }
  }

  body(ref: DocumentRef): Uint8Array | null {
    return this.#document(ref)?.body ?? null
  }

  write(write: DocumentWrite, created: Pick<DocumentHead, 'key' | 'lineage'>): WriteOutcome {
    const current = this.state(write.ref)
    if (!holds(write, current)) return { kind: 'conflict', current }
    const head = current.kind === 'document' ? current.head : null
    if (write.log.kind === 'cold' && head !== null && head.coveredSeq < head.lastSeq) return { kind: 'unsettled', current: head }
    const body = write.set.body
    const bodyBytes = body?.bytes.byteLength ?? this.body(write.ref)?.byteLength ?? 0
    const shares = JSON.stringify(write.set.sharedWith ?? head?.sharedWith ?? [])
    const sizeBytes = bodyBytes + (shares === '[]' ? 0 : Buffer.byteLength(shares))
    const addedBytes = sizeBytes - (head?.sizeBytes ?? 0)
    const usedBytes = this.usedBytes(write.ref.workspaceId)
    if (write.quotaBytes !== null && addedBytes > 0 && usedBytes + addedBytes > write.quotaBytes) {
      return { kind: 'over-quota', usedBytes, addedBytes }
    }
    const document = this.#document(write.ref) ?? this.#blank(write, current, created)
    if (head !== null && write.bump) document.head = { ...document.head, version: head.version + 1, updatedAtMs: write.nowMs }
    const { body: _, ...members } = write.set
    document.head = { ...document.head, ...members, sizeBytes }
    if (body !== undefined) {
      document.body = body.bytes
      document.head = { ...document.head, facts: body.facts }
      if (write.log.kind === 'cold') document.head = { ...document.head, bodyAhead: true }
    }
    if (write.log.kind === 'live') {
      for (const { actor, update } of write.log.append) {
        const { records } = document
        records.push({ key: document.head.key, afterSeq: records.length, actor, atMs: write.nowMs, update })
      }
      document.head = {
        ...document.head,
        lastSeq: document.records.length,
        coveredSeq: document.records.length,
        bodyAhead: false,
      }
    }
    this.#slots.set(slotName(write.ref), { kind: 'document', document })
    return { kind: 'written', head: document.head }
  }

  append(record: AppendRecord): AppendOutcome {
    const document = this.#byKey(record.key)
    if (document === null) return { kind: 'gone' }
    const { head } = document
    const { catchUp } = record
    if (record.afterSeq !== head.lastSeq) return { kind: 'conflict' }
    if (catchUp !== undefined && catchUp.version !== head.version) return { kind: 'conflict' }
    document.records.push(record)
    document.head = { ...head, lastSeq: head.lastSeq + 1, bodyAhead: catchUp === undefined && head.bodyAhead }
    return { kind: 'appended', seq: document.head.lastSeq }
  }

  compact(key: number, snapshot: Snapshot): 'stored' | 'stale' | 'gone' {
    const document = this.#byKey(key)
    if (document === null) return 'gone'
    const newest = document.snapshots[0]
    if (newest !== undefined && newest.throughSeq >= snapshot.throughSeq) return 'stale'
    document.snapshots = [snapshot, ...document.snapshots.slice(0, 1)]
    return 'stored'
  }

  remove(ref: DocumentRef, key: number, deletedAtMs: number): 'removed' | 'gone' {
    const document = this.#document(ref)
    if (document?.head.key !== key) return 'gone'
    const { version, ownerId } = document.head
    const tombstone = { workspaceId: ref.workspaceId, id: ref.id, deletedAtMs, lastServerVersion: version, ownerId }
    this.#slots.set(slotName(ref), { kind: 'tombstone', tombstone })
    return 'removed'
  }

  purge(beforeMs: number): number {
    const old = [...this.#slots].filter(([, slot]) => slot.kind === 'tombstone' && slot.tombstone.deletedAtMs < beforeMs)
    for (const [name] of old) this.#slots.delete(name)
    return old.length
  }

  usedBytes(workspaceId: string): number {
    return this.#heads(workspaceId).reduce((sum, head) => sum + head.sizeBytes, 0)
  }

  list(workspaceId: string): DocumentHead[] {
    return this.#heads(workspaceId).sort((a, b) => b.updatedAtMs - a.updatedAtMs || (a.id < b.id ? -1 : 1))
  }

  /** Returns the expected result of `load`. */
  log(key: number): unknown {
    const document = this.#byKey(key)
    if (document === null) return { kind: 'gone' }
    const snapshot = document.snapshots[0] ?? null
    const records = document.records
      .map(({ actor, atMs, update }, i) => ({ seq: i + 1, actor, atMs, update }))
      .slice(snapshot?.throughSeq ?? 0)
    return { kind: 'loaded', snapshot, records, removals: [] }
  }

  #document(ref: DocumentRef): ModelDocument | null {
    const slot = this.#slots.get(slotName(ref))
    return slot?.kind === 'document' ? slot.document : null
  }

  #byKey(key: number): ModelDocument | null {
    for (const slot of this.#slots.values()) if (slot.kind === 'document' && slot.document.head.key === key) return slot.document
    return null
  }

  #heads(workspaceId: string): DocumentHead[] {
    const heads = [...this.#slots.values()].flatMap((slot) => (slot.kind === 'document' ? [slot.document.head] : []))
    return heads.filter((head) => head.workspaceId === workspaceId)
  }

  #blank(
    { ref, set, nowMs }: DocumentWrite,
    current: DocumentState,
    created: Pick<DocumentHead, 'key' | 'lineage'>,
  ): ModelDocument {
    const head: DocumentHead = {
      workspaceId: ref.workspaceId,
      id: ref.id,
      key: created.key,
      lineage: created.lineage,
      version: current.kind === 'tombstone' ? current.tombstone.lastServerVersion + 1 : 1,
      ownerId: '',
      ownerName: '',
      collectionId: null,
      sharedWith: [],
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      titleChangedAtMs: nowMs,
      sizeBytes: 0,
      facts: set.body?.facts ?? { ...noFacts, title: '' },
      lastSeq: 0,
      coveredSeq: 0,
      bodyAhead: true,
      owner: null,
    }
    return { head, body: new Uint8Array(), records: [], snapshots: [] }
  }
}

function holds(write: DocumentWrite, current: DocumentState): boolean {
  const { expect, log } = write
  if (expect.kind !== current.kind) return false
  if (expect.kind === 'tombstone' && current.kind === 'tombstone')
    return expect.lastServerVersion === current.tombstone.lastServerVersion
  if (expect.kind !== 'document' || current.kind !== 'document') return true
  if (log.kind === 'live' && log.lastSeq !== current.head.lastSeq) return false
  return expect.key === current.head.key && expect.version === current.head.version
}

const slotName = (ref: DocumentRef) => `${ref.workspaceId} ${ref.id}`
