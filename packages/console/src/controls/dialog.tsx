import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import { Button } from './button.tsx'

export interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Escape, the cross and the pointer beside the dialog. */
  readonly onClose: () => void
  /** Buttons at the end, the most likely one last. */
  readonly actions?: ComponentChildren
  /** As wide as the window lets it, for what stands side by side. */
  readonly isWide?: boolean
}

/** Asks the person for something; the page behind it cannot be used meanwhile. It is open as long as it is rendered. */
export function Dialog({ title, children, actions, isWide = false, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  /** Who selects text and lets go beside the dialog does not leave it. */
  const wentDownBeside = useRef(false)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // The cross comes first in the order of Tab, but is not what a person wants who opens a dialog to fill it in.
    const first = dialog.current?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')
    first?.focus()
    // What is known already is replaced by what is typed.
    if (first instanceof HTMLInputElement || first instanceof HTMLTextAreaElement) first.select()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={({ target }) => (wentDownBeside.current = target === dialog.current)}
      onClick={({ target }) => target === dialog.current && wentDownBeside.current && onClose()}
    >
      <div class="dialog-content">
        <header class="dialog-header">
          <h2 id={heading}>{title}</h2>
          <Button kind="quiet" icon="close" label={messages.controls.close} onClick={onClose} />
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="dialog-actions">{actions}</footer>}
      </div>
    </dialog>
  )
}

/** Asks before something that cannot be taken back. */
export function ConfirmDialog(props: {
  readonly title: string
  readonly text: ComponentChildren
  readonly action: string
  readonly danger?: boolean
  readonly busy?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}) {
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      actions={
        <>
          <Button onClick={props.onClose}>{messages.controls.cancel}</Button>
          <Button kind={props.danger === true ? 'danger' : 'primary'} disabled={props.busy ?? false} onClick={props.onConfirm}>
            {props.action}
          </Button>
        </>
      }
    >
      {typeof props.text === 'string' ? <p>{props.text}</p> : props.text}
    </Dialog>
  )
}
