import * as Y from 'yjs'
import { indexClients } from './client-index.ts'

/** Yjs draws a GUID for a document that is given none, which takes longer than all else of its creation. Only sub-documents need one. */
export const NO_GUID = 'none'

type Root = Y.Doc['share'] extends Map<string, infer Type> ? Type : never

/**
 * Creates a Y.Doc that finds the name of a root in constant time, applies an update without going through all clients (`ClientIndex`), and makes less
 * garbage for each edit than a plain one.
 *
 * For each first item of a list or map entry, the Yjs encoder searches the name of its root in `type.doc.share.entries()` from the start. A
 * document may have ten thousand roots; one encode then takes seconds and blocks every room of its worker. [WS-34, C8] Here, the root whose
 * `doc` was read last comes first in the next iteration over the entries. Only the order changes: any other iteration still sees each root
 * once. For the garbage see `QuietDoc` and `emptyList`.
 */
export function indexedDoc(): Y.Doc {
  const doc = new QuietDoc({ gc: true, guid: NO_GUID })
  doc.share = new RootIndex(doc)
  indexClients(doc)
  doc.on('afterAllTransactions', emptyList)
  return doc
}

/** Emits only events to which somebody listens. Yjs emits about ten for each edit, and for each one without a listener it makes a map and a list. */
class QuietDoc extends Y.Doc {
  override emit: Y.Doc['emit'] = (name, args) => {
    if (this._observers.has(name)) super.emit(name, args)
  }
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

/**
 * Empties the list of transactions that Yjs has just replaced by a new one. In a document that is edited now and then, the list is among V8's old
 * objects by the time that a transaction is added to it. As old garbage, it would keep that transaction with all its maps until the next collection
 * of old objects, some 3 kB for each edit.
 */
function emptyList(_doc: Y.Doc, transactions: Y.Transaction[]): void {
  transactions.length = 0
}
