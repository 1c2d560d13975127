/** Somebody who changed a document. The name is data: it is shown beside the verified id only. [AG-21] */
export interface Who {
  readonly id: string
  /** A person writes in an editor or over REST, an agent by a tool. */
  readonly kind: 'person' | 'agent'
  readonly name?: string
}

/** Who made a change, with what tells one caller of tools from another of the same principal. */
export interface Author {
  readonly who: Who
  /** `null` for people: what they write is nobody's own call. */
  readonly caller: string | null
}

/** One block, shape or page entry that was changed or removed; `document`: anything else of it, such as a field. */
export interface NotedChange {
  readonly kind: 'block' | 'shape' | 'page' | 'document'
  /** Empty for what stands on no page. */
  readonly pageId: string
  /** `null`: a block without id. */
  readonly id: string | null
  readonly isRemoved: boolean
}

/** A change with its author and its place in the order of changes. */
export interface RecordedChange extends NotedChange, Author {
  readonly atMs: number
  /** Counts up with each change of the record. */
  readonly sequence: number
}

export const MOST_CHANGES = 4_096

/** Who changed each of the last blocks and shapes of one document. Bounded; the oldest is forgotten first. [AG-20] */
export class ChangeRecord {
  /** By what was changed, the latest change last. */
  readonly #changes = new Map<string, RecordedChange>()
  #sequence = 0

  /** The number of the last change; 0 before the first. */
  get sequence(): number {
    return this.#sequence
  }

  note(author: Author, changes: Iterable<NotedChange>, atMs: number): void {
    for (const change of changes) {
      const key = keyOf(change)
      this.#changes.delete(key)
      this.#changes.set(key, { ...change, ...author, atMs, sequence: ++this.#sequence })
    }
    for (const key of this.#changes.keys()) {
      if (this.#changes.size <= MOST_CHANGES) break
      this.#changes.delete(key)
    }
  }

  /** The changes after a number that others than this caller made, the latest first. */
  since(sequence: number, caller: string): readonly RecordedChange[] {
    if (sequence >= this.#sequence) return []
    return [...this.#changes.values()].filter((change) => change.sequence > sequence && change.caller !== caller).reverse()
  }

  /** The last change of a block or shape; `undefined` when nobody's is known. */
  last(change: Pick<NotedChange, 'kind' | 'pageId' | 'id'>): RecordedChange | undefined {
    return this.#changes.get(keyOf(change))
  }
}

function keyOf({ kind, pageId, id }: Pick<NotedChange, 'kind' | 'pageId' | 'id'>): string {
  return JSON.stringify([kind, pageId, id])
}
