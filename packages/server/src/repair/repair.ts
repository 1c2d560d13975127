import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { writeBody } from '@docrelay/model/body-write'
import * as Y from 'yjs'
import type { DocumentHead, DocumentRef } from '../documents/document-store.port.ts'
import type { Clock } from '../kernel/clock.ts'
import { counted } from '../kernel/counted.ts'
import type { Random } from '../kernel/ids.ts'
import { project } from '../sync/binding/binding.ts'
import { seed } from '../sync/binding/binding-seed.ts'
import { materialised } from '../sync/room/room-body.ts'
import { buildLive, buildSound } from '../sync/room/room-content.ts'
import { indexedDoc } from '../sync/room/indexed-doc.ts'
import type { StoredDocument } from '../verify/stored-contents.port.ts'
import type { Repaired, RepairStore } from './repair.port.ts'

/**
 * The result of a repair; `lines` are for the operator. `sound`: the document needs no repair. `refused`: it has a problem that a repair cannot fix.
 */
export interface RepairReport {
  readonly kind: 'repaired' | 'sound' | 'refused'
  readonly lines: readonly string[]
}

export interface RepairDeps {
  readonly store: RepairStore
  readonly clock: Clock
  readonly random: Random
}

/**
 * Repairs a document whose log lacks records or cannot be read. [CFG-11, LIFE-5] Uses the readable part of the log when that contains
 * everything the body contains. Otherwise uses the stored body, which begins a new lineage. Leaves a sound document as it is.
 */
export async function repair({ store, clock, random }: RepairDeps, ref: DocumentRef): Promise<RepairReport> {
  let report: RepairReport = { kind: 'refused', lines: [`document ${JSON.stringify(ref.id)} is not there any more`] }
  await store.repair(ref, clock.nowMs(), (document) => {
    const decided = decideRepair(document, clock.nowMs(), random)
    report = decided.report
    return decided.repaired
  })
  return report
}

interface Decision {
  readonly report: RepairReport
  readonly repaired: Repaired | null
}

/** Decides how to repair a document, without changing anything. */
export function decideRepair(document: StoredDocument, nowMs: number, random: Random): Decision {
  const { head, body, tail, problems, readable } = document
  const name = `document ${JSON.stringify(document.id)} of workspace ${JSON.stringify(document.workspaceId)}`
  if (head === null) return refused(`${name}: its row is damaged, so nothing can be stored for it; restore a backup`)
  if (body === null && tail === null)
    return refused(`${name}: neither its log nor its body can be read; restore one of its recovery points or a backup`)
  if (body === null) return refused(`${name}: its body is damaged; restore one of its recovery points or a backup`)
  const given = { document, name, head, body: readStoredBody(body), nowMs, random }
  if (tail === null && !saysAllOfBody(given)) return fromBody(given)
  let live: ReturnType<typeof buildSound>
  try {
    live = buildSound(updatesOf(document), random)
  } catch {
    return fromBody(given)
  }
  try {
    if (live.gap !== null || readable.problems.length > 0) return fromLog(given, live)
    if (problems.length > 0)
      return refused(`${name}: its log is whole, and repair mends nothing else. Found: ${problems.join('; ')}`)
    return nothingDone('sound', `${name} has nothing to repair; nothing was changed`)
  } finally {
    live.doc.destroy()
  }
}

interface Given {
  readonly document: StoredDocument
  /** The name of the document in messages for the operator. */
  readonly name: string
  readonly head: DocumentHead
  readonly body: DocumentBody
  readonly nowMs: number
  readonly random: Random
}

/** Returns the newest good snapshot and the good records after it, without records above `throughSeq`. */
function updatesOf({ snapshots, readable }: StoredDocument, throughSeq = Number.POSITIVE_INFINITY): Uint8Array[] {
  const records = readable.records.filter(({ seq }) => seq <= throughSeq)
  return [...snapshots.slice(0, 1), ...records].map(({ update }) => update)
}

