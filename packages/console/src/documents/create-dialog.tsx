import { useState } from 'preact/hooks'
import { sentenceOf } from '../app/error-words.ts'
import type { Session } from '../app/views.ts'
import { Field } from '../controls/field.tsx'
import { FormDialog } from '../controls/form-dialog.tsx'
import { messages } from '../messages.en.ts'

/** Asks for a name, makes a document with one empty text page, and opens it. */
export function CreateDialog({
  session,
  collectionId,
  onClose,
}: {
  readonly session: Session
  /** The collection that the person looks at. The new document goes there, so that it appears in the list. */
  readonly collectionId: string | null
  readonly onClose: () => void
}) {
  const text = messages.documents
  const [name, setName] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)

  const create = async (): Promise<void> => {
    setBusy(true)
    const id = crypto.randomUUID()
    const title = name.trim() === '' ? text.namelessTitle : name.trim()
    try {
      const page = { id: crypto.randomUUID(), name: messages.document.newProse, content: '' }
      await session.relay.documents.put(id, { name: title, richTextPages: [page] }, { expectedVersion: 0 })
      if (collectionId !== null && collectionId !== '') await session.relay.documents.setCollection(id, collectionId)
      onClose()
      session.go({ view: 'document', id, pageId: null, panel: null })
    } catch (error) {
      setBusy(false)
      setProblem(sentenceOf(error))
    }
  }
  return (
    <FormDialog title={text.create} action={text.createAction} isDisabled={busy} onSubmit={() => void create()} onClose={onClose}>
      <Field label={text.name} value={name} onInput={setName} error={problem} placeholder={text.namelessTitle} />
    </FormDialog>
  )
}
