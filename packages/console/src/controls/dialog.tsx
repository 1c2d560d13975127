import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import { Button } from './button.tsx'

export interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Called for Escape, for the close button and for a press beside the dialog. */
  readonly onClose: () => void
  /** Buttons at the end of the dialog, the most likely one last. */
  readonly actions?: ComponentChildren
  /** Makes the dialog as wide as the window allows, for content side by side. */
  readonly isWide?: boolean
}

/** A modal dialog, open as long as it is rendered. */
export function Dialog({ title, children, actions, isWide = false, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const heading = useId()
  /** Whether the pointer went down beside the dialog. Selecting text and releasing beside the dialog does not close it. */
  const wentDownBeside = useRef(false)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // The close button is first in the Tab order, but a person who opens a dialog wants its first field.
    const first = dialog.current?.querySelector<HTMLElement>('.dialog-body :is(input, select, textarea)')
    first?.focus()
    // Selects the present value, so that typing replaces it.
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

/** Asks for confirmation of something that cannot be undone. */
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
