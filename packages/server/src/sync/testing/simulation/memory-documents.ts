import { boundedFacts } from '@docrelay/model/body-facts'
import {
  bodyBytes,
  type DocumentHead,
  type DocumentStore,
  type DocumentWrite,
  type OverQuota,
  sharedBytes,
  type WriteExpectation,
  type WriteOutcome,
} from '../../../documents/document-store.port.ts'
import { toldOf } from '../../../drivers/sql/told-write.ts'
import type { RecoveryStore } from '../../../recovery/recovery-store.port.ts'
import { type MemoryTables, nameOf } from './memory-store.ts'
import { addRecord } from './memory-updates.ts'

/**
 * Returns the document store over tables in memory. It makes its checks in the same order as the SQL driver. It does not keep remembered
 * writes and stored calls.
 */
export function memoryDocuments(tables: MemoryTables): DocumentStore {
  return {
    state: async (ref) => tables.state(ref),
    heads: async (workspaceId, ids) => tables.all(workspaceId).flatMap(({ head }) => (ids.includes(head.id) ? [head] : [])),
    async read(ref) {
      const document = tables.of(ref)
      return document === undefined ? null : { head: document.head, body: document.body }
    },
    write: async (write) => writeDocument(tables, write),
    remembered: async () => null,
    async overQuota({ workspaceId, grownBytes, quotaBytes }) {
      return overQuota(tables, workspaceId, grownBytes, quotaBytes)
    },
    async remove(ref, key, deletedAtMs, actor = '', only = undefined) {
      const document = tables.of(ref)
      if (document === undefined || document.head.key !== key) return { kind: 'gone' }
      const { head: before } = document
      if (only !== undefined && (before.version !== only.version || before.lastSeq !== only.lastSeq)) return { kind: 'changed' }
      const tombstone = tables.bury(before, deletedAtMs)
      tables.tell({ kind: 'deleted', before, tombstone, actor })
      return { kind: 'removed', tombstone }
    },
    async list(workspaceId) {
      const heads = tables.all(workspaceId).map(({ head }) => head)
      return heads.sort((a, b) => b.updatedAtMs - a.updatedAtMs || (a.id < b.id ? -1 : 1))
    },
    referencing: async () => [],
    usedBytes: async (workspaceId) => usedBytes(tables, workspaceId),
    formerClients: async () => [],
    giveLineages: async (afterKey) => ({ lastKey: afterKey, more: false }),
    async purgeTombstones(beforeMs, limit) {
      const old = [...tables.tombstones.values()].filter(({ deletedAtMs }) => deletedAtMs < beforeMs).slice(0, limit)
      for (const tombstone of old) tables.tombstones.delete(nameOf(tombstone))
      return old.length
    },
    purgeFormerClients: async () => 0,
    purgeRemembered: async () => 0,
    async behind(afterKey, limit) {
      const looked = tables
        .all()
        .flatMap(({ head }) => (head.key > afterKey ? [head] : []))
        .slice(0, limit)
      const lagging = looked.filter(({ coveredSeq, lastSeq }) => coveredSeq < lastSeq)
      const nextKey = looked.length === limit ? (looked.at(-1)?.key ?? null) : null
      return { documents: lagging.map(({ workspaceId, id, key }) => ({ workspaceId, id, key })), nextKey }
    },
  }
}

/** Returns a recovery store with the part that rooms use: it captures and lists points, and restores none. */
export function memoryRecovery(tables: MemoryTables): RecoveryStore {
  return {
    list: async (key) => tables.byKey.get(key)?.points ?? [],
    read: async () => ({ kind: 'absent' }),
    async capture(key, reason, nowMs) {
      const document = tables.byKey.get(key)
      if (document === undefined) return { kind: 'gone' }
      const { version, sizeBytes } = document.head
      const point = { pointId: `${nowMs}-v${version}`, createdAtMs: nowMs, version, sizeBytes, reason }
      document.points = [point, ...document.points]
      return { kind: 'captured', point }
    },
    restore: async () => ({ kind: 'conflict' }),
  }
}

