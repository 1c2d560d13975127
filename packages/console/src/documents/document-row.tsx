import type { CollectionDefinition, DocumentMetadata } from '@docrelay/client'
import { useState } from 'preact/hooks'
import { sentenceOf } from '../app/error-words.ts'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { Menu } from '../controls/menu.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { MoveDialog } from './collections.tsx'

/** One document in the list, with the actions that its owner has. */
export function DocumentRow({
  document,
  session,
  collections,
  onRemoved,
}: {
  readonly document: DocumentMetadata
  readonly session: Session
  readonly collections: readonly CollectionDefinition[]
  readonly onRemoved: () => void
}) {
  const text = messages.documents
  const [asking, setAsking] = useState<'remove' | 'move' | null>(null)
  const collection = collections.find(({ id }) => id === document.collectionId)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const name = document.name === '' ? text.namelessTitle : document.name
  const own = document.ownerId === session.person.sub
  const level = text.access[document.access]

  const remove = async (): Promise<void> => {
    setBusy(true)
    try {
      await session.relay.documents.delete(document.id)
      setAsking(null)
      onRemoved()
      session.announce(text.removed(name))
    } catch (error) {
      setProblem(sentenceOf(error))
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
          {collection !== undefined && <span class="tag">{collection.name}</span>}
          {level !== '' && <span class="tag">{level}</span>}
        </p>
      </div>
      {document.access !== 'view' && (
        <Menu
          label={text.actions(name)}
          items={[
            { text: text.move, icon: 'collection', onChoose: () => setAsking('move') },
            ...(document.access === 'owner'
              ? [{ text: text.remove, icon: 'remove' as const, danger: true, onChoose: () => setAsking('remove') }]
              : []),
          ]}
        />
      )}
      {asking === 'move' && (
        <MoveDialog
          session={session}
          document={document}
          title={text.moveTitle(name)}
          collections={collections}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'remove' && (
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
          onClose={() => setAsking(null)}
        />
      )}
    </li>
  )
}
