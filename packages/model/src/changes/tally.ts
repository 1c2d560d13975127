import { quote } from '../quote.ts'

/** A block or shape that a write removed. [AG-30] */
export interface RemovedEntry {
  readonly id: string
  readonly text: string
}

/** The changes of a write in numbers, and the removed parts that its answer lists. [AG-29, AG-30] */
export interface Counts {
  readonly changed: number
  /** Blocks and shapes that the call removed beyond those it names, at most 20. */
  readonly removed: readonly RemovedEntry[]
  readonly removedTotal: number
  /** How many parts were removed, including those that the call names. */
  readonly gone: { readonly texts: number; readonly shapes: number; readonly pages: number }
}

/** `container`: a block that contains text blocks; the block is counted, but answers list only its text blocks. `leaf`: a block without text blocks. */
type Kind = 'text' | 'container' | 'leaf' | 'shape'

export interface Removed {
  /** The id of the block or shape; empty for a text block without id. */
  readonly id: string
  /** The name in answers: the id, or the handle of its former place; `null` when no name may be printed. [AG-12] */
  readonly name: string | null
  readonly text: string
  readonly kind: Kind
}

const MOST_REMOVED = 20

/** Counts changes. A block that leaves one place and arrives at another is one change. */
export class Tally {
  private changes = 0
  private readonly came = new Set<string>()
  private readonly went: Removed[] = []
  private pages = 0

  changed(): void {
    this.changes++
  }

  /** Counts a created part. `id` is the id of a text block or shape; `null` for a block that has no id of its own. */
  created(id: string | null): void {
    if (id === null) this.changes++
    else this.came.add(id)
  }

  removed(removed: Removed): void {
    this.went.push(removed)
  }

  removedPage(): void {
    this.changes++
    this.pages++
  }

  isEmpty(): boolean {
    return this.changes + this.came.size + this.went.length === 0
  }

  /** `isNamed` says whether the call names a block or shape. The removal of a named block or shape is expected, so answers do not list it. */
  counts(isNamed: (id: string) => boolean): Counts {
    const gone = this.went.filter(({ id, kind }) => kind === 'leaf' || kind === 'container' || !this.came.has(id))
    // An empty text block without id is not listed: nothing was lost with it.
    const told = gone.filter(({ id, kind, text }) => kind !== 'container' && !isNamed(id) && (id !== '' || text !== ''))
    const named = told.flatMap(({ name, text }) => (name === null ? [] : { id: name, text: quote(text) }))
    return {
      changed: this.changes + this.came.size + gone.length,
      removed: named.slice(0, MOST_REMOVED),
      removedTotal: told.length,
      gone: {
        texts: gone.filter(({ kind, text }) => kind === 'text' && text !== '').length,
        shapes: gone.filter(({ kind }) => kind === 'shape').length,
        pages: this.pages,
      },
    }
  }
}
