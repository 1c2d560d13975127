import type { EditorView } from 'prosemirror-view'
import { absolutePositionToRelativePosition, relativePositionToAbsolutePosition, ySyncPluginKey } from 'y-prosemirror'
import * as Y from 'yjs'

/** The part of the y-prosemirror binding that maps nodes of the page to Yjs types. */
interface Sync {
  readonly doc: Y.Doc
  readonly type: Y.XmlFragment
  readonly binding: { readonly mapping: never }
}

function syncOf(view: EditorView): Sync | undefined {
  return ySyncPluginKey.getState(view.state) as Sync | undefined
}

/**
 * Keeps a position of the page while others edit. The binding replaces the whole page for every edit of others, so positions cannot be mapped
 * through steps. The returned function gives the present position, or `null` when the place is gone.
 */
export function keepPlace(view: () => EditorView, at: number): () => number | null {
  const sync = syncOf(view())
  if (sync === undefined) return () => at
  const kept = absolutePositionToRelativePosition(at, sync.type, sync.binding.mapping) as Y.RelativePosition
  return () => positionOf(view(), kept)
}

/** Converts a relative position of Yjs, in whatever form a peer sent it, to a position on the shown page; `null` when it has none. */
export function positionOf(view: EditorView, sent: unknown): number | null {
  const sync = syncOf(view)
  if (sync === undefined || typeof sent !== 'object' || sent === null) return null
  try {
    const relative = Y.createRelativePositionFromJSON(sent)
    const at = relativePositionToAbsolutePosition(sync.doc, sync.type, relative, sync.binding.mapping)
    return at === null ? null : Math.min(at, view.state.doc.content.size)
  } catch {
    return null
  }
}
