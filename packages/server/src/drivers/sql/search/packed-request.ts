import type { FindRequest, IndexedState } from '../../../search/search-index.port.ts'

/** The states of a list of documents as one block of numbers. Copying ten thousand objects to a thread would block the event loop. */
type PackedStates = Float64Array<ArrayBuffer>

/**
 * A request as it is sent to the search thread. The thread keeps the lists of documents that it was sent, because most searches use the same list as
 * an earlier one.
 */
export interface PackedRequest extends Omit<FindRequest, 'documents'> {
  readonly list: number
  /** The states of the list; `null` when the thread has the list. */
  readonly states: PackedStates | null
  /** The number of a list that the thread can forget. */
  readonly forget: number | null
}

const MEMBERS = 4
/** A thread keeps at most this many lists. A list of ten thousand documents takes about two megabytes. */
const MOST_LISTS = 8

/** Remembers which lists one thread was sent. Lists are compared by identity, because they are never changed. */
export class SentLists {
  readonly #numbers = new WeakMap<readonly IndexedState[], number>()
  /** Numbers of the lists that the thread has, least recently used first. */
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

/** The lists in the receiving thread. Requests must be unpacked in the order in which they were packed. */
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
