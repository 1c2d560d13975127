import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** A dialog with a form. Enter in a text field submits, like the button; while `isDisabled` nothing is submitted. */
export function FormDialog(props: {
  readonly title: string
  readonly action: string
  readonly children: ComponentChildren
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly isDisabled?: boolean
  readonly formClass?: string
  /** A button that does not submit, placed before the others. */
  readonly other?: ComponentChildren
}) {
  const form = useRef<HTMLFormElement>(null)
  const isDisabled = props.isDisabled ?? false
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      actions={
        <>
          {props.other}
          <Button onClick={props.onClose}>{messages.controls.cancel}</Button>
          <Button kind="primary" disabled={isDisabled} onClick={() => form.current?.requestSubmit()}>
            {props.action}
          </Button>
        </>
      }
    >
      <form
        ref={form}
        class={props.formClass}
        onSubmit={(event) => {
          event.preventDefault()
          if (!isDisabled) props.onSubmit()
        }}
      >
        {props.children}
        {/* Makes Enter in a text field submit; the visible submit button is outside the form. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  )
}
