import type { ComponentChildren } from 'preact'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

export interface ButtonProps {
  readonly onClick?: (event: MouseEvent) => void
  readonly children?: ComponentChildren
  readonly icon?: IconName
  /** `primary` for the button that the person most likely wants, `danger` for an action that cannot be undone, `quiet` without a frame. */
  readonly kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly type?: 'button' | 'submit'
  readonly disabled?: boolean
  /** What the button does, for a button that shows only an icon: read out, and shown as a tooltip. */
  readonly label?: string
  /** Whether a toggle button is pressed; absent for other buttons. */
  readonly pressed?: boolean
  readonly title?: string
  readonly class?: string
}

export function Button(props: ButtonProps) {
  const { icon, kind = 'plain', type = 'button', label, pressed, children, title = label } = props
  const shape = children === undefined ? 'button-icon' : ''
  return (
    <button
      type={type}
      class={`button button-${kind} ${shape} ${props.class ?? ''}`}
      onClick={props.onClick}
      disabled={props.disabled}
      aria-label={label}
      aria-pressed={pressed}
      title={title}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}
