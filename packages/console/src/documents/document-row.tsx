import type { CollectionDefinition, DocumentMetadata } from '@docrelay/client'
import { useState } from 'preact/hooks'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { Menu } from '../controls/menu.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'

/** One document in the list, with what its owner can do with it. */
export function DocumentRow({
  document,
  session,
  collection,
  onRemoved,
}: {
  readonly document: DocumentMetadata
  readonly session: Session
  readonly collection: CollectionDefinition | null
  readonly onRemoved: () => void
}) {
  const text = messages.documents
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const name = document.name === '' ? text.namelessTitle : document.name
  const own = document.ownerId === session.person.sub
  const level = text.access[document.access]

  const remove = async (): Promise<void> => {
    setBusy(true)
    try {
      await session.relay.documents.delete(document.id)
      setAsking(false)
      onRemoved()
      session.announce(text.removed(name))
    } catch (error) {
      setProblem(text.notDone(error instanceof Error ? error.message : String(error)))
    } finally {
      setBusy(false)
    }
  }
  return (
    <li class="document-row">
      <Icon name={document.prosePageCount === 0 && document.canvasPageCount > 0 ? 'canvas' : 'document'} />
      <div class="document-row-text">
        <a href={formatRoute({ view: 'document', id: document.id, pageId: null, panel: null })}>{name}</a>
        <p>
          <time dateTime={document.updated_at} title={text.changedAt(document.modifiedAt)}>
            {text.changed(document.modifiedAt, session.now())}
          </time>
          <span>{text.pages(document.pageCount)}</span>
          {!own && <span>{text.owner(document.ownerName || document.ownerId, own)}</span>}
          {collection !== null && <span class="tag">{collection.name}</span>}
          {level !== '' && <span class="tag">{level}</span>}
        </p>
      </div>
      {document.access === 'owner' && (
        <Menu
          label={text.actions(name)}
          items={[{ text: text.remove, icon: 'remove', danger: true, onChoose: () => setAsking(true) }]}
        />
      )}
      {asking && (
        <ConfirmDialog
          title={text.removeTitle(name)}
          text={
            <>
              <p>{text.removeText}</p>
              {problem !== null && <Notice kind="danger">{problem}</Notice>}
            </>
          }
          action={text.remove}
          danger
          busy={busy}
          onConfirm={() => void remove()}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  )
}
