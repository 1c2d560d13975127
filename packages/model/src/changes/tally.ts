import { quote } from '../quote.ts'

/** A block or shape that a write removed. [AG-30] */
export interface RemovedEntry {
  readonly id: string
  readonly text: string
}

/** What a write changed, in numbers and for its answer. [AG-29, AG-30] */
export interface Counts {
  readonly changed: number
  /** Blocks and shapes that the call removed beyond those it names, at most 20. */
  readonly removed: readonly RemovedEntry[]
  readonly removedTotal: number
  /** Everything that was removed, the named ones included. */
  readonly gone: { readonly texts: number; readonly shapes: number; readonly pages: number }
}

/** `container`: its text blocks are told, so it is only counted. `leaf`: a block without text blocks. */
type Kind = 'text' | 'container' | 'leaf' | 'shape'

export interface Removed {
  /** Empty for a text block without id. */
  readonly id: string
  /** What an answer calls it: its id, or where it stood; `null` when there is nothing that may be printed. [AG-12] */
  readonly name: string | null
  readonly text: string
  readonly kind: Kind
}

const MOST_REMOVED = 20

/** Counts what changed. What goes in one place and comes in another is one change. */
export class Tally {
  private changes = 0
  private readonly came = new Set<string>()
  private readonly went: Removed[] = []
  private pages = 0

  changed(): void {
    this.changes++
  }

  /** `id`: of a text block or shape; `null`: of what has none of its own. */
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

  /** `isNamed`: the call names this block or shape, so that its removal is no surprise. */
  counts(isNamed: (id: string) => boolean): Counts {
    const gone = this.went.filter(({ id, kind }) => kind === 'leaf' || kind === 'container' || !this.came.has(id))
    // An empty paragraph that nothing names is no loss.
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