/**
 * Whether the complete beginning of a damaged log contains everything that the body contains. A cold write is in the body before it is in the log,
 * where it becomes the record after `coveredSeq`. With that record, the log contains the cold write. With only the records up to `coveredSeq`, the
 * log contains everything when its content equals that of the body. [LIFE-15]
 */
function saysAllOfBody({ document, head, body, random }: Given): boolean {
  const { throughSeq } = document.readable
  if (head.bodyAhead || throughSeq < head.coveredSeq) return false
  if (throughSeq > head.coveredSeq) return true
  try {
    const { doc } = buildLive(updatesOf(document, throughSeq), random)
    const same = writeBody(project(doc, body)) === writeBody(body)
    doc.destroy()
    return same
  } catch {
    return false
  }
}

/** Rebuilds the document from as much of its log as can be applied. The lineage stays, so a client that has the lost content may supply it. */
function fromLog({ document, name, head, body, nowMs }: Given, { doc, gap }: ReturnType<typeof buildSound>): Decision {
  const { records, problems } = document.readable
  const made = materialised({ body, facts: head.facts }, project(doc, body), nowMs, 'system')
  const repaired: Repaired = {
    log: {
      update: Y.encodeStateAsUpdate(doc),
      stateVector: Y.encodeStateVector(doc),
      detail: `relay repair: ${[...problems, ...(gap === null ? [] : ['the log has a gap'])].join('; ')}`,
    },
    ...(made.changed && { body: { bytes: made.bytes, facts: made.facts, blobReferences: made.blobReferences } }),
    startsAnew: false,
  }
  const newest = document.snapshots[0]
  const bringBack = 'a client that still has them brings them back when it connects'
  const missing = missingIn(records, newest?.throughSeq ?? 0, head.lastSeq)
  const lost = [
    ...(missing.length === 0 ? [] : [`lost: the edits of ${missing.join(', ')} of the log, missing or damaged; ${bringBack}`]),
    ...(gap === null
      ? []
      : [`lost: the edits of ${counted(gap.missing.size, 'client')} that build on the missing one; ${bringBack}`]),
  ]
  const lines = [
    `repaired ${name}`,
    `used: ${counted(records.length, 'record')} of the log${newest === undefined ? '' : ` and the snapshot through ${newest.throughSeq}`}, as far as they can be applied; the body was brought up to them`,
    ...(lost.length === 0 ? [NOTHING_LOST] : lost),
    KEPT,
  ]
  return { report: { kind: 'repaired', lines }, repaired }
}

/** Returns the missing sequences as text, for example `record 7` or `records 9 to 11`. */
function missingIn(records: readonly { readonly seq: number }[], start: number, last: number): string[] {
  const missing: string[] = []
  let next = start + 1
  for (const seq of [...records.map((record) => record.seq), last + 1]) {
    if (seq === next + 1) missing.push(`record ${next}`)
    else if (seq > next) missing.push(`records ${next} to ${seq - 1}`)
    next = seq + 1
  }
  return missing
}

const KEPT = 'the old rows are kept in the table set_aside'
const NOTHING_LOST = 'lost: nothing that was stored'

function fromBody({ document, name, head, body }: Given): Decision {
  const doc = indexedDoc()
  seed(doc, body)
  const repaired: Repaired = {
    log: {
      update: Y.encodeStateAsUpdate(doc),
      stateVector: Y.encodeStateVector(doc),
      detail: `relay repair: ${document.problems.join('; ') || 'the log cannot be decoded'}`,
    },
    startsAnew: true,
  }
  doc.destroy()
  const behind = head.bodyAhead ? 0 : head.lastSeq - head.coveredSeq
  const lines = [
    `repaired ${name}`,
    `used: the stored body, version ${head.version}; it has a new lineage, so editors drop their copies`,
    behind <= 0 ? NOTHING_LOST : `lost: what the last ${counted(behind, 'record')} of the log changed`,
    KEPT,
  ]
  return { report: { kind: 'repaired', lines }, repaired }
}

function refused(line: string): Decision {
  return nothingDone('refused', line)
}

function nothingDone(kind: 'sound' | 'refused', line: string): Decision {
  return { report: { kind, lines: [line] }, repaired: null }
}
