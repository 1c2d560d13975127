import { proseSchema } from '@docrelay/prosemirror/prose-schema'
import { AllSelection, EditorState, type Transaction } from 'prosemirror-state'
import { initProseMirrorDoc, yCursorPlugin, yCursorPluginKey, ySyncPlugin } from 'y-prosemirror'
import type { DecorationSet } from 'prosemirror-view'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'

/** An editor on a live page. It uses the real y-prosemirror plugin, but it draws nothing. */
export interface Editor {
  readonly state: EditorState
  /** True when the editor shows its cursor to others. */
  isFocused: boolean
  dispatch(transaction: Transaction): void
  close(): void
}

export function openEditor(fragment: Y.XmlFragment): Editor {
  const { doc, mapping } = initProseMirrorDoc(fragment, proseSchema)
  const plugins = [ySyncPlugin(fragment, { mapping })]
  // Everything is selected, because the plugin fails when one selected node is deleted by someone else.
  return bindEditor(EditorState.create({ schema: proseSchema, doc, plugins, selection: new AllSelection(doc) }))
}

/** Opens an editor that also shows the cursors of others, and shows its own cursor to them while it has the focus. */
export function openCursorEditor(fragment: Y.XmlFragment, awareness: Awareness): Editor {
  const { doc, mapping } = initProseMirrorDoc(fragment, proseSchema)
  const cursors = yCursorPlugin(awareness, { cursorBuilder: noElement })
  return bindEditor(EditorState.create({ schema: proseSchema, doc, plugins: [ySyncPlugin(fragment, { mapping }), cursors] }))
}

/** Only a real view draws cursors as elements, so this function must not be called. */
function noElement(): never {
  throw new Error('no view draws here')
}

export interface ShownCursor {
  readonly client: number
  /** The position of the caret. */
  readonly head: number
  /** The text that is shown as selected. */
  readonly selected: string
}

/** Returns the cursors of others as the plugin of `openCursorEditor` shows them. */
export function shownCursors({ state }: Editor): readonly ShownCursor[] {
  const found = (yCursorPluginKey.getState(state) as DecorationSet).find()
  const carets = found.filter((decoration) => decoration.from === decoration.to && 'key' in (decoration.spec as object))
  return carets.map(({ from: head, spec }) => {
    const range = found.find(({ from, to }) => from !== to && (from === head || to === head))
    const selected = range === undefined ? '' : state.doc.textBetween(range.from, range.to, ' ')
    return { client: Number((spec as { key: string }).key), head, selected }
  })
}

/** Binds the plugins of a state to an editor that replaces the view. The first plugin must be the one for the live page. */
export function bindEditor(state: EditorState): Editor {
  if (state.plugins.length === 0) throw new Error('the state has no plugin')
  const editor = {
    state,
    isFocused: false,
    hasFocus: () => editor.isFocused,
    /** The plugin for cursors adds its listeners here. */
    dom: { addEventListener() {}, removeEventListener() {} },
    docView: {},
    dispatch(transaction: Transaction) {
      editor.state = editor.state.apply(transaction)
      for (const each of bound) each.update?.()
    },
    close() {
      for (const each of bound) each.destroy?.()
    },
  }
  // The plugins use no other members of a view than those of `editor`.
  const bound: { update?(): void; destroy?(): void }[] = []
  for (const { spec } of state.plugins) {
    const view = (spec as { view?(view: unknown): (typeof bound)[number] }).view?.(editor)
    if (view !== undefined) bound.push(view)
  }
  return editor
}
