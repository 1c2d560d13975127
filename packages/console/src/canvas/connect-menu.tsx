import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'
import { nameOf } from './describe.ts'
import { isConnectable } from './page-edits.ts'

const MOST_SHOWN = 50

/** Asks to which shape the given one is connected. Words filter the list, arrow keys choose, Enter connects. */
export function ConnectMenu({ editor, onClosed }: { readonly editor: CanvasEditor; readonly onClosed: () => void }) {
  const from = editor.connecting.value
  const field = useRef<HTMLInputElement>(null)
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  useLayoutEffect(() => {
    setWords('')
    setAt(0)
    field.current?.focus()
  }, [from])
  if (from === null) return null
  const { shapes } = editor.page
  void editor.version.value
  const wanted = words.trim().toLowerCase()
  const found = editor.order.value.filter((id) => {
    const value = shapes.get(id)
    return id !== from && value !== undefined && isConnectable(value) && editor.describe(id).toLowerCase().includes(wanted)
  })
  const shown = found.slice(0, MOST_SHOWN)
  const chosen = Math.min(at, Math.max(0, shown.length - 1))

  const close = (): void => {
    editor.connecting.value = null
    onClosed()
  }
  const connect = (id: string | undefined): void => {
    if (id === undefined) return
    close()
    editor.connect(from, id)
  }
  const optionId = (index: number) => `canvas-connect-${index}`
  return (
    <div class="canvas-connect" role="dialog" aria-label={texts.connectFrom(nameOf(from, shapes))}>
      <label>
        {texts.connectFrom(nameOf(from, shapes))}
        <input
          ref={field}
          type="text"
          role="combobox"
          aria-expanded="true"
          aria-controls="canvas-connect-list"
          aria-autocomplete="list"
          aria-activedescendant={shown.length === 0 ? undefined : optionId(chosen)}
          placeholder={texts.findShape}
          value={words}
          onInput={(event) => {
            setWords(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={(event) => {
            if (event.isComposing) return
            if (event.key === 'Escape') close()
            else if (event.key === 'Enter') connect(shown[chosen])
            else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, shown.length - 1))
            else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0))
            else return
            event.preventDefault()
          }}
          onBlur={(event) => {
            const to = event.relatedTarget
            if (!(to instanceof Node) || event.currentTarget.closest('.canvas-connect')?.contains(to) !== true) close()
          }}
        />
      </label>
      <div id="canvas-connect-list" role="listbox" aria-label={texts.shapeList}>
        {shown.map((id, index) => (
          <div
            key={id}
            id={optionId(index)}
            role="option"
            aria-selected={index === chosen}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => connect(id)}
          >
            {editor.describe(id)}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p>{texts.noShape}</p>}
    </div>
  )
}
