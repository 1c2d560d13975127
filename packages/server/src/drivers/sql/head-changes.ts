import type { Stores } from './stores.ts'

/** Keys that are remembered; a busy relay writes as many in some seconds. */
const MOST_REMEMBERED = 20_000
/** With more changed documents, reading the whole list costs less. */
const MOST_TOLD = 1000

/**
 * Remembers which documents this relay has changed, in order, so that a list of ten thousand documents is not read again to find that
 * nothing, or one of them, has changed. A key is noted after its commit and before the answer: whoever asks for a mark and then reads sees
 * each change in what he reads, or behind his mark.
 */
export class HeadChanges {
  #keys: number[] = []
  /** The mark of the first remembered key; earlier marks are of no use. */
  #firstMark = 0

  /** Names this moment. */
  get mark(): number {
    return this.#firstMark + this.#keys.length
  }

  note(key: number): void {
    this.#keys.push(key)
    if (this.#keys.length <= MOST_REMEMBERED) return
    const forgotten = MOST_REMEMBERED / 2
    this.#firstMark += forgotten
    this.#keys = this.#keys.slice(forgotten)
  }

  /** Somebody may have changed anything, so all marks given so far are of no use. */
  forget(): void {
    this.#firstMark = this.mark + 1
    this.#keys = []
  }

  /** Each key once that was noted since; `null` when that is not known any more, or too much. */
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

/** Notes what each verb changes in the row of a document or in the head of its log. */
export function noting(changes: HeadChanges, { documents, updates, recovery }: Writing): Writing {
  /** A commit whose outcome is not known may have changed anything. */
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
