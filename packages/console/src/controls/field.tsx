import type { RefObject } from 'preact'
import { useId } from 'preact/hooks'

/** A text field with its label, a help text and an error text. */
export function Field(props: {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly type?: 'text' | 'search' | 'email'
  /** The label is read out by screen readers but not shown. */
  readonly hideLabel?: boolean
  readonly hint?: string
  readonly error?: string | null
  readonly placeholder?: string
  readonly required?: boolean
  readonly inputRef?: RefObject<HTMLInputElement>
}) {
  const id = useId()
  const told = props.error ?? props.hint ?? null
  return (
    <div class="field">
      <label for={id} class={props.hideLabel === true ? 'visually-hidden' : ''}>
        {props.label}
      </label>
      <input
        id={id}
        ref={props.inputRef}
        // The types of Preact allow only one literal input type here.
        type={(props.type ?? 'text') as 'text'}
        value={props.value}
        placeholder={props.placeholder}
        required={props.required}
        autocomplete="off"
        aria-invalid={props.error != null}
        aria-describedby={told === null ? undefined : `${id}-told`}
        onInput={(event) => props.onInput(event.currentTarget.value)}
      />
      {told !== null && (
        <p id={`${id}-told`} class={props.error == null ? 'field-hint' : 'field-error'}>
          {told}
        </p>
      )}
    </div>
  )
}
