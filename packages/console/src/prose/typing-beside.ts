import { createParagraphNear } from 'prosemirror-commands'
import { NodeSelection, Plugin, TextSelection } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'

/**
 * Protects a selected chip, image or other atom from being replaced by typing: the text goes after it. The arrow keys select such nodes on their
 * way through the text. Only Backspace, Delete, cutting and a text selection around a node remove it.
 */
export function typingBeside(): Plugin {
  return new Plugin({
    props: {
      handleTextInput(view, _from, _to, text) {
        if (!leaveNode(view)) return false
        view.dispatch(view.state.tr.insertText(text).scrollIntoView())
        return true
      },
      handleDOMEvents: {
        // An input method writes at the caret of the browser, so the caret must leave the node first.
        compositionstart(view) {
          leaveNode(view)
          return false
        },
      },
    },
  })
}

/** Moves the caret behind the selected node; behind a block, into a new paragraph. Returns whether a node was selected. */
function leaveNode(view: EditorView): boolean {
  const { selection, doc, tr } = view.state
  if (!(selection instanceof NodeSelection) || !view.editable) return false
  if (selection.node.isInline) view.dispatch(tr.setSelection(TextSelection.create(doc, selection.to)))
  else return createParagraphNear(view.state, view.dispatch)
  return true
}
