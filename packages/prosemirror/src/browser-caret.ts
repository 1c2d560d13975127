import { Plugin, type Transaction } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import type * as Y from 'yjs'

/** What of a view is named here; it has no public type for it. */
interface Observing {
  readonly domObserver: { flush(): void }
}

/**
 * Takes over what the browser has done to the page and to its caret and has not told yet. When a key moves the caret, for example Home, the
 * browser tells of it a moment later, and what others write in that moment would put the caret back to where it was.
 */
function readBrowser(view: EditorView): void {
  // While letters are composed the browser changes the page in steps that must not be read one by one.
  if (!view.isDestroyed && !view.composing) (view as unknown as Observing).domObserver.flush()
}

/** Reads the caret before an edit of others is shown. It has to come before the binding, which notes where the caret is. */
export function readBeforeEdits(ydoc: Y.Doc): Plugin {
  return new Plugin({
    view(view) {
      const read = (): void => readBrowser(view)
      ydoc.on('beforeAllTransactions', read)
      return { destroy: () => ydoc.off('beforeAllTransactions', read) }
    },
  })
}

/** Applies a transaction. One that only tells something, such as where somebody else's caret is, does not move this person's caret. */
export function applyTo(view: EditorView, transaction: Transaction): void {
  const { state } = view
  if (!transaction.docChanged && !transaction.selectionSet) readBrowser(view)
  view.updateState(view.state.apply(view.state === state ? transaction : toldAgain(view, transaction)))
}

/** The same for the state that the view has by now. */
function toldAgain({ state }: EditorView, transaction: Transaction): Transaction {
  const { meta } = transaction as unknown as { readonly meta: Readonly<Record<string, unknown>> }
  const again = state.tr
  for (const [key, value] of Object.entries(meta)) again.setMeta(key, value)
  return again
}
