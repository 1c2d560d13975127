import type { Timers } from '../kernel/timers.ts'
import type { IndexedRef, SearchIndex } from './search-index.port.ts'

/** Tells an index which documents were stored. */
export interface IndexFeed extends Disposable {
  stored(ref: IndexedRef): void
}

/** A second of changes is told at once, so that typing costs one look a document; a change is found within two. [AG-63] */
const GATHER_MS = 1000

export function createIndexFeed({ index, timers }: { index: Pick<SearchIndex, 'refresh'>; timers: Timers }): IndexFeed {
  const changed = new Map<number, IndexedRef>()
  let cancel: (() => void) | null = null
  const tell = (): void => {
    cancel = null
    const refs = [...changed.values()]
    changed.clear()
    void index.refresh(refs)
  }
  return {
    stored(ref) {
      changed.set(ref.key, ref)
      cancel ??= timers.after(GATHER_MS, tell)
    },
    [Symbol.dispose]() {
      cancel?.()
      cancel = null
    },
  }
}