function writeDocument(tables: MemoryTables, write: DocumentWrite): WriteOutcome {
  const { ref, log } = write
  const current = tables.state(ref)
  const head = current.kind === 'document' ? current.head : null
  if (!isExpected(write.expect, current)) return { kind: 'conflict', current }
  if (log.kind === 'live' && log.lastSeq !== (head?.lastSeq ?? 0)) return { kind: 'conflict', current }
  if (log.kind === 'cold' && head !== null && head.lastSeq > head.coveredSeq) return { kind: 'unsettled', current: head }
  const grownBytes = grownBy(write, head)
  const refusal = overQuota(tables, ref.workspaceId, grownBytes, write.quotaBytes)
  if (refusal !== null) return refusal
  const lastVersion = current.kind === 'tombstone' ? current.tombstone.lastServerVersion : 0
  const after = head === null ? create(tables, write, lastVersion + 1) : update(tables, write, head)
  const told = toldOf(write, head, after)
  if (told !== null) tables.tell(told)
  return { kind: 'written', head: after }
}

function isExpected(expect: WriteExpectation, current: ReturnType<MemoryTables['state']>): boolean {
  switch (expect.kind) {
    case 'document':
      return current.kind === 'document' && current.head.key === expect.key && current.head.version === expect.version
    case 'tombstone':
      return current.kind === 'tombstone' && current.tombstone.lastServerVersion === expect.lastServerVersion
    case 'absent':
      return current.kind === 'absent'
  }
}

function create(tables: MemoryTables, { ref, set, nowMs, log }: DocumentWrite, version: number): DocumentHead {
  const { body, ownerId, ownerName, sharedWith = [] } = set
  if (body === undefined || ownerId === undefined || ownerName === undefined)
    throw new Error(`a document cannot be created without body and owner: ${ref.id}`)
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs, titleChangedAtMs: set.titleChangedAtMs ?? nowMs }
  const covered = { lastSeq: 0, coveredSeq: 0, bodyAhead: log.kind !== 'live', owner: null }
  const sizeBytes = body.bytes.length + sharedBytes(sharedWith)
  const shown = { workspaceId: ref.workspaceId, id: ref.id, version, ownerId, ownerName, sharedWith }
  const { bytes } = body
  const facts = boundedFacts(body.facts)
  return tables.add({ ...shown, ...times, ...covered, collectionId: set.collectionId ?? null, sizeBytes, facts }, bytes.slice())
}

function update(tables: MemoryTables, { ref, set, bump, nowMs, log }: DocumentWrite, head: DocumentHead): DocumentHead {
  const document = tables.of(ref)
  if (document === undefined) throw new Error('the document was there a moment ago')
  const sharedWith = set.sharedWith ?? head.sharedWith
  if (set.body !== undefined) document.body = set.body.bytes.slice()
  document.head = {
    ...head,
    version: bump ? head.version + 1 : head.version,
    ownerId: set.ownerId ?? head.ownerId,
    ownerName: set.ownerName ?? head.ownerName,
    collectionId: set.collectionId === undefined ? head.collectionId : set.collectionId,
    sharedWith,
    updatedAtMs: bump ? nowMs : head.updatedAtMs,
    titleChangedAtMs: set.titleChangedAtMs ?? head.titleChangedAtMs,
    sizeBytes: (set.body?.bytes.length ?? bodyBytes(head)) + sharedBytes(sharedWith),
    facts: set.body === undefined ? head.facts : boundedFacts(set.body.facts),
    ...(log.kind === 'cold' && set.body !== undefined && { bodyAhead: true }),
  }
  if (log.kind !== 'live') return document.head
  for (const record of log.append) addRecord(document, { ...record, atMs: nowMs })
  const { lastSeq } = document.head
  if (log.bodyLater === undefined && log.coversNoMore !== true)
    document.head = { ...document.head, coveredSeq: lastSeq, bodyAhead: false }
  return document.head
}

function grownBy({ set, log }: DocumentWrite, head: DocumentHead | null): number {
  if (log.kind === 'live' && log.bodyLater !== undefined) return log.bodyLater.grownBytes
  const body = set.body?.bytes.length ?? (head === null ? 0 : bodyBytes(head))
  return body + sharedBytes(set.sharedWith ?? head?.sharedWith ?? []) - (head?.sizeBytes ?? 0)
}

function usedBytes(tables: MemoryTables, workspaceId: string): number {
  return tables.all(workspaceId).reduce((sum, { head }) => sum + head.sizeBytes, 0)
}

function overQuota(tables: MemoryTables, workspaceId: string, addedBytes: number, quotaBytes: number | null): OverQuota | null {
  if (quotaBytes === null || addedBytes <= 0) return null
  const used = usedBytes(tables, workspaceId)
  return used + addedBytes > quotaBytes ? { kind: 'over-quota', usedBytes: used, addedBytes } : null
}
