import { stringOf } from '@docrelay/model/canvas/stored-shape'
import { kindOf } from '@docrelay/model/canvas/shape-kinds'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'
import { nameOf } from './describe.ts'

/** The page in words: shapes in reading order, each with the shapes that its connectors lead to. */
export function CanvasOutline({ editor }: { readonly editor: CanvasEditor }) {
  const { shapes } = editor.page
  const targets = new Map<string, string[]>()
  for (const id of editor.order.value) {
    const value = shapes.get(id)
    if (value === undefined || kindOf(value).form !== 'line') continue
    const [from, to] = [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')]
    if (from !== undefined && to !== undefined && shapes.has(to))
      targets.set(from, [...(targets.get(from) ?? []), nameOf(to, shapes)])
  }
  return (
    <section class="canvas-outline" aria-label={texts.outlineOf}>
      <ol>
        {editor.order.value.map((id) => {
          const value = shapes.get(id)
          const leads = targets.get(id)
          // A connector that begins at a shape has no entry of its own. The entry of that shape names the shape at the other end.
          if (value === undefined) return null
          if (kindOf(value).form === 'line' && shapes.has(stringOf(value, 'startShapeId') ?? '')) return null
          return (
            <li key={id}>
              <button
                type="button"
                onClick={() => {
                  editor.activate(id)
                  editor.select([id])
                }}
              >
                {editor.describe(id)}
              </button>
              {leads !== undefined && <span>{texts.connectsTo(leads.join(', '))}</span>}
            </li>
          )
        })}
      </ol>
    </section>
  )
}
