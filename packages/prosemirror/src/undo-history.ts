import { Plugin } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'
import { ySyncPluginKey, yUndoPlugin, yUndoPluginKey } from 'y-prosemirror'
import type * as Y from 'yjs'
import { OwnEdits } from './own-edits.ts'

/**
 * The undo history by page. It outlives the views, so a person who comes back to a page can still undo. A WeakMap: an entry lives as long as its
 * Y.Doc.
 */
const histories = new WeakMap<Y.XmlFragment, Y.UndoManager>()

/** Undo of this person's own edits of a page, for the lifetime of its Y.Doc. */
export function undoHistory(fragment: Y.XmlFragment): Plugin {
  const history = historyOf(fragment)
  const { spec } = yUndoPlugin({ undoManager: history })
  // The view of y-prosemirror's plugin would destroy the history together with itself.
  return new Plugin({ ...spec, view: (view) => keepSelections(history, view) })
}

export function historyOf(fragment: Y.XmlFragment): Y.UndoManager {
  const known = histories.get(fragment)
  if (known !== undefined) return known
  const made = new OwnEdits(fragment)
  histories.set(fragment, made)
  return made
}

/** Stores the selection before each edit, and restores it when the edit is undone. */
function keepSelections(history: Y.UndoManager, view: EditorView): { destroy(): void } {
  const { binding } = ySyncPluginKey.getState(view.state)
  const added = ({ stackItem }: { readonly stackItem: Y.UndoManager['undoStack'][number] }) =>
    stackItem.meta.set(binding, yUndoPluginKey.getState(view.state).prevSel)
  const popped = ({ stackItem }: { readonly stackItem: Y.UndoManager['undoStack'][number] }) => {
    binding.beforeTransactionSelection = stackItem.meta.get(binding) ?? binding.beforeTransactionSelection
  }
  history.on('stack-item-added', added)
  history.on('stack-item-popped', popped)
  return {
    destroy() {
      history.off('stack-item-added', added)
      history.off('stack-item-popped', popped)
      for (const { meta } of [...history.undoStack, ...history.redoStack]) meta.delete(binding)
      // Edits in the next view begin a new undo step.
      history.stopCapturing()
    },
  }
}
