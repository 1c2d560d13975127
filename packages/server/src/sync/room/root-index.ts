import * as Y from 'yjs'

type Root = Y.Doc['share'] extends Map<string, infer Type> ? Type : never

/**
 * A document that finds the name of a root in constant time.
 *
 * Yjs looks the name up with `type.doc.share.entries()`, from the first root on, for each first item of a list or map entry that it encodes.
 * With ten thousand roots, which a document may have, one encode then takes seconds and holds up every room of its worker. [WS-34, C8] Here
 * the root that was last asked for its document comes first in the next walk over the entries. Only the order depends on it: whoever walks
 * them for another reason still gets each once.
 */
export function indexedDoc(): Y.Doc {
  const doc = new Y.Doc({ gc: true })
  doc.share = new RootIndex(doc)
  return doc
}

class RootIndex extends Map<string, Root> {
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
      // Yjs sets it once more after it has replaced an untyped root by a typed one.
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
