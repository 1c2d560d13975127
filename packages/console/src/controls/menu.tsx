import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

export interface MenuItem {
  readonly text: string
  readonly icon?: IconName
  readonly onChoose: () => void
  readonly danger?: boolean
  readonly disabled?: boolean
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

/** A button that opens a list of actions. Arrow keys move, Enter chooses, Escape closes. */
export function Menu(props: {
  /** The accessible name of the button, which shows only a drawing. */
  readonly label: string
  /** Whether the button shows a text, which is then its name. */
  readonly hasText?: boolean
  readonly items: readonly MenuItem[]
  /** The content of the button; three dots when absent. */
  readonly children?: ComponentChildren
  /** Text above the actions. */
  readonly heading?: ComponentChildren
}) {
  const [open, setOpen] = useState(false)
  const root = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  const entries = (): HTMLButtonElement[] => [
    ...(root.current?.querySelectorAll<HTMLButtonElement>('[role=menuitem]:not(:disabled)') ?? []),
  ]
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  useEffect(() => {
    if (!open) return
    entries()[0]?.focus()
    const outside = (event: Event): void => {
      if (event.target instanceof Node && root.current?.contains(event.target) !== true) setOpen(false)
    }
    addEventListener('pointerdown', outside)
    addEventListener('focusin', outside)
    return () => {
      removeEventListener('pointerdown', outside)
      removeEventListener('focusin', outside)
    }
  }, [open])
  const onKeyDown = (event: KeyboardEvent): void => {
    const all = entries()
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? all.length - 1 : at + (STEPS[event.key] ?? 0)
    if (event.key === 'Escape') close()
    else if (event.key === 'Tab') return setOpen(false)
    else if (to === at) return
    else all[(to + all.length) % all.length]?.focus()
    event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div class="menu" ref={root}>
      <button
        ref={button}
        type="button"
        class={`button button-quiet ${props.children === undefined ? 'button-icon' : ''}`}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={props.hasText === true ? undefined : props.label}
        title={props.label}
        onClick={() => setOpen(!open)}
      >
        {props.children ?? <Icon name="more" />}
      </button>
      {open && (
        <div class="menu-list">
          {props.heading !== undefined && <div class="menu-heading">{props.heading}</div>}
          <div id={id} role="menu" tabIndex={-1} aria-label={props.label} onKeyDown={onKeyDown}>
            {props.items.map((item) => (
              <button
                key={item.text}
                type="button"
                role="menuitem"
                class={`menu-item ${item.danger === true ? 'menu-item-danger' : ''}`}
                disabled={item.disabled}
                onClick={() => {
                  close()
                  item.onChoose()
                }}
              >
                {item.icon !== undefined && <Icon name={item.icon} />}
                {item.text}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  )
}
