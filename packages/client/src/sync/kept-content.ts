import * as Y from 'yjs'
import { applyOnly } from './apply-only.ts'

type DeleteSet = Y.Transaction['deleteSet']

/**
 * Keeps the content of blocks that others delete while edits of this client are not saved. [AG-110]
 *
 * A Y.Doc drops deleted content. When somebody replaces a block in which this client has just typed, the typed words would then exist only in a
 * message to the relay, and be lost with the connection. Words kept in `doc` are sent again at the next join, and the relay writes them into the
 * block that replaced theirs.
 */
export class KeptContent {
  readonly #doc: Y.Doc
  #deleted: DeleteSet[] = []

  constructor(doc: Y.Doc) {
    this.#doc = doc
  }

  /** Applies an update from the relay. */
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

  /** Drops the kept content, because everything is saved. */
  release(): void {
    if (this.#deleted.length === 0) return
    Y.tryGc(Y.mergeDeleteSets(this.#deleted), this.#doc.store, this.#doc.gcFilter)
    this.#deleted = []
  }
}

/**
 * Drops letters that were already deleted from texts that a transaction removes. An undo manager keeps such letters but cannot restore them in a
 * block that others removed. If they were sent again, the relay would take them for letters that were deleted together with their block.
 */
function dropDeletedBefore(transaction: Y.Transaction): void {
  const { deleteSet, doc } = transaction
  Y.iterateDeletedStructs(transaction, deleteSet, (struct) => {
    if (!(struct instanceof Y.Item) || !(struct.content instanceof Y.ContentType)) return
    for (let item = struct.content.type._start; item !== null; item = item.right)
      if (item.deleted && item.content instanceof Y.ContentString && !Y.isDeleted(deleteSet, item.id)) item.gc(doc.store, false)
  })
}
