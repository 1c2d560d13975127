import * as Y from 'yjs'
import { createProseCache, forgetTouched, type ProseCache } from '../prose/prose-fragment-read.ts'

interface Part {
  readonly stamp: number
  readonly base: unknown
  readonly out: unknown
}

interface Canonical {
  readonly content: string
  readonly html: string
}

interface RecordPart {
  readonly id: string
  readonly base: unknown
  readonly out: unknown
}

/**
 * Caches parts of the projection of one live document, so that a projection costs only the size of the change. [LIFE-9]
 *
 * Counts the transactions that touched each root. A part is reused while none of its roots was touched and the base is the one it was
 * computed from, or the cached result itself. Records are cached by the value object in the live document, which is replaced as a whole
 * when it changes. [YDOC-2] Dispose it with the document.
 */
export class ProjectionCache {
  private ydoc: Y.Doc | null = null
  private readonly stamps = new Map<string, number>()
  private readonly parts = new Map<string, Part>()
  private records = new WeakMap<object, RecordPart>()
  prose: ProseCache = createProseCache()
  private html = new WeakMap<object, string>()
  private readonly canonicals = new Map<string, readonly Canonical[]>()

  /** Listens to the document that is projected. Clears the cache when it listened to another document before. */
  attach(ydoc: Y.Doc): void {
    if (this.ydoc === ydoc) return
    this[Symbol.dispose]()
    this.ydoc = ydoc
    ydoc.on('afterTransaction', this.mark)
  }

  [Symbol.dispose](): void {
    this.ydoc?.off('afterTransaction', this.mark)
    this.ydoc = null
    this.parts.clear()
    this.canonicals.clear()
    this.records = new WeakMap()
    this.html = new WeakMap()
    this.prose = createProseCache()
  }

  /** Returns `compute(base)` or its cached result. `roots` must list all roots that `compute` reads. */
  part<B, T>(key: string, roots: readonly string[], base: B, compute: (base: B) => T): T {
    const stamp = roots.reduce((sum, root) => sum + (this.stamps.get(root) ?? 0), 0)
    const known = this.parts.get(key)
    if (known !== undefined && known.stamp === stamp && (known.base === base || known.out === base)) return known.out as T
    const out = compute(base)
    this.parts.set(key, { stamp, base, out })
    return out
  }

  /** Like `part` for one record, identified by its live value. */
  record<B, T>(id: string, value: unknown, base: B, compute: () => T): T {
    if (typeof value !== 'object' || value === null || value instanceof Y.AbstractType) return compute()
    const known = this.records.get(value)
    if (known !== undefined && known.id === id && (known.base === base || known.out === base)) return known.out as T
    const out = compute()
    this.records.set(value, { id, base, out })
    return out
  }

  /** Returns the HTML of one block of a prose page, cached by the block: an untouched block is the same object in every reading. */
  block(block: object, compute: () => string): string {
    const known = this.html.get(block)
    if (known !== undefined) return known
    const html = compute()
    this.html.set(block, html)
    return html
  }

  /** Returns the canonical form of a page's stored HTML, computed or cached. */
  canonical(root: string, content: string, compute: (content: string) => string): string {
    const known = this.canonicals.get(root) ?? []
    const found = known.find((each) => each.content === content || each.html === content)
    const entry = found ?? { content, html: compute(content) }
    // Keeps two entries per page: the HTML of the stored body, which may be older, and the newest HTML. Both are asked for in turn.
    this.canonicals.set(root, [entry, ...known.filter((each) => each !== entry).slice(0, 1)])
    return entry.html
  }

  private readonly mark = (transaction: Y.Transaction): void => {
    forgetTouched(this.prose, transaction)
    for (const changed of transaction.changed.keys()) {
      let type = changed as Y.AbstractType<unknown>
      while (type._item !== null) type = type._item.parent as Y.AbstractType<unknown>
      const root = Y.findRootTypeKey(type)
      this.stamps.set(root, (this.stamps.get(root) ?? 0) + 1)
    }
  }
}
