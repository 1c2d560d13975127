import { useRef, useState } from 'preact/hooks'
import { Icon } from './icons.tsx'
import type { Tool, ToolGroup, ToolState } from './tool-list.ts'

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform)

/** Returns a key such as `Mod-Shift-8` as this platform writes it. */
function shownKeys(keys: string): string {
  const names: Record<string, string> = isMac() ? { Mod: '⌘', Shift: '⇧', Alt: '⌥' } : { Mod: 'Ctrl' }
  return keys
    .split('-')
    .map((part) => names[part] ?? part.toUpperCase().replace(/^(SHIFT|ALT)$/, (name) => name[0] + name.slice(1).toLowerCase()))
    .join(isMac() ? '' : '+')
}

function ariaKeys(keys: string): string {
  return keys.replace('Mod', isMac() ? 'Meta' : 'Control').replaceAll('-', '+')
}

/** A row of buttons. One button is in the Tab order; arrow keys move to the others, and Escape moves back to the text. */
export function Toolbar(props: {
  readonly label: string
  readonly groups: readonly ToolGroup[]
  readonly state: ToolState
  readonly onTool: (tool: Tool) => void
  readonly onLeave: () => void
}) {
  const bar = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState<string | null>(null)
  const tools = props.groups.flat()
  const inOrder = tools.some(({ id }) => id === current) ? current : tools[0]?.id
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return props.onLeave()
    const at = tools.findIndex(({ id }) => id === (event.target as HTMLElement).dataset['tool'])
    const backwards = getComputedStyle(bar.current as HTMLElement).direction === 'rtl' ? 'ArrowRight' : 'ArrowLeft'
    const forwards = backwards === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft'
    const steps: Record<string, number> = { [backwards]: at - 1, [forwards]: at + 1, Home: 0, End: tools.length - 1 }
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    const { id } = tools[(next + tools.length) % tools.length] as Tool
    setCurrent(id)
    bar.current?.querySelector<HTMLElement>(`[data-tool="${id}"]`)?.focus()
  }
  return (
    <div ref={bar} class="toolbar" role="toolbar" aria-label={props.label} onKeyDown={onKeyDown}>
      {props.groups.map((group) => (
        <div key={group[0]?.id} class="toolbar-group">
          {group.map((tool) => (
            <ToolButton
              key={tool.id}
              tool={tool}
              state={props.state}
              isInOrder={tool.id === inOrder}
              onFocus={() => setCurrent(tool.id)}
              onPress={() => props.onTool(tool)}
            />
          ))}
        </div>
      ))}
    </div>
  )
}

function ToolButton(props: {
  readonly tool: Tool
  readonly state: ToolState
  readonly isInOrder: boolean
  readonly onFocus: () => void
  readonly onPress: () => void
}) {
  const { tool, state } = props
  const isUnusable = state.unusable.has(tool.id)
  const isNamed = tool.icon === undefined && tool.text === undefined
  return (
    <button
      type="button"
      class={`tool tool-${tool.id}`}
      data-tool={tool.id}
      tabIndex={props.isInOrder ? 0 : -1}
      aria-label={isNamed ? undefined : nameOf(tool)}
      title={tool.keys === undefined ? (isNamed ? undefined : tool.label) : `${tool.label} (${shownKeys(tool.keys)})`}
      aria-keyshortcuts={tool.keys === undefined ? undefined : ariaKeys(tool.keys)}
      aria-pressed={tool.isActive === undefined ? undefined : state.active.has(tool.id)}
      aria-disabled={isUnusable}
      // Prevents the button from taking the focus, so that the text keeps it with the selection.
      onMouseDown={(event) => event.preventDefault()}
      onFocus={props.onFocus}
      onClick={() => !isUnusable && props.onPress()}
    >
      {tool.icon !== undefined ? <Icon name={tool.icon} /> : (tool.text ?? tool.label)}
    </button>
  )
}

/** Returns the name of a tool. It includes the letters that the button shows, because users of voice control say these. */
function nameOf({ icon, text, label }: Tool): string {
  return icon === undefined && text !== undefined ? `${text}, ${label}` : label
}
