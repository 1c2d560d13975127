import type { CollectionDefinition, DocumentMetadata } from '@docrelay/client'
import { useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { useAction } from '../app/use-relay.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { Field } from '../controls/field.tsx'
import { FormDialog } from '../controls/form-dialog.tsx'
import { messages } from '../messages.en.ts'

const texts = messages.documents
/** Values that are no collection id: the console makes UUIDs, and an id has at least one character. */
const [NONE, NEW] = ['', ' new']

/** Asks into which collection, old or new, a document goes. */
export function MoveDialog(props: {
  readonly session: Session
  readonly document: DocumentMetadata
  readonly title: string
  readonly collections: readonly CollectionDefinition[]
  readonly onClose: () => void
}) {
  const { document, collections, onClose } = props
  const { relay, announce } = props.session
  const [chosen, choose] = useState(document.collectionId ?? NONE)
  const [name, setName] = useState('')
  const moving = useAction()
  const move = () =>
    moving.run(async () => {
      const id = chosen === NEW ? crypto.randomUUID() : chosen
      if (chosen === NEW) {
        const { collections: known, version } = await relay.collections.get()
        await relay.collections.put([...known, { id, name: name.trim() }], { expectedVersion: version })
      }
      await relay.documents.setCollection(document.id, id === NONE ? null : id)
      announce(texts.moved)
      onClose()
    })
  return (
    <FormDialog title={props.title} action={texts.moveAction} isDisabled={moving.isRunning} onSubmit={move} onClose={onClose}>
      <select aria-label={texts.collection} value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value={NONE}>{texts.noCollection}</option>
        {collections.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
        <option value={NEW}>{texts.newCollection}</option>
      </select>
      {chosen === NEW && <Field label={texts.newCollectionName} value={name} onInput={setName} required />}
      <Problem words={moving.problem} />
    </FormDialog>
  )
}

/** A button that renames a collection. Its documents refer to it by id and are not changed. */
export function RenameCollection(props: {
  readonly session: Session
  readonly collection: CollectionDefinition
  readonly onRenamed: (renamed: CollectionDefinition) => void
}) {
  const { relay } = props.session
  const { id } = props.collection
  const [isAsking, setAsking] = useState(false)
  const [name, setName] = useState('')
  const renaming = useAction()
  const rename = () =>
    renaming.run(async () => {
      const { collections, version } = await relay.collections.get()
      const renamed = { ...(collections.find((one) => one.id === id) ?? props.collection), name: name.trim() }
      await relay.collections.put(
        collections.map((one) => (one.id === id ? renamed : one)),
        { expectedVersion: version },
      )
      setAsking(false)
      props.onRenamed(renamed)
    })
  const ask = () => {
    setName(props.collection.name)
    renaming.forget()
    setAsking(true)
  }
  return (
    <>
      <Button icon="edit" label={texts.renameCollection} onClick={ask} />
      {isAsking && (
        <FormDialog
          title={texts.renameTitle(props.collection.name)}
          action={texts.rename}
          isDisabled={renaming.isRunning || name.trim() === ''}
          onSubmit={rename}
          onClose={() => setAsking(false)}
        >
          <Field label={texts.newCollectionName} value={name} onInput={setName} required />
          <Problem words={renaming.problem} />
        </FormDialog>
      )}
    </>
  )
}

/** A button that removes a collection, after a confirmation. */
export function RemoveCollection(props: {
  readonly session: Session
  readonly collection: CollectionDefinition
  readonly onRemoved: () => void
}) {
  const { relay } = props.session
  const { id, name } = props.collection
  const [isAsking, setAsking] = useState(false)
  const removing = useAction()
  const remove = () =>
    removing.run(async () => {
      // Takes the documents out first; a document would keep the id of a removed collection and be in no list of a collection.
      for (const document of await relay.collections.documents(id))
        if (document.access !== 'view') await relay.documents.setCollection(document.id, null)
      const { collections, version } = await relay.collections.get()
      await relay.collections.put(
        collections.filter((one) => one.id !== id),
        { expectedVersion: version },
      )
      props.onRemoved()
    })
  return (
    <>
      <Button icon="remove" label={texts.removeCollection} onClick={() => setAsking(true)} />
      {isAsking && (
        <ConfirmDialog
          title={texts.removeCollectionTitle(name)}
          text={
            <>
              <p>{texts.removeCollectionText}</p>
              <Problem words={removing.problem} />
            </>
          }
          action={texts.removeCollection}
          danger
          busy={removing.isRunning}
          onConfirm={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
