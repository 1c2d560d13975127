import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { messages } from '../messages.en.ts'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

/** Asks for values. Enter in a line submits, as the button does; the form is not submitted while `isDisabled`. */
export function FormDialog(props: {
  readonly title: string
  readonly action: string
  readonly children: ComponentChildren
  readonly onSubmit: () => void
  readonly onClose: () => void
  readonly isDisabled?: boolean
  readonly formClass?: string
  /** A button for something else than submitting, before the others. */
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
        {/* By it Enter in a line submits; the button that is seen stands outside the form. */}
        <button type="submit" hidden />
      </form>
    </Dialog>
  )
}
