import type { FindRequest, IndexedState } from '../../../search/search-index.port.ts'

/** A request on its way to the thread that searches: as one block of numbers, since copying ten thousand objects would stop the loop for long. */
export interface PackedRequest extends Omit<FindRequest, 'documents'> {
  /** Four numbers for each document. */
  readonly states: Float64Array<ArrayBuffer>
}

const MEMBERS = 4

export function packRequest({ documents, ...request }: FindRequest): PackedRequest {
  const states = new Float64Array(documents.length * MEMBERS)
  for (const [n, { key, version, updatedAtMs, coveredSeq }] of documents.entries())
    states.set([key, version, updatedAtMs, coveredSeq], n * MEMBERS)
  return { ...request, states }
}

export function unpackRequest({ states, ...request }: PackedRequest): FindRequest {
  const documents: IndexedState[] = []
  for (let at = 0; at < states.length; at += MEMBERS) {
    const [key = 0, version = 0, updatedAtMs = 0, coveredSeq = 0] = states.subarray(at, at + MEMBERS)
    documents.push({ key, version, updatedAtMs, coveredSeq })
  }
  return { ...request, documents }
}
