import { Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { type CanvasDocument, CanvasEditor } from '../canvas-editor.ts'
import { CanvasKeys } from '../canvas-keys.ts'
import { PointerGestures } from '../pointer-gestures.ts'
import type { WithId } from './page-now.ts'

/** A canvas page that a person has open, without a browser. */
export function openedCanvas(shapes: readonly WithId[], level: 'edit' | 'view' = 'edit') {
  const ydoc = new Y.Doc()
  ydoc.transact(() => {
    ydoc.getMap('canvasPages').set('p', { id: 'p', name: 'Board', order: 0 })
    for (const shape of shapes) ydoc.getMap('shapes:p').set(shape.id, shape)
    ydoc.getArray('shapeOrder:p').insert(
      0,
      shapes.map(({ id }) => id),
    )
  }, 'relay')
  const awareness = new Awareness(ydoc)
  awareness.setLocalStateField('user', { name: 'Ann', color: '#0969da' })
  const opened: CanvasDocument = {
    ydoc,
    awareness,
    level,
    gone: null,
    on: () => () => undefined,
    undoManager: (scopes, options) =>
      new Y.UndoManager(
        scopes.map((root) => (String(root).startsWith('shapes:') ? ydoc.getMap(String(root)) : ydoc.getArray(String(root)))),
        { ...options, trackedOrigins: new Set([null]) },
      ),
  }
  const said: string[] = []
  let ids = 0
  const newEditor = () =>
    new CanvasEditor(opened, 'p', {
      announce: (text) => void said.push(text),
      newId: () => `n${++ids}`,
      onFrame: (draw) => draw(),
    })
  const editor = newEditor()
  let shown = editor
  let writes = 0
  ydoc.on('afterTransaction', ({ origin, changed }: Y.Transaction) => {
    if (origin === null && changed.size > 0) writes++
  })
  const gestures = new PointerGestures(editor)
  return {
    editor,
    gestures,
    keys: new CanvasKeys(editor, gestures),
    awareness,
    said,
    /** Closes the page and shows it again. Returns the new editor. */
    shownAgain(): CanvasEditor {
      shown.destroy()
      shown = newEditor()
      return shown
    },
    stored: (id: string) => ydoc.getMap('shapes:p').get(id),
    order: () => ydoc.getArray('shapeOrder:p').toArray(),
    /** Returns how many transactions this person made. */
    writes: () => writes,
    /** Applies an edit of somebody else. */
    elsewhere(edit: (shapes: Y.Map<unknown>, ydoc: Y.Doc) => void) {
      const other = new Y.Doc()
      Y.applyUpdate(other, Y.encodeStateAsUpdate(ydoc))
      edit(other.getMap('shapes:p'), other)
      Y.applyUpdate(ydoc, Y.encodeStateAsUpdate(other), 'relay')
    },
    [Symbol.dispose]() {
      shown.destroy()
      awareness.destroy()
    },
  }
}
