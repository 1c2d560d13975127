import { AllSelection, EditorState, type Transaction } from 'prosemirror-state'
import { initProseMirrorDoc, ySyncPlugin } from 'y-prosemirror'
import type * as Y from 'yjs'
import { editorSchema } from './editor-schema.ts'

/** An editor on a live page, bound by the real y-prosemirror plugin; only the drawing of a view is left out. */
export interface Editor {
  readonly state: EditorState
  dispatch(transaction: Transaction): void
  close(): void
}

export function openEditor(fragment: Y.XmlFragment): Editor {
  const { doc, mapping } = initProseMirrorDoc(fragment, editorSchema)
  const plugin = ySyncPlugin(fragment, { mapping })
  const editor = {
    // Everything is selected, since the plugin fails on a selected node that someone else deletes.
    state: EditorState.create({ schema: editorSchema, doc, plugins: [plugin], selection: new AllSelection(doc) }),
    hasFocus: () => false,
    dispatch(transaction: Transaction) {
      editor.state = editor.state.apply(transaction)
      bound?.update?.()
    },
    close: () => bound?.destroy?.(),
  }
  // The plugin asks a view for no more than `state`, `dispatch` and `hasFocus`.
  let bound: { update?(): void; destroy?(): void } | undefined
  bound = (plugin.spec as { view(view: unknown): typeof bound }).view(editor)
  return editor
}
