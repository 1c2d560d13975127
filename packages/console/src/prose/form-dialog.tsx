import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { messages } from '../messages.en.ts'

/** One thing that a small dialog asks for. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly kind?: 'line' | 'lines' | 'choice'
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly isRequired?: boolean
  /** Values that the browser offers while something is typed. */
  readonly suggestions?: readonly string[]
}

export type FormValues = Readonly<Record<string, string>>

/** A small dialog that asks for something. */
export interface FormRequest {
  readonly title: string
  readonly submit: string
  readonly fields: readonly FormField[]
  /** What the values mean; a text when they cannot be taken. */
  readonly done: (values: FormValues) => string | null
  /** Removes the thing that the dialog is about. */
  readonly remove?: { readonly label: string; readonly done: () => void }
  /** Called when a value changes: what other fields show then. */
  readonly changed?: (name: string, values: FormValues) => FormValues
}

export function FormDialog({ request, onClose }: { readonly request: FormRequest; readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [values, setValues] = useState<FormValues>(Object.fromEntries(request.fields.map(({ name, value }) => [name, value])))
  const [flaw, setFlaw] = useState<string | null>(null)
  useLayoutEffect(() => {
    dialog.current?.showModal()
    // What is known already is replaced by what is typed.
    dialog.current?.querySelector<HTMLInputElement>('label:first-of-type > :is(input, textarea)')?.select()
  }, [])
  const set = (name: string, value: string) => {
    const next = { ...values, [name]: value }
    setValues(request.changed?.(name, next) ?? next)
    setFlaw(null)
  }
  const submit = (event: Event) => {
    event.preventDefault()
    const problem = request.done(values)
    if (problem === null) dialog.current?.close()
    else setFlaw(problem)
  }
  return (
    <dialog ref={dialog} class="prose-dialog" aria-labelledby="prose-dialog-title" onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id="prose-dialog-title">{request.title}</h2>
        {request.fields.map((field, at) => (
          <label key={field.name}>
            {field.label}
            <Input
              field={field}
              value={values[field.name] ?? ''}
              isFirst={at === 0}
              onValue={(value) => set(field.name, value)}
            />
          </label>
        ))}
        {flaw !== null && (
          <p role="alert" class="prose-dialog-flaw">
            {flaw}
          </p>
        )}
        <div class="prose-dialog-buttons">
          {request.remove !== undefined && (
            <button
              type="button"
              class="button-danger"
              onClick={() => {
                request.remove?.done()
                dialog.current?.close()
              }}
            >
              {request.remove.label}
            </button>
          )}
          <span class="prose-dialog-gap" />
          <button type="button" onClick={() => dialog.current?.close()}>
            {messages.prose.cancel}
          </button>
          <button type="submit" class="button-main">
            {request.submit}
          </button>
        </div>
      </form>
    </dialog>
  )
}

function Input(props: {
  readonly field: FormField
  readonly value: string
  readonly isFirst: boolean
  readonly onValue: (value: string) => void
}) {
  const { field, value, onValue } = props
  const common = { name: field.name, value, autofocus: props.isFirst, required: field.isRequired === true }
  if (field.kind === 'choice')
    return (
      <select {...common} onChange={({ currentTarget }) => onValue(currentTarget.value)}>
        {field.options?.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )
  if (field.kind === 'lines')
    return <textarea {...common} rows={4} spellcheck={false} onInput={({ currentTarget }) => onValue(currentTarget.value)} />
  const list = field.suggestions === undefined ? undefined : `prose-dialog-${field.name}`
  return (
    <>
      <input
        {...common}
        type="text"
        list={list}
        autocomplete="off"
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      {list !== undefined && (
        <datalist id={list}>
          {field.suggestions?.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  )
}
