/** Somebody who changed a document. The name is data: it is shown beside the verified id only. [AG-21] */
export interface Who {
  readonly id: string
  /** A person writes in an editor or over REST, an agent by a tool. */
  readonly kind: 'person' | 'agent'
  readonly name?: string
}

/** Who made a change. `caller` tells apart the callers of tools that one principal has. */
export interface Author {
  readonly who: Who
  /** `null` for people, since only tools have callers. */
  readonly caller: string | null
}

/** One block, shape or page entry that was changed or removed. The kind `document` stands for any other part, such as a field. */
export interface NotedChange {
  readonly kind: 'block' | 'shape' | 'page' | 'document'
  /** Empty for a part that stands on no page. */
  readonly pageId: string
  /** `null` for a block without id, and for the kinds `page` and `document`. */
  readonly id: string | null
  readonly isRemoved: boolean
}

/** A change with its author and its place in the order of changes. */
export interface RecordedChange extends NotedChange, Author {
  readonly atMs: number
  /** Counts up with each change of the record. */
  readonly sequence: number
}

/** A change that another node has announced. */
interface ChangeElsewhere extends RecordedChange {
  /** The version of the document after it. */
  readonly version: number
}

export const MOST_CHANGES = 4_096
const MOST_VERSIONS = 64

/**
 * Remembers who last changed each block and shape of one document, for the 4,096 parts that were changed last and the 64 versions that other
 * nodes announced last. The oldest entry is forgotten first. [AG-20]
 */
export class ChangeRecord {
  /** The last change of each part, by part; the latest change is last. */
  readonly #changes = new Map<string, RecordedChange>()
  /** Changes that other nodes have announced, by version, the oldest first. */
  readonly #elsewhere = new Map<number, ChangeElsewhere>()
  /** Versions for which the changed parts are recorded, the oldest first. */
  readonly #detailed = new Set<number>()
  #sequence = 0

  /** The number of the last change; 0 before the first. */
  get sequence(): number {
    return this.#sequence
  }

  /** Records changes. `version` is the version of the document after them; absent when it is not known yet. */
  note(author: Author, changes: Iterable<NotedChange>, atMs: number, version?: number): void {
    if (version !== undefined) {
      this.#detailed.add(version)
      this.#elsewhere.delete(version)
      forgetOldest(this.#detailed, MOST_VERSIONS)
    }
    for (const change of changes) {
      const key = keyOf(change)
      this.#changes.delete(key)
      this.#changes.set(key, { ...change, ...author, atMs, sequence: ++this.#sequence })
    }
    forgetOldest(this.#changes, MOST_CHANGES)
  }

  /**
   * Records that another node stored a change, after which the document has this version. Only that node knows which parts were
   * changed. When this node asked it for the change, this node records the parts with `note`, earlier or later. [AG-23]
   */
  noteElsewhere(author: Author, version: number, atMs: number): void {
    if (this.#detailed.has(version)) return
    this.#elsewhere.set(version, { ...UNKNOWN_CHANGE, ...author, atMs, version, sequence: ++this.#sequence })
    forgetOldest(this.#elsewhere, MOST_VERSIONS)
  }

  /**
   * Returns the changes after `sequence` that others than `caller` made, the latest first. `version`: the newest version that the
   * caller has seen; changes that other nodes announced for it and for earlier versions are left out.
   */
  since(sequence: number, caller: string, version = 0): readonly RecordedChange[] {
    if (sequence >= this.#sequence) return []
    const elsewhere = [...this.#elsewhere.values()].filter((change) => change.version > version)
    return [...this.#changes.values(), ...elsewhere]
      .filter((change) => change.sequence > sequence && change.caller !== caller)
      .sort((a, b) => b.sequence - a.sequence)
  }

  /** Whether the record has a change after `sequence`, by anybody, that may have caused a version above `version`. */
  explains(sequence: number, version: number): boolean {
    if (sequence >= this.#sequence) return false
    const isLater = (change: RecordedChange) => change.sequence > sequence
    if ([...this.#changes.values()].some(isLater)) return true
    return [...this.#elsewhere.values()].some((change) => isLater(change) && change.version > version)
  }

  /** Returns the last change of a block or shape; `undefined` when none is recorded. */
  last(change: Pick<NotedChange, 'kind' | 'pageId' | 'id'>): RecordedChange | undefined {
    return this.#changes.get(keyOf(change))
  }
}

const UNKNOWN_CHANGE: NotedChange = { kind: 'document', pageId: '', id: null, isRemoved: false }

function forgetOldest<Key>(entries: Map<Key, unknown> | Set<Key>, most: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= most) break
    entries.delete(key)
  }
}

function keyOf({ kind, pageId, id }: Pick<NotedChange, 'kind' | 'pageId' | 'id'>): string {
  return JSON.stringify([kind, pageId, id])
}
