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
    const note = (transaction: Y.Transaction): void => {
      if (transaction.deleteSet.clients.size === 0) return
      this.#deleted.push(transaction.deleteSet)
      dropDeletedBefore(transaction)
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

/**
 * Drops the letters that were deleted already in the texts that a transaction removes. An undo manager keeps such letters, but cannot bring them back
 * into what others removed; sent again, they would look to the relay like letters that went only with their block.
 */
function dropDeletedBefore(transaction: Y.Transaction): void {
  const { deleteSet, doc } = transaction
  Y.iterateDeletedStructs(transaction, deleteSet, (struct) => {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) return
    for (let item = struct.content.type._start; item !== null; item = item.right)
      if (item.deleted && item.content instanceof Y.ContentString && !Y.isDeleted(deleteSet, item.id)) item.gc(doc.store, false)
  })
}
