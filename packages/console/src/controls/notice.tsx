import type { ComponentChildren } from 'preact'
import type { IconName } from './drawings.ts'
import { Icon } from './icon.tsx'

/** A message in the page, with buttons for what the person can do about it. */
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

/** Shown while something loads. It appears with a delay, so that a quick load does not flicker. */
export function Loading({ text }: { readonly text: string }) {
  return (
    <p class="loading" role="status">
      {text}
    </p>
  )
}

/** Shown in place of an empty list. */
export function Empty(props: { readonly title: string; readonly children?: ComponentChildren; readonly icon: IconName }) {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <h2>{props.title}</h2>
      {props.children}
    </div>
  )
}
