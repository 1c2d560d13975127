import * as Y from 'yjs'
import { applyOnly } from './apply-only.ts'

type DeleteSet = Y.Transaction['deleteSet']

/**
 * Keeps the content of what others delete while edits of this client are not saved. [AG-110]
 *
 * A Y.Doc drops deleted content. When somebody replaces a block in which this client has just typed, its words would then be nowhere but in a
 * message on its way to the relay, and lost with the connection. Kept in `doc`, they are sent again at the next join, and the relay writes
 * them into what took the place of the block.
 */
export class KeptContent {
  readonly #doc: Y.Doc
  #deleted: DeleteSet[] = []

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  /** Applies an update of the relay. */
  apply(update: Uint8Array, origin: unknown, { isSaved }: { readonly isSaved: boolean }): void {
    const doc = this.#doc
    if (isSaved || !doc.gc) return applyOnly(doc, update, origin)
    const note = ({ deleteSet }: Y.Transaction): void => {
      if (deleteSet.clients.size > 0) this.#deleted.push(deleteSet)
    }
    doc.gc = false
    doc.on('afterTransaction', note)
    try {
      applyOnly(doc, update, origin)
    } finally {
      doc.off('afterTransaction', note)
      doc.gc = true
    }
  }

  /** Drops what was kept, as everything is saved. */
  release(): void {
    if (this.#deleted.length === 0) return
    Y.tryGc(Y.mergeDeleteSets(this.#deleted), this.#doc.store, this.#doc.gcFilter)
    this.#deleted = []
  }
}
