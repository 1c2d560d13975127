import type { IndexedState } from '../../../search/search-index.port.ts'

/** When more states than this are needed, one query reads the states of all documents. */
const MOST_KEYS = 500

/**
 * The states of documents that one index was seen to hold. An index only moves on to later states. So a document whose wanted state was seen in the
 * index is not looked up again: of ten thousand documents only those that changed are. [AG-64]
 */
export class HeldStates {
  readonly #held = new Map<number, IndexedState>()
  readonly #behind = new WeakMap<readonly IndexedState[], readonly IndexedState[]>()

  /** Returns the keys of the documents that the index is not known to hold in their present state. */
  behind(documents: readonly IndexedState[]): readonly number[] {
    const before = this.#behind.get(documents) ?? documents
    const now = before.filter((document) => !isHeld(this.#held.get(document.key), document))
    if (now.length < before.length || before === documents) this.#behind.set(documents, now)
    return now.map(({ key }) => key)
  }

  /** Returns the keys whose states must be read again; `null` for all. */
  toRead(behind: readonly number[]): readonly number[] | null {
    return behind.length > MOST_KEYS ? null : behind
  }

  learn(states: Iterable<IndexedState>): void {
    for (const state of states) this.#held.set(state.key, state)
  }
}

function isHeld(held: IndexedState | undefined, { version, updatedAtMs, coveredSeq }: IndexedState): boolean {
  return held?.version === version && held.updatedAtMs === updatedAtMs && held.coveredSeq === coveredSeq
}
