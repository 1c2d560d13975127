import { memberOf } from '@docrelay/model/json'
import type { ComponentProps, Ref } from 'preact'
import { canvasTexts as texts } from './canvas.en.ts'
import type { CanvasEditor } from './canvas-editor.ts'

/** How many shapes before and after the active one are in the list. `aria-posinset` gives the place of each among all shapes. */
const AROUND = 60

interface ListProps {
  readonly editor: CanvasEditor
  readonly listRef: Ref<HTMLDivElement>
  readonly keysId: string
  readonly events: Pick<ComponentProps<'div'>, 'onKeyDown' | 'onKeyUp' | 'onBlur' | 'onCopy' | 'onCut' | 'onPaste'>
}

/** The shapes as a list in reading order, for the keyboard and for screen readers. The list has the focus while the canvas is used. */
export function ShapeList({ editor, listRef, keysId, events }: ListProps) {
  const { order, active, selection } = editor
  const ids = order.value
  const at = active.value === null ? 0 : Math.max(0, ids.indexOf(active.value))
  const from = Math.max(0, at - AROUND)
  const shown = ids.slice(from, at + AROUND)
  const optionId = (id: string) => `shape-option-${id}`
  return (
    <div
      class="canvas-list"
      role="listbox"
      aria-label={texts.shapeList}
      aria-multiselectable="true"
      aria-describedby={keysId}
      aria-activedescendant={active.value === null ? undefined : optionId(active.value)}
      tabIndex={0}
      ref={listRef}
      {...events}
    >
      {shown.map((id, i) => (
        <div
          key={id}
          id={optionId(id)}
          role="option"
          aria-selected={selection.value.has(id)}
          aria-posinset={from + i + 1}
          aria-setsize={ids.length}
        >
          {optionText(id, editor)}
        </div>
      ))}
    </div>
  )
}

function optionText(id: string, editor: CanvasEditor): string {
  const value = editor.page.shapes.get(id)
  const by = editor.peers.value.filter(({ selection }) => selection.includes(id))
  const names = (isAgent: boolean) => by.filter((peer) => peer.isAgent === isAgent).map(({ name }) => name)
  const [people, agents] = [names(false), names(true)]
  return [
    editor.describe(id),
    ...(value !== undefined && memberOf(value, 'locked') === true ? [texts.locked] : []),
    ...(people.length > 0 ? [texts.selectedBy(people.join(', '))] : []),
    ...(agents.length > 0 ? [texts.writtenBy(agents.join(', '))] : []),
  ].join(', ')
}
