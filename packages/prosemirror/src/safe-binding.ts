import type { Node } from 'prosemirror-model'
import { type EditorState, NodeSelection } from 'prosemirror-state'
import { ySyncPluginKey } from 'y-prosemirror'
import type * as Y from 'yjs'

type Observer = (events: Y.YEvent<Y.XmlFragment>[], transaction: Y.Transaction) => void

/** The members of the y-prosemirror binding that are used here and have no public type. */
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
 * Corrects three cases in which the binding of a new state would lose content or undo history. Call it before the view exists.
 *
 * - After an edit of others the binding selects the node that was selected before. When that node is gone, the binding selects the next node,
 *   which the next key would replace, or throws when there is none. This puts the caret into the text beside it instead.
 * - When an edit of others cannot be shown, for example because a plugin throws, the page differs from the document, and the next key would
 *   delete the difference for everybody. This ends the binding instead, and `onBroken` must show the page in a new view.
 * - The empty paragraph in place of a page without blocks is not written, so that an edit that was undone can be redone.
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
    // A binding that has ended does not know the later edits of others.
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
