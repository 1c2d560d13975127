import { createParagraphNear } from 'prosemirror-commands'
import { NodeSelection, Plugin, TextSelection } from 'prosemirror-state'
import type { EditorView } from 'prosemirror-view'

/**
 * Keeps a selected chip, image or other single thing when somebody types: the words go after it. The arrow keys select such a thing on their
 * way through the text, and only Backspace, Delete, cutting and a selection of text around it mean to remove it.
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
        // Where letters are composed the browser writes them at its caret.
        compositionstart(view) {
          leaveNode(view)
          return false
        },
      },
    },
  })
}

/** Puts the caret after the selected node, in a new paragraph after a block. Returns whether a node was selected. */
function leaveNode(view: EditorView): boolean {
  const { selection, doc, tr } = view.state
  if (!(selection instanceof NodeSelection) || !view.editable) return false
  if (selection.node.isInline) view.dispatch(tr.setSelection(TextSelection.create(doc, selection.to)))
  else return createParagraphNear(view.state, view.dispatch)
  return true
}
