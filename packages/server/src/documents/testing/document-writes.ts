import { blobReferencesIn } from '@docrelay/model/blob-references'
import type { BodyFacts } from '@docrelay/model/body-facts'
import type { UpdateLog } from '../../sync/update-log.port.ts'
import type { DocumentHead, DocumentRef, DocumentWrite, WriteOutcome } from '../document-store.port.ts'

export const noFacts: BodyFacts = {
  title: 'Untitled Document',
  createdAt: null,
  canvasPageCount: 0,
  prosePageCount: 0,
  shapeCount: 0,
  filledProsePageCount: 0,
  carried: {},
}

export const bodyOf = (text: string, facts: Partial<BodyFacts> = {}) => ({
  bytes: new TextEncoder().encode(text),
  facts: { ...noFacts, ...facts },
  blobReferences: blobReferencesIn(text),
})

export const textOf = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes)

export const creation = (ref: DocumentRef, text = '{}', more: Partial<DocumentWrite> = {}): DocumentWrite => ({
  ref,
  expect: { kind: 'absent' },
  set: { ownerId: 'ada', ownerName: 'Ada', titleChangedAtMs: 1000, body: bodyOf(text) },
  bump: true,
  nowMs: 1000,
  quotaBytes: null,
  log: { kind: 'cold' },
  ...more,
})

export const change = (head: DocumentHead, text: string, more: Partial<DocumentWrite> = {}): DocumentWrite => ({
  ref: { workspaceId: head.workspaceId, id: head.id },
  expect: { kind: 'document', key: head.key, version: head.version },
  set: { body: bodyOf(text) },
  bump: true,
  nowMs: head.updatedAtMs + 1000,
  quotaBytes: null,
  log: { kind: 'cold' },
  ...more,
})

export function written(outcome: WriteOutcome): DocumentHead {
  if (outcome.kind !== 'written') throw new Error(`not written: ${JSON.stringify(outcome)}`)
  return outcome.head
}

/** Returns the last sequence of a log; 0 for an empty log. The next record is appended after it. */
export async function endOfLog(updates: Pick<UpdateLog, 'load'>, key: number): Promise<number> {
  const log = await updates.load(key)
  if (log.kind !== 'loaded') return 0
  return log.records.at(-1)?.seq ?? log.snapshot?.throughSeq ?? 0
}

export const update = (...bytes: number[]) => Uint8Array.from(bytes)
