import * as Y from 'yjs'
import { indexClients } from './client-index.ts'
import { RootIndex } from './root-index.ts'

/** Yjs draws a GUID for a document that is given none, which takes longer than all else of its creation. Only sub-documents need one. */
export const NO_GUID = 'none'

/**
 * Creates a Y.Doc that finds the name of a root in constant time (`RootIndex`), applies an update without going through all clients
 * (`ClientIndex`), and makes less garbage for each edit than a plain one.
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

/**
 * Empties the list of transactions that Yjs has just replaced by a new one. In a document that is edited now and then, the list is among V8's old
 * objects by the time that a transaction is added to it. As old garbage, it would keep that transaction with all its maps until the next collection
 * of old objects, some 3 kB for each edit.
 */
function emptyList(_doc: Y.Doc, transactions: Y.Transaction[]): void {
  transactions.length = 0
}
