import { useRef, useState } from 'preact/hooks'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor, Tool } from './canvas-editor.ts'
import { Icon, type IconName } from './canvas-icons.tsx'
import type { CanvasKeys } from './canvas-keys.ts'
import { isConnectable, isLabelled, type NewShape } from './page-edits.ts'

interface Action {
  readonly icon: IconName
  readonly label: string
  readonly run: (event: MouseEvent) => void
  readonly isPressed?: boolean
  readonly isDisabled?: boolean
}

interface ToolbarProps {
  readonly editor: CanvasEditor
  readonly keys: CanvasKeys
  readonly isOutlineOpen: boolean
  readonly onOutline: () => void
  readonly onKeys: () => void
}

/** The buttons above a canvas; arrow keys go from one to the next, as in every toolbar. */
export function CanvasToolbar(props: ToolbarProps) {
  const groups = groupsOf(props)
  const bar = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState('')
  const labels = groups.flatMap((group) => group.map(({ label }) => label))
  const stop = labels.includes(focused) ? focused : labels[0]

  const go = (event: KeyboardEvent): void => {
    const at = labels.indexOf(stop ?? '')
    const next =
      event.key === 'ArrowRight'
        ? at + 1
        : event.key === 'ArrowLeft'
          ? at - 1
          : event.key === 'Home'
            ? 0
            : event.key === 'End'
              ? labels.length - 1
              : null
    if (next === null) return
    event.preventDefault()
    bar.current?.querySelectorAll('button')[(next + labels.length) % labels.length]?.focus()
  }

  return (
    <div class="canvas-toolbar" role="toolbar" aria-label={texts.toolbar} ref={bar} onKeyDown={go}>
      {groups.map((group) => (
        <div class="canvas-tools" key={group[0]?.label}>
          {group.map(({ icon, label, run, isPressed, isDisabled = false }) => (
            <button
              key={label}
              type="button"
              title={label}
              aria-label={label}
              aria-pressed={isPressed}
              aria-disabled={isDisabled}
              tabIndex={label === stop ? 0 : -1}
              onFocus={() => setFocused(label)}
              onClick={(event) => {
                if (!isDisabled) run(event)
              }}
            >
              <Icon name={icon} />
            </button>
          ))}
        </div>
      ))}
      <output class="canvas-zoom">{texts.zoom(props.editor.view.value.scale)}</output>
    </div>
  )
}

function groupsOf({ editor, keys, isOutlineOpen, onOutline, onKeys }: ToolbarProps): readonly (readonly Action[])[] {
  const { selection, active, tool, history, readOnly, page } = editor
  // Read so that the bar is drawn again when shapes change.
  void editor.version.value
  const chosen = selection.value.size > 0 || active.value !== null
  const one = active.value ?? [...selection.value][0]
  const value = one === undefined ? undefined : page.shapes.get(one)
  const pick = (name: Tool, label: string): Action => ({
    icon: name,
    label,
    isPressed: tool.value === name,
    run: () => (tool.value = tool.value === name ? 'select' : name),
  })
  const make = (kind: NewShape['kind'], label: string): Action => ({
    ...pick(kind, label),
    // `detail` is 0 when a key pressed the button: then the shape is added in the middle of the view.
    run: (event) => (event.detail === 0 ? editor.addInView(kind) : (tool.value = tool.value === kind ? 'select' : kind)),
  })
  const view: readonly Action[] = [
    { icon: 'zoomOut', label: texts.zoomOut, run: () => editor.zoom(0.8) },
    { icon: 'zoomIn', label: texts.zoomIn, run: () => editor.zoom(1.25) },
    { icon: 'fit', label: texts.fit, run: () => editor.fit() },
    { icon: 'outline', label: texts.outline, isPressed: isOutlineOpen, run: onOutline },
    { icon: 'keys', label: texts.keysTitle, run: onKeys },
  ]
  if (readOnly.value) return [[pick('select', texts.select), pick('hand', texts.hand)], view]
  return [
    [pick('select', texts.select), pick('hand', texts.hand)],
    [make('rectangle', texts.rectangle), make('ellipse', texts.ellipse), make('text', texts.text)],
    [
      {
        icon: 'connect',
        label: texts.connectTo,
        isDisabled: value === undefined || !isConnectable(value),
        run: () => keys.openConnect(),
      },
      {
        icon: 'label',
        label: texts.label,
        isDisabled: value === undefined || !isLabelled(value),
        run: () => one !== undefined && editor.edit(one),
      },
      { icon: 'duplicate', label: texts.duplicate, isDisabled: !chosen, run: () => editor.duplicate() },
      { icon: 'delete', label: texts.delete, isDisabled: !chosen, run: () => editor.remove() },
    ],
    [
      { icon: 'front', label: texts.front, isDisabled: !chosen, run: () => editor.restack('front') },
      { icon: 'forward', label: texts.forward, isDisabled: !chosen, run: () => editor.restack('forward') },
      { icon: 'backward', label: texts.backward, isDisabled: !chosen, run: () => editor.restack('backward') },
      { icon: 'back', label: texts.back, isDisabled: !chosen, run: () => editor.restack('back') },
    ],
    [
      { icon: 'undo', label: texts.undo, isDisabled: !history.value.canUndo, run: () => editor.undo() },
      { icon: 'redo', label: texts.redo, isDisabled: !history.value.canRedo, run: () => editor.redo() },
    ],
    view,
  ]
}
