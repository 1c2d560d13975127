import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'
import { nameOf } from './describe.ts'
import { outlineOf } from './outline.ts'

/** The page in words: shapes in reading order, each with the shapes that its connectors lead to. */
export function CanvasOutline({ editor }: { readonly editor: CanvasEditor }) {
  const { shapes } = editor.page
  return (
    <section class="canvas-outline" aria-label={texts.outlineOf}>
      <ol>
        {outlineOf(editor.order.value, shapes).map(({ id, targets }) => (
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
            {targets.length > 0 && <span>{texts.connectsTo(targets.map((target) => nameOf(target, shapes)).join(', '))}</span>}
          </li>
        ))}
      </ol>
    </section>
  )
}
