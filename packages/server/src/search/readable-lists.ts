import type { Access } from '../access/access.ts'
import type { DocumentHead } from '../documents/document-store.port.ts'

/** What a caller may read of a workspace, last change first. */
export interface ReadableList {
  readonly heads: readonly DocumentHead[]
  /** Those with edits that their stored body lacks. */
  readonly edited: readonly DocumentHead[]
}

/** Callers whose lists are kept for each state of a workspace. */
const MOST_CALLERS = 32

/**
 * Keeps what each caller may read, as long as the store answers the same array: then no document, owner or share has changed, so nobody's
 * rights are older than the request. Rights of ten thousand documents take milliseconds to decide, and most searches follow another
 * one. [AG-61]
 */
export class ReadableLists {
  readonly #known = new WeakMap<readonly DocumentHead[], Map<string, ReadableList>>()

  /** `mayRead` decides by the caller's role and id, the document's head, and what does not change while the relay runs. */
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
