import { useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { FormDialog } from '../controls/form-dialog.tsx'

/** One field of a small dialog. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly kind?: 'line' | 'lines' | 'choice'
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly isRequired?: boolean
  /** Values that the browser suggests while the person types. */
  readonly suggestions?: readonly string[]
}

export type FormValues = Readonly<Record<string, string>>

/** The description of a small dialog with a form. */
export interface FormRequest {
  readonly title: string
  readonly submit: string
  readonly fields: readonly FormField[]
  /** Applies the values. Returns an error text, or `null` on success. */
  readonly done: (values: FormValues) => string | null
  /** Removes the node that the dialog is about. */
  readonly remove?: { readonly label: string; readonly done: () => void }
  /** Called when a value changes. Returns the values that the fields then show. */
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
