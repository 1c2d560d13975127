import type { ComponentChildren } from 'preact'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

/** A sentence that stands in the page, with what can be done about it. */
export function Notice(props: {
  readonly kind: 'info' | 'warning' | 'danger'
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  readonly icon?: IconName
}) {
  return (
    <div class={`notice notice-${props.kind}`} role={props.kind === 'info' ? undefined : 'alert'}>
      <Icon name={props.icon ?? (props.kind === 'info' ? 'eye' : 'warning')} />
      <div class="notice-text">{props.children}</div>
      {props.actions !== undefined && <div class="notice-actions">{props.actions}</div>}
    </div>
  )
}

/** What is shown while something loads. It appears late, so that what loads at once does not flicker. */
export function Loading({ text }: { readonly text: string }) {
  return (
    <p class="loading" role="status">
      {text}
    </p>
  )
}

/** A place where something would be if there were any. */
export function Empty(props: { readonly title: string; readonly children?: ComponentChildren; readonly icon: IconName }) {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.children}
    </div>
  )
}
