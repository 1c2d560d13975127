import { createRelay, type LiveDocument } from '@docrelay/client'
import { proseSchema as schema } from '@docrelay/prosemirror'
import { EditorState, Plugin } from 'prosemirror-state'
import { EditorView } from 'prosemirror-view'
import { initProseMirrorDoc, yCursorPlugin, ySyncPlugin, yUndoPlugin } from 'y-prosemirror'

/** Opens a document; resolves when its content is here, rejects when the relay does not let the caller in. */
export async function open(url: string, docId: string, token: string, name: string): Promise<LiveDocument> {
  const document = createRelay({ url, token: () => token }).open(docId, { user: { name, color: '#2563eb' } })
  await document.ready
  return document
}

/** Enter begins a new block; a real editor has `prosemirror-keymap` and `prosemirror-commands` for this and much more. */
const enter = new Plugin({
  props: {
    handleKeyDown(view, event) {
      if (event.key !== 'Enter') return false
      const tr = view.state.tr.deleteSelection()
      const { type, attrs } = tr.selection.$from.parent
      // The id stays with the first half: no two blocks of a page have one id.
      view.dispatch(tr.split(tr.selection.from, 1, [{ type, attrs: { ...attrs, id: null } }]))
      return true
    },
  },
})

/** What an editor of one prose page needs; `pageId` is an entry of the root `prosePageOrder`. */
export function openPage({ ydoc, awareness }: LiveDocument, pageId: string): EditorState {
  const fragment = ydoc.getXmlFragment(`prose:${pageId}`)
  const { doc: content, mapping } = initProseMirrorDoc(fragment, schema)
  const plugins = [ySyncPlugin(fragment, { mapping }), yCursorPlugin(awareness), yUndoPlugin(), enter]
  return EditorState.create({ schema, doc: content, plugins })
}

export const show = (place: HTMLElement, state: EditorState): EditorView => new EditorView(place, { state })
