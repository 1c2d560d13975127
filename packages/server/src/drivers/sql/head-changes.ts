import type { ChangeStamps } from './change-stamps.ts'
import type { Stores } from './stores.ts'

/** Maximum number of remembered keys. A busy relay writes this many within seconds. */
const MOST_REMEMBERED = 20_000
/** When more documents have changed, reading the whole list costs less. */
const MOST_TOLD = 1000

/**
 * Remembers, in order, which documents this relay has changed, so that a list of ten thousand documents is not read again to find that no document or
 * only one has changed. A key is noted after its commit and before the answer. So a reader that takes a mark and then reads finds each change either
 * in the rows or after its mark.
 */
export class HeadChanges {
  #keys: number[] = []
  /** The mark of the first remembered key. Earlier marks are useless. */
  #firstMark = 0
  readonly #stamps: ChangeStamps | null

  /** `stamps`: they are moved as well, for a reader in another thread. */
  constructor(stamps: ChangeStamps | null = null) {
    this.#stamps = stamps
  }

  /** Identifies the present moment, for a later call of `since`. */
  get mark(): number {
    return this.#firstMark + this.#keys.length
  }

  note(key: number): void {
    this.#stamps?.move(key)
    this.#keys.push(key)
    if (this.#keys.length <= MOST_REMEMBERED) return
    const forgotten = MOST_REMEMBERED / 2
    this.#firstMark += forgotten
    this.#keys = this.#keys.slice(forgotten)
  }

  /** Makes all earlier marks useless, because anything may have changed. */
  forget(): void {
    this.#stamps?.moveAll()
    this.#firstMark = this.mark + 1
    this.#keys = []
  }

  /** Returns the keys that were noted after `mark`, each once; `null` when they are no longer known or too many. */
  since(mark: number): readonly number[] | null {
    if (mark < this.#firstMark || mark > this.mark) return null
    const keys = new Set<number>()
    for (let at = mark - this.#firstMark; at < this.#keys.length; at++) {
      keys.add(this.#keys[at] as number)
      if (keys.size > MOST_TOLD) return null
    }
    return [...keys]
  }
}

type Writing = Pick<Stores, 'documents' | 'updates' | 'recovery'>

/** Wraps the ports so that each write notes the documents whose row or log head it changes. */
export function noting(changes: HeadChanges, { documents, updates, recovery }: Writing): Writing {
  /** Notes a write. When the write rejects, its outcome is unknown and anything may have changed. */
  const noted = async <T>(writing: Promise<T>, note: (outcome: T) => void): Promise<T> => {
    try {
      const outcome = await writing
      note(outcome)
      return outcome
    } catch (error) {
      changes.forget()
      throw error
    }
  }
  return {
    documents: {
      ...documents,
      write: (write) =>
        noted(documents.write(write), (outcome) => {
          if (outcome.kind === 'written') changes.note(outcome.head.key)
        }),
      remove: (ref, key, ...more) => noted(documents.remove(ref, key, ...more), () => changes.note(key)),
    },
    updates: {
      ...updates,
      append: (records) =>
        noted(updates.append(records), () => {
          for (const { key } of records) changes.note(key)
        }),
      rebuild: (key, rebuilt, epoch) => noted(updates.rebuild(key, rebuilt, epoch), () => changes.note(key)),
    },
    recovery: {
      ...recovery,
      restore: (request) =>
        noted(recovery.restore(request), (outcome) => {
          changes.note(request.source.key)
          if (outcome.kind === 'restored') changes.note(outcome.head.key)
        }),
    },
  }
}
