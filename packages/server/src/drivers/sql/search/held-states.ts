import type { IndexedState } from '../../../search/search-index.port.ts'

/** More states than this are read by one query for all. */
const MOST_KEYS = 500

/**
 * The states of documents that one index was seen to hold. An index moves on to later states only, so a document that it was once seen to
 * hold in the wanted state is not looked up again: of ten thousand documents only those that changed are. [AG-64]
 */
export class HeldStates {
  readonly #held = new Map<number, IndexedState>()
  readonly #behind = new WeakMap<readonly IndexedState[], readonly IndexedState[]>()

  /** Keys of the documents that the index is not known to hold in their present state. */
  behind(documents: readonly IndexedState[]): readonly number[] {
    const before = this.#behind.get(documents) ?? documents
    const now = before.filter((document) => !isHeld(this.#held.get(document.key), document))
    if (now.length < before.length || before === documents) this.#behind.set(documents, now)
    return now.map(({ key }) => key)
  }

  /** Which keys to read again, `null`: all. */
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
