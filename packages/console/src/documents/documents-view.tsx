import type { CollectionDefinition } from '@docrelay/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Field } from '../controls/field.tsx'
import { Empty, Loading, Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { RemoveCollection, RenameCollection } from './collections.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { DocumentList, type ListState } from './document-list.ts'
import { DocumentRow } from './document-row.tsx'
import { SearchHits } from './search-hits.tsx'
import './documents.css'

const PAUSE_MS = 200

/** The documents of the workspace that the person may see. */
export function DocumentsView({ session }: { readonly session: Session }) {
  const text = messages.documents
  const [typed, setTyped] = useState('')
  const q = useSettled(typed)
  const [collectionId, setCollectionId] = useState<string | null>(null)
  const [collections, setCollections] = useState<readonly CollectionDefinition[]>([])
  const [state, setState] = useState<ListState | null>(null)
  const list = useRef<DocumentList | null>(null)
  const [creating, setCreating] = useState(false)

  useEffect(() => {
    setState(null)
    const opened = new DocumentList(session.relay, { q, collectionId }, setState)
    list.current = opened
    return () => opened.close()
  }, [session, q, collectionId])
  // A document in an unknown collection: somebody made the collection after the collections were loaded.
  const unknown = state?.documents.find((one) => one.collectionId && !collections.some(({ id }) => id === one.collectionId))
  useEffect(() => {
    const ended = new AbortController()
    // A failure is ignored, since the list works without collections.
    session.relay.collections.get({ signal: ended.signal }).then(
      (registry) => setCollections(registry.collections),
      () => {},
    )
    return () => ended.abort()
  }, [session, unknown?.collectionId])
  const collection = collections.find(({ id }) => id === collectionId)

  return (
    <main class="documents-view">
      <div class="documents-head">
        <h1>{text.title}</h1>
        <Button kind="primary" icon="add" onClick={() => setCreating(true)}>
          {text.create}
        </Button>
      </div>
      <div class="documents-filter" role="search">
        <Field label={text.search} hideLabel type="search" placeholder={text.search} value={typed} onInput={setTyped} />
        {collections.length > 0 && (
          <select
            aria-label={text.collection}
            value={collectionId === null ? 'all' : `in ${collectionId}`}
            onChange={({ currentTarget: { value } }) => setCollectionId(value === 'all' ? null : value.slice(3))}
          >
            <option value="all">{text.all}</option>
            {collections.map(({ id, name }) => (
              <option key={id} value={`in ${id}`}>
                {name}
              </option>
            ))}
            <option value="in ">{text.noCollection}</option>
          </select>
        )}
        {collection !== undefined && (
          <>
            <RenameCollection
              session={session}
              collection={collection}
              onRenamed={(renamed) => setCollections(collections.map((one) => (one === collection ? renamed : one)))}
            />
            <RemoveCollection
              session={session}
              collection={collection}
              onRemoved={() => {
                setCollectionId(null)
                setCollections(collections.filter((one) => one !== collection))
              }}
            />
          </>
        )}
      </div>
      {state === null || (state.status === 'loading' && state.documents.length === 0) ? (
        <Loading text={text.loading} />
      ) : (
        <Found
          state={state}
          list={list.current}
          session={session}
          q={q}
          filtered={collectionId !== null}
          collections={collections}
        />
      )}
      {q.trim() !== '' && <SearchHits session={session} q={q} />}
      {creating && <CreateDialog session={session} collectionId={collectionId} onClose={() => setCreating(false)} />}
    </main>
  )
}

function Found(props: {
  readonly state: ListState
  readonly list: DocumentList | null
  readonly session: Session
  readonly q: string
  readonly filtered: boolean
  readonly collections: readonly CollectionDefinition[]
}) {
  const text = messages.documents
  const { state, list, session, q } = props
  const retry = <Button onClick={() => void list?.load()}>{messages.app.tryAgain}</Button>
  const { documents } = state
  return (
    <>
      {state.status === 'failed' && (
        <Notice kind="danger" actions={retry}>
          {text.failed(state.error ?? '')}
        </Notice>
      )}
      {state.status === 'ready' && documents.length === 0 && (
        <Empty
          icon={q === '' ? 'document' : 'search'}
          title={q !== '' ? text.noneFound(q.trim()) : props.filtered ? text.noneInCollection : text.none}
        >
          {q === '' && !props.filtered && <p>{text.noneText}</p>}
        </Empty>
      )}
      {documents.length > 0 && (
        <ul class="documents-list" aria-label={text.title}>
          {documents.map((document) => (
            <DocumentRow
              key={document.id}
              document={document}
              session={session}
              collections={props.collections}
              onRemoved={() => list?.remove(document.id)}
            />
          ))}
        </ul>
      )}
      {state.next !== null && (
        <Button class="documents-more" onClick={() => void list?.loadMore()}>
          {text.more}
        </Button>
      )}
    </>
  )
}

/** Returns the text once nobody has typed for a moment, so that not every letter is a request. */
function useSettled(typed: string): string {
  const [settled, setSettled] = useState(typed)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(typed), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return settled
}
