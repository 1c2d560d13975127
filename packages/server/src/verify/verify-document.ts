import { blobReferencesIn } from '@docrelay/model/blob-references'
import type { DocumentBody } from '@docrelay/model/body'
import { readStoredBody } from '@docrelay/model/body-parse'
import { writeBody } from '@docrelay/model/body-write'
import * as Y from 'yjs'
import type { Random } from '../kernel/ids.ts'
import { project, refuseStaleTitle, removeDoubledProse } from '../sync/binding/binding.ts'
import { buildLive, buildSound } from '../sync/room/room-content.ts'
import type { Snapshot } from '../sync/update-log.port.ts'
import type { StoredDocument, StoredReference } from './stored-contents.port.ts'

/** `note`: nothing is lost or wrong, but the operator may want to know. */
export interface DocumentFinding {
  readonly level: 'damage' | 'note'
  readonly detail: string
}

/**
 * Returns the problems of a stored document: those that the store found in its rows, and whether its bytes can be decoded and agree with
 * each other. [OPS-11] Bytes with a wrong checksum are not decoded.
 */
export function documentFindings(document: StoredDocument, random: Random): readonly DocumentFinding[] {
  const body = decodedBody(document.body)
  const details = [
    ...document.problems,
    ...(body === 'undecodable' ? ['its body cannot be decoded'] : []),
    ...document.snapshots.flatMap((snapshot) => snapshotProblem(snapshot, random) ?? []),
    ...(stateProblem(document, body === 'undecodable' ? null : body, random) ?? []),
  ]
  return [...damages(details), ...repairNote(document), ...referenceFindings(document.references, document.body)]
}

/** Returns a note that tells the operator how to repair a damaged log. [CFG-11] */
function repairNote({ head, body, readable }: StoredDocument): readonly DocumentFinding[] {
  if (head === null || body === null || readable.problems.length === 0) return []
  return [{ level: 'note', detail: '`relay repair` with its id puts what can be read in the place of its damaged log' }]
}

/** Yields the problems of a document's recovery points. Each sentence begins with `name`. */
export async function* pointFindings(document: StoredDocument): AsyncGenerator<DocumentFinding> {
  for await (const { pointId, problems, body, references } of document.points()) {
    const undecodable = decodedBody(body) === 'undecodable' ? ['it cannot be decoded'] : []
    // For a point an unmetered grant is as good as a metered one: a grant that only points reference is not metered. [BLOB-16]
    const held = references.map(
      ({ hash, granted }) => ({ hash, granted: granted === 'unmetered' ? 'metered' : granted }) as const,
    )
    const found = [...damages([...problems, ...undecodable]), ...referenceFindings(held, body)]
    yield* found.map(({ level, detail }) => ({ level, detail: `recovery point ${pointId}: ${detail}` }))
  }
}

function damages(details: readonly string[]): readonly DocumentFinding[] {
  return details.map((detail) => ({ level: 'damage', detail }))
}

function decodedBody(bytes: Uint8Array | null): DocumentBody | null | 'undecodable' {
  if (bytes === null) return null
  try {
    return readStoredBody(bytes)
  } catch {
    return 'undecodable'
  }
}

function snapshotProblem({ update, stateVector, throughSeq }: Snapshot, random: Random): readonly string[] | null {
  try {
    const { doc } = buildLive([update], random)
    const same = sameVector(Y.decodeStateVector(stateVector), Y.decodeStateVector(Y.encodeStateVector(doc)))
    doc.destroy()
    return same ? null : [`the state vector of the snapshot through ${throughSeq} is not that of its content`]
  } catch (error) {
    return [`the snapshot through ${throughSeq} cannot be decoded: ${sentenceOf(error)}`]
  }
}

function sameVector(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): boolean {
  return a.size === b.size && [...a].every(([client, clock]) => b.get(client) === clock)
}

/** Decodes the whole log. When the body is recorded as containing exactly that log, both must have equal content. */
function stateProblem(
  { head, snapshots, tail }: StoredDocument,
  body: DocumentBody | null,
  random: Random,
): readonly string[] | null {
  if (tail === null) return null
  try {
    const newest = snapshots[0]
    const { doc, gap } = buildSound(
      [...(newest === undefined ? [] : [newest.update]), ...tail.map(({ update }) => update)],
      random,
    )
    if (gap !== null) {
      doc.destroy()
      return [GAP]
    }
    const settled = head !== null && !head.bodyAhead && head.coveredSeq === head.lastSeq
    const same = !settled || body === null || saysTheSame(doc, body, head.titleChangedAtMs)
    doc.destroy()
    return same ? null : ['its body and its Y state, which holds all of it, say different things']
  } catch (error) {
    return [`its log cannot be decoded: ${sentenceOf(error)}`]
  }
}

const GAP =
  'its log has a gap: later records build on an edit that is missing. It can be read and not written until a client that has the edit connects, or `relay repair` is run with its id'

/** Whether a Y.Doc and a body have equal content. Differences that the relay corrects when it loads a document do not count. [YDOC-7, YDOC-9] */
function saysTheSame(doc: Y.Doc, body: DocumentBody, titleChangedAtMs: number): boolean {
  const stored = writeBody(body)
  if (writeBody(project(doc, body)) === stored) return true
  removeDoubledProse(doc, null)
  refuseStaleTitle(doc, body, titleChangedAtMs, null)
  return writeBody(project(doc, body)) === stored
}

function referenceFindings(stored: readonly StoredReference[], body: Uint8Array | null): readonly DocumentFinding[] {
  const known = new Set(stored.map(({ hash }) => hash))
  const inContent = body === null ? [] : blobReferencesIn(new TextDecoder().decode(body))
  const unlisted = inContent.filter((hash) => !known.has(hash))
  return [
    ...unlisted.map((hash) => ({ level: 'damage' as const, detail: `the reference to blob ${hash} is not recorded` })),
    ...stored.flatMap(({ hash, granted }) => referenceFinding(hash, granted) ?? []),
  ]
}

function referenceFinding(hash: string, granted: StoredReference['granted']): DocumentFinding | null {
  switch (granted) {
    case 'metered':
      return null
    case 'unmetered':
      return { level: 'damage', detail: `blob ${hash} is referenced and not metered` }
    case 'no':
      // Not a damage: a body may reference a blob before that blob is uploaded.
      return { level: 'note', detail: `blob ${hash} is referenced, and the workspace does not hold it` }
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
