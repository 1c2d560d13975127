import type { DocumentMetadata } from '@docrelay/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from '../controls/notice.tsx'
import { useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import { idFlaw, readShares, reasonOf, type Share, withLevel } from './access.ts'
import { ShareLinks } from './share-links.tsx'
import { TransferDialog } from './transfer-dialog.tsx'
import './sharing.css'

const texts = messages.sharing

/** Shows who may read and edit the document, and why, and its share links. */
export function SharingPanel({ session, document }: PanelProps) {
  const { relay, person } = session
  const level = useLevel(document)
  const loaded = useLoaded((signal) => relay.documents.metadata(document.id, { signal }), [relay, document.id, level])
  const { value: metadata, reload } = loaded
  useEffect(() => relay.on('event', ({ docId }) => docId === document.id && reload()), [relay, document.id, reload])

  return (
    <section class="sharing-panel" data-document={document.id}>
      <h2>{texts.title}</h2>
      <Problem words={loaded.problem} />
      {metadata === null ? (
        loaded.problem === null && <Loading text={texts.loading} />
      ) : (
        <>
          <p class="reason">{texts.reason[reasonOf(person.sub, metadata)](metadata.access)}</p>
          <People session={session} document={document} metadata={metadata} onChanged={reload} />
          {metadata.access === 'owner' && <ShareLinks session={session} document={document} />}
        </>
      )}
    </section>
  )
}

interface PeopleProps extends PanelProps {
  readonly metadata: DocumentMetadata
  readonly onChanged: () => void
}

function People({ session, document, metadata, onChanged }: PeopleProps) {
  const { relay, person, announce } = session
  const heading = useRef<HTMLHeadingElement>(null)
  const changing = useAction()
  const [isTransferring, setTransferring] = useState(false)
  const isOwner = metadata.access === 'owner'
  const shares = readShares(metadata.sharedWith)
  const { ownerId, ownerName } = metadata

  const setLevel = (share: Pick<Share, 'userId' | 'userName'>, level: 'view' | 'edit' | null, then?: () => void) =>
    changing.run(async () => {
      // Loads the present list first, because the whole list is replaced.
      const now = await relay.documents.metadata(document.id)
      await relay.documents.setShares(document.id, withLevel(readShares(now.sharedWith), share.userId, level))
      const name = share.userName ?? share.userId
      announce(level === null ? texts.removed(name) : texts.nowMay(name, level))
      onChanged()
      then?.()
    })

  return (
    <>
      <h3 ref={heading} tabIndex={-1}>
        {texts.people}
      </h3>
      <Problem words={changing.problem} />
      <ul class="panel-rows">
        {ownerId === '' ? (
          <li>{texts.nobodyOwns}</li>
        ) : (
          <li>
            <Name id={ownerId} name={ownerName === ownerId ? null : ownerName} own={ownerId === person.sub} />
            <span class="facts">{texts.owner}</span>
          </li>
        )}
        {shares
          .filter(({ userId }) => userId !== ownerId)
          .map((share) => {
            const name = share.userName ?? share.userId
            return (
              <li key={share.userId}>
                <Name id={share.userId} name={share.userName} own={share.userId === person.sub} />
                {!isOwner || share.level === 'owner' ? (
                  <span class="facts">{texts.level[share.level]}</span>
                ) : (
                  <select
                    aria-label={texts.levelOf(name)}
                    value={share.level}
                    disabled={changing.isRunning}
                    onChange={({ currentTarget }) => setLevel(share, currentTarget.value as 'view' | 'edit')}
                  >
                    <option value="view">{texts.level.view}</option>
                    <option value="edit">{texts.level.edit}</option>
                  </select>
                )}
                {isOwner && (
                  <Button
                    kind="quiet"
                    icon="remove"
                    label={texts.removeName(name)}
                    disabled={changing.isRunning}
                    onClick={() => setLevel(share, null, () => heading.current?.focus())}
                  />
                )}
              </li>
            )
          })}
      </ul>
      {metadata.access === 'view' && <p class="help">{texts.onlyOwn}</p>}
      {metadata.access !== 'view' && shares.length === 0 && ownerId !== '' && <p class="help">{texts.nobodyElse}</p>}
      {isOwner && (
        <>
          <AddForm
            flawOf={(userId) => idFlaw(userId, ownerId, shares)}
            isRunning={changing.isRunning}
            onAdd={(userId, level, done) => setLevel({ userId, userName: null }, level, done)}
          />
          <Button onClick={() => setTransferring(true)}>{texts.transfer}</Button>
        </>
      )}
      {isTransferring && (
        <TransferDialog
          session={session}
          document={document}
          shares={shares}
          onDone={onChanged}
          onClose={() => setTransferring(false)}
        />
      )}
    </>
  )
}

function Name({ id, name, own }: { readonly id: string; readonly name: string | null; readonly own: boolean }) {
  return (
    <span class="name">
      {name ?? id}
      {own && ` (${texts.you})`}
      {name !== null && <span class="facts"> {id}</span>}
    </span>
  )
}

function AddForm(props: {
  readonly flawOf: (userId: string) => keyof typeof texts.flaw | null
  readonly isRunning: boolean
  readonly onAdd: (userId: string, level: 'view' | 'edit', done: () => void) => void
}) {
  const [userId, setUserId] = useState('')
  const [level, setLevel] = useState<'view' | 'edit'>('edit')
  const [flaw, setFlaw] = useState<keyof typeof texts.flaw | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const add = (event: Event) => {
    event.preventDefault()
    const found = props.flawOf(userId.trim())
    setFlaw(found)
    if (found !== null) return field.current?.focus()
    props.onAdd(userId.trim(), level, () => {
      setUserId('')
      field.current?.focus()
    })
  }
  return (
    <form class="add" onSubmit={add} noValidate>
      <label for="share-with">{texts.add}</label>
      <div class="add-fields">
        <input
          ref={field}
          id="share-with"
          value={userId}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          aria-describedby="share-help"
          aria-invalid={flaw !== null}
          onInput={({ currentTarget }) => {
            setUserId(currentTarget.value)
            setFlaw(null)
          }}
        />
        <select
          aria-label={texts.levelOf(userId)}
          value={level}
          onChange={({ currentTarget }) => setLevel(currentTarget.value as 'view' | 'edit')}
        >
          <option value="view">{texts.level.view}</option>
          <option value="edit">{texts.level.edit}</option>
        </select>
        <Button type="submit" kind="primary" disabled={props.isRunning}>
          {texts.addButton}
        </Button>
      </div>
      <p id="share-help" class={flaw === null ? 'help' : 'flaw'} aria-live="polite">
        {flaw === null ? texts.addHelp : texts.flaw[flaw]}
      </p>
    </form>
  )
}
