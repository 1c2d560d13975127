import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'

/** The documents of a workspace that a caller may read, last change first. */
export interface ReadableList {
  readonly heads: readonly DocumentHead[]
  /** The documents of `heads` whose stored body lacks edits. */
  readonly edited: readonly DocumentHead[]
}

/** For each state of a workspace the lists of at most this many callers are kept. */
const MOST_CALLERS = 32

/**
 * Keeps the list of each caller as long as the store returns the same array: then no document, owner or share has changed, so the list is not older
 * than the request. Deciding the rights of ten thousand documents takes milliseconds, and most searches follow another search of the same caller.
 * [AG-61]
 */
export class ReadableLists {
  readonly #known = new WeakMap<readonly DocumentHead[], Map<string, ReadableList>>()

  /**
   * Returns the list of a caller. `mayRead` may depend on the role and id of the caller, on the head, and on what does not change while the relay
   * runs.
   */
  of({ role, sub }: Access, all: readonly DocumentHead[], mayRead: (head: DocumentHead) => boolean): ReadableList {
    const byCaller = this.#known.get(all) ?? new Map<string, ReadableList>()
    this.#known.set(all, byCaller)
    const caller = `${role} ${sub}`
    const known = byCaller.get(caller)
    if (known !== undefined) return known
    const heads = all.filter(mayRead)
    const list = { heads, edited: heads.filter((head) => head.coveredSeq < head.lastSeq) }
    const [oldest] = byCaller.keys()
    if (byCaller.size >= MOST_CALLERS && oldest !== undefined) byCaller.delete(oldest)
    byCaller.set(caller, list)
    return list
  }
}
