import type { FindRequest, IndexedState } from '../../../search/search-index.port.ts'

/** The states of a list of documents as one block of numbers, since copying ten thousand objects would stop the loop for long. */
type PackedStates = Float64Array<ArrayBuffer>

/**
 * A request on its way to the thread that searches. The thread keeps the lists of documents that it was sent, because most searches are for
 * the same documents as one before.
 */
export interface PackedRequest extends Omit<FindRequest, 'documents'> {
  readonly list: number
  /** `null`: the thread holds the list. */
  readonly states: PackedStates | null
  /** A list that is not used any more. */
  readonly forget: number | null
}

const MEMBERS = 4
/** Lists that a thread keeps; one of ten thousand documents takes about two megabytes. */
const MOST_LISTS = 8

/** The lists that one thread was sent. Lists are told apart by identity: they are never changed. */
export class SentLists {
  readonly #numbers = new WeakMap<readonly IndexedState[], number>()
  /** Used longest ago first. */
  readonly #held = new Set<number>()
  #last = 0

  pack({ documents, ...request }: FindRequest): PackedRequest {
    const known = this.#numbers.get(documents)
    const isHeld = known !== undefined && this.#held.delete(known)
    const list = known ?? ++this.#last
    this.#numbers.set(documents, list)
    this.#held.add(list)
    const [oldest] = this.#held
    const forget = this.#held.size > MOST_LISTS && oldest !== undefined ? oldest : null
    if (forget !== null) this.#held.delete(forget)
    return { ...request, list, states: isHeld ? null : packStates(documents), forget }
  }
}

/** The other end: requests are unpacked in the order in which they were packed. */
export class ReceivedLists {
  readonly #lists = new Map<number, readonly IndexedState[]>()

  unpack({ list, states, forget, ...request }: PackedRequest): FindRequest {
    if (forget !== null) this.#lists.delete(forget)
    if (states !== null) this.#lists.set(list, unpackStates(states))
    return { ...request, documents: this.#lists.get(list) ?? [] }
  }
}

function packStates(documents: readonly IndexedState[]): PackedStates {
  const states = new Float64Array(documents.length * MEMBERS)
  let at = 0
  for (const { key, version, updatedAtMs, coveredSeq } of documents) {
    states[at++] = key
    states[at++] = version
    states[at++] = updatedAtMs
    states[at++] = coveredSeq
  }
  return states
}

function unpackStates(states: PackedStates): readonly IndexedState[] {
  const documents: IndexedState[] = []
  for (let at = 0; at < states.length; at += MEMBERS) {
    const [key = 0, version = 0, updatedAtMs = 0, coveredSeq = 0] = states.subarray(at, at + MEMBERS)
    documents.push({ key, version, updatedAtMs, coveredSeq })
  }
  return documents
}
