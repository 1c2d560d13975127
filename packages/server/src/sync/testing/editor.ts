import { proseSchema } from '@docrelay/prosemirror/prose-schema'
import { AllSelection, EditorState, type Transaction } from 'prosemirror-state'
import { initProseMirrorDoc, yCursorPlugin, yCursorPluginKey, ySyncPlugin } from 'y-prosemirror'
import type { DecorationSet } from 'prosemirror-view'
import type { Awareness } from 'y-protocols/awareness'
import type * as Y from 'yjs'

/** An editor on a live page, bound by the real y-prosemirror plugin; only the drawing of a view is left out. */
export interface Editor {
  readonly state: EditorState
  /** Whether it shows its cursor to others. */
  isFocused: boolean
  dispatch(transaction: Transaction): void
  close(): void
}

export function openEditor(fragment: Y.XmlFragment): Editor {
  const { doc, mapping } = initProseMirrorDoc(fragment, proseSchema)
  const plugins = [ySyncPlugin(fragment, { mapping })]
  // Everything is selected, since the plugin fails on a selected node that someone else deletes.
  return bindEditor(EditorState.create({ schema: proseSchema, doc, plugins, selection: new AllSelection(doc) }))
}

/** An editor that also shows the cursors of others, and its own to them while it has the focus. */
export function openCursorEditor(fragment: Y.XmlFragment, awareness: Awareness): Editor {
  const { doc, mapping } = initProseMirrorDoc(fragment, proseSchema)
  const cursors = yCursorPlugin(awareness, { cursorBuilder: noElement })
  return bindEditor(EditorState.create({ schema: proseSchema, doc, plugins: [ySyncPlugin(fragment, { mapping }), cursors] }))
}

/** A drawn cursor is an element, which only a view makes. */
function noElement(): never {
  throw new Error('no view draws here')
}

export interface ShownCursor {
  readonly client: number
  /** Where the caret stands. */
  readonly head: number
  /** The text that is shown as selected. */
  readonly selected: string
}

/** The cursors of others as the plugin of `openCursorEditor` shows them. */
export function shownCursors({ state }: Editor): readonly ShownCursor[] {
  const found = (yCursorPluginKey.getState(state) as DecorationSet).find()
  const carets = found.filter((decoration) => decoration.from === decoration.to && 'key' in (decoration.spec as object))
  return carets.map(({ from: head, spec }) => {
    const range = found.find(({ from, to }) => from !== to && (from === head || to === head))
    const selected = range === undefined ? '' : state.doc.textBetween(range.from, range.to, ' ')
    return { client: Number((spec as { key: string }).key), head, selected }
  })
}

/** Lets the plugin for the live page, the first of the state's, and those behind it act as it does beside a view. */
export function bindEditor(state: EditorState): Editor {
  if (state.plugins.length === 0) throw new Error('the state has no plugin')
  const editor = {
    state,
    isFocused: false,
    hasFocus: () => editor.isFocused,
    /** A plugin for cursors listens here, and waits until something is drawn. */
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
  // The plugins ask a view for no more than what `editor` has.
  const bound: { update?(): void; destroy?(): void }[] = []
  for (const { spec } of state.plugins) {
    const view = (spec as { view?(view: unknown): (typeof bound)[number] }).view?.(editor)
    if (view !== undefined) bound.push(view)
  }
  return editor
}
