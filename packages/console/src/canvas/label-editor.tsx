import { useLayoutEffect, useRef } from 'preact/hooks'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { labelOf } from '@docrelay/model/canvas/stored-shape'
import { centreOfBounds } from '@docrelay/model/canvas/geometry/bounds'
import { useBeforeLeaving } from '../controls/before-leaving.ts'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'
import { nameOf } from './describe.ts'
import { toScreen } from './view-area.ts'

const LEAST_WIDTH = 128
/** The distance between the field and the edge of its shape. */
const MARGIN = 8
const MOST_LETTERS = 10_000

/** The field over a shape that edits its text. However the person leaves the field, the typed text is stored; undo takes it back. */
export function LabelEditor({ editor, onClosed }: { readonly editor: CanvasEditor; readonly onClosed: () => void }) {
  const id = editor.editing.value
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    field.current?.focus()
    field.current?.select()
    // When somebody else deletes the shape, the field vanishes and leaves the focus on the body.
    return () => id !== null && document.activeElement === document.body && onClosed()
  }, [id])
  const close = (): void => {
    if (id === null || editor.editing.value !== id) return
    editor.endEditing()
    onClosed()
  }
  useBeforeLeaving(close)
  const value = id === null ? undefined : editor.page.shapes.get(id)
  if (id === null || value === undefined) return null
  // Read so that the field stays over its shape when others move it.
  void editor.drawing.frame.value
  const drawn = editor.drawing.scene?.drawnOf(id)
  const bounds = drawn?.label?.bounds ?? editor.drawing.boundsOf(id)
  if (bounds === null) return null
  const view = editor.view.value
  const middle = toScreen(view, centreOfBounds(bounds))
  const width = Math.max(LEAST_WIDTH, (bounds.right - bounds.left) * view.scale)

  return (
    <textarea
      class={kindOf(value).type === 'text' ? 'canvas-label canvas-label-start' : 'canvas-label'}
      key={id}
      ref={field}
      aria-label={texts.labelOf(nameOf(id, editor.page.shapes))}
      maxLength={MOST_LETTERS}
      defaultValue={labelOf(value) ?? ''}
      rows={1}
      style={{ left: `${middle.x}px`, top: `${middle.y}px`, width: `${width - 2 * MARGIN}px` }}
      onInput={({ currentTarget: { value: typed, defaultValue: before } }) => editor.type(typed === before ? null : typed)}
      onBlur={close}
      onKeyDown={(event) => {
        if (event.isComposing) return
        if (event.key !== 'Escape' && (event.key !== 'Enter' || event.shiftKey)) return
        event.preventDefault()
        close()
      }}
    />
  )
}
