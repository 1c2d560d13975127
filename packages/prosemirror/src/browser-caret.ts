import { Plugin, type Transaction } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import type * as Y from 'yjs'

/** The member of a view that is used here and has no public type. */
interface Observing {
  readonly domObserver: { flush(): void }
}

/**
 * Applies changes of the page and of the caret that the browser has made but not reported yet. When a key such as Home moves the caret, the
 * browser reports this a moment later, and an edit of others in between would put the caret back.
 */
function readBrowser(view: EditorView): void {
  // While an input method composes, the browser changes the page in steps that must not be read one by one.
  if (!view.isDestroyed && !view.composing) (view as unknown as Observing).domObserver.flush()
}

/** Reads the caret before an edit of others is shown. Must come before the binding, which stores the caret. */
export function readBeforeEdits(ydoc: Y.Doc): Plugin {
  return new Plugin({
    view(view) {
      const read = (): void => readBrowser(view)
      ydoc.on('beforeAllTransactions', read)
      return { destroy: () => ydoc.off('beforeAllTransactions', read) }
    },
  })
}

/** Applies a transaction. One with metadata only, such as the caret of another person, does not move this person's caret. */
export function applyTo(view: EditorView, transaction: Transaction): void {
  const { state } = view
  if (!transaction.docChanged && !transaction.selectionSet) readBrowser(view)
  view.updateState(view.state.apply(view.state === state ? transaction : toldAgain(view, transaction)))
}

/** Returns a transaction with the same metadata for the present state of the view. */
function toldAgain({ state }: EditorView, transaction: Transaction): Transaction {
  const { meta } = transaction as unknown as { readonly meta: Readonly<Record<string, unknown>> }
  const again = state.tr
  for (const [key, value] of Object.entries(meta)) again.setMeta(key, value)
  return again
}
