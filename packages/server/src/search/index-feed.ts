import type { Timers } from '../kernel/timers.ts'
import type { IndexedRef, SearchIndex } from './search-index.port.ts'

/** Reports stored documents to an index. */
export interface IndexFeed extends Disposable {
  stored(ref: IndexedRef): void
}

/**
 * Changes are gathered for a second and reported together, so that a document that is typed into is looked at once a second. A change is found within
 * two seconds. [AG-63]
 */
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
