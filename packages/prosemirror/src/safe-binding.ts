import type { Node } from 'prosemirror-model'
import { type EditorState, NodeSelection } from 'prosemirror-state'
import { ySyncPluginKey } from 'y-prosemirror'
import type * as Y from 'yjs'

type Observer = (events: Y.YEvent<Y.XmlFragment>[], transaction: Y.Transaction) => void

/** What of the binding of y-prosemirror is named here; it has no type of its own for it. */
interface Binding {
  _observeFunction: Observer
  _typeChanged: Observer
  _prosemirrorChanged: (doc: Node) => void
  readonly mapping: ReadonlyMap<Y.XmlElement, Node | readonly Node[]>
  readonly prosemirrorView: { readonly state: EditorState } | null
  beforeTransactionSelection: { readonly type: string; readonly anchor: unknown; readonly head: unknown } | null
  destroy(): void
}

export function bindingOf(state: EditorState): Binding {
  return (ySyncPluginKey.getState(state) as { readonly binding: Binding }).binding
}

/**
 * Corrects where the binding of a new state would lose content or the thread of undo. To be called before there is a view.
 *
 * - The binding selects the node again that was selected before an edit of others. When that node is gone, it selects the one behind it, which
 *   the next key would replace, or fails when there is none. The caret goes into the text beside it instead.
 * - When an edit of others cannot be shown, for example because a plugin fails, the page no longer shows what the document holds, and the next
 *   key would delete the difference for everybody. The binding ends instead, and `onBroken` has to show the page anew.
 * - The empty paragraph that stands for a page without blocks is not written, so that what was undone can be redone.
 */
export function makeSafe(state: EditorState, fragment: Y.XmlFragment, onBroken: (error: unknown) => void): void {
  const binding = bindingOf(state)
  binding._observeFunction = (events, transaction) => {
    const before = binding.beforeTransactionSelection
    if (before?.type === 'node' && isSelectedGone(binding))
      binding.beforeTransactionSelection = { type: 'text', anchor: before.anchor, head: before.anchor }
    try {
      binding._typeChanged(events, transaction)
    } catch (error) {
      binding.destroy()
      onBroken(error)
    }
  }
  const write = binding._prosemirrorChanged.bind(binding)
  binding._prosemirrorChanged = (doc) => {
    // A binding that has ended knows nothing of what others wrote since.
    if (binding.prosemirrorView === null) return
    if (fragment.length > 0 || !doc.eq(doc.type.createAndFill() as Node)) write(doc)
  }
}

function isSelectedGone({ mapping, prosemirrorView }: Binding): boolean {
  const { selection } = prosemirrorView?.state ?? {}
  if (!(selection instanceof NodeSelection)) return true
  for (const [element, node] of mapping) if (node === selection.node) return element._item?.deleted === true
  return true
}
