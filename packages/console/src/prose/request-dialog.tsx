import { useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { FormDialog } from '../controls/form-dialog.tsx'

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

export function RequestDialog({ request, onClose }: { readonly request: FormRequest; readonly onClose: () => void }) {
  const { remove } = request
  const [values, setValues] = useState<FormValues>(Object.fromEntries(request.fields.map(({ name, value }) => [name, value])))
  const [flaw, setFlaw] = useState<string | null>(null)
  const set = (name: string, value: string) => {
    const next = { ...values, [name]: value }
    setValues(request.changed?.(name, next) ?? next)
    setFlaw(null)
  }
  const submit = () => {
    const problem = request.done(values)
    if (problem === null) onClose()
    else setFlaw(problem)
  }
  return (
    <FormDialog
      title={request.title}
      action={request.submit}
      formClass="prose-form"
      onSubmit={submit}
      onClose={onClose}
      other={
        remove !== undefined && (
          <Button
            kind="danger"
            onClick={() => {
              remove.done()
              onClose()
            }}
          >
            {remove.label}
          </Button>
        )
      }
    >
      {request.fields.map((field) => (
        <label key={field.name}>
          {field.label}
          <Input field={field} value={values[field.name] ?? ''} onValue={(value) => set(field.name, value)} />
        </label>
      ))}
      {flaw !== null && (
        <p role="alert" class="field-error">
          {flaw}
        </p>
      )}
    </FormDialog>
  )
}

function Input(props: { readonly field: FormField; readonly value: string; readonly onValue: (value: string) => void }) {
  const { field, value, onValue } = props
  const common = { name: field.name, value, required: field.isRequired === true }
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
    return (
      <textarea
        {...common}
        rows={4}
        spellcheck={false}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit()
        }}
      />
    )
  const list = field.suggestions === undefined ? undefined : `prose-form-${field.name}`
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
