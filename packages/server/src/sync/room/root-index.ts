import type * as Y from 'yjs'

type Root = Y.Doc['share'] extends Map<string, infer Type> ? Type : never

/**
 * The roots of a document by name.
 *
 * For each first item of a list or map entry, the Yjs encoder searches the name of its root in `type.doc.share.entries()` from the start. A
 * document may have ten thousand roots; one encode then takes seconds and blocks every room of its worker. [WS-34, C8] Here, the root whose
 * `doc` was read last comes first in the next iteration over the entries. Only the order changes: any other iteration still sees each root
 * once.
 */
export class RootIndex extends Map<string, Root> {
  private readonly doc: Y.Doc
  private asked: [string, Root] | null = null

  constructor(doc: Y.Doc) {
    super()
    this.doc = doc
  }

  override set(name: string, root: Root): this {
    const entry: [string, Root] = [name, root]
    Object.defineProperty(root, 'doc', {
      configurable: true,
      enumerable: true,
      get: () => {
        this.asked = entry
        return this.doc
      },
      // Yjs assigns `doc` again when it replaces an untyped root by a typed one.
      set: keepDoc,
    })
    return super.set(name, root)
  }

  override entries(): MapIterator<[string, Root]> {
    const { asked } = this
    this.asked = null
    return asked !== null && this.get(asked[0]) === asked[1] ? this.entriesFrom(asked) : super.entries()
  }

  private *entriesFrom(first: [string, Root]): MapIterator<[string, Root]> {
    yield first
    for (const entry of super.entries()) if (entry[0] !== first[0]) yield entry
  }
}

function keepDoc(): void {}
