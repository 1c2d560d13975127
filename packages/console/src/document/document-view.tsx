import type { LiveDocument } from '@docrelay/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { formatRoute, type Panel } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Empty, Loading, Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { OpenDocument, ProsePage } from './open-document.tsx'
import type { OpenDocuments } from './open-documents.ts'
import { reasonOf } from './saved-words.ts'
import { useDocumentState, useOpening } from './use-live.ts'
import './document.css'

/** An open document: its pages, the people in it, its save state, and the panels beside it. */
export function DocumentView(props: {
  readonly session: Session
  readonly documents: OpenDocuments
  readonly id: string
  readonly pageId: string | null
  readonly panel: Panel | null
  readonly onTitle: (title: string) => void
}) {
  const { session, documents, id } = props
  const [replaced, setReplaced] = useState<LiveDocument | null>(null)
  const taken = useMemo(() => documents.take(id), [documents, id])
  const live = replaced ?? taken
  const opening = useOpening(live)
  useEffect(() => () => void documents.leave(live), [documents, live])
  // Most documents open at a text page, whose code is the largest, so it loads while the content is on its way.
  useEffect(ProsePage.preload, [])

  const { gone } = live
  const successor = opening.kind === 'failed' && gone?.reason === 'restored' ? gone.successor : null
  useEffect(() => {
    if (successor === null) return
    session.announce(messages.document.followed)
    session.go({ view: 'document', id: successor, pageId: props.pageId, panel: props.panel })
  }, [successor])

  const tryAgain = (): void => {
    if (live.gone === null) live.reconnect()
    else setReplaced(documents.again(live))
  }

  const text = messages.document
  const toList = <a href={formatRoute({ view: 'documents' })}>{text.backToList}</a>
  if (opening.kind === 'opening') return <Waiting live={live} />
  if (opening.kind === 'open')
    return (
      <OpenDocument
        session={session}
        live={live}
        pageId={props.pageId}
        panel={props.panel}
        onTitle={props.onTitle}
        onReplaced={(document) => {
          documents.replace(live, document)
          setReplaced(document)
        }}
      />
    )
  return (
    <main class="document-view">
      {opening.kind === 'missing' ? (
        <Empty icon="document" title={text.notFound}>
          <p>{text.notFoundText}</p>
          {toList}
        </Empty>
      ) : (
        <Empty icon="warning" title={text.notOpened}>
          <p>
            {opening.words.what} {opening.words.help}
          </p>
          {!opening.isFinal && <Button onClick={tryAgain}>{messages.app.tryAgain}</Button>}
          {toList}
        </Empty>
      )}
    </main>
  )
}

/** Shown until the content has arrived. It also says why the content is late, since some waits last a minute. */
function Waiting({ live }: { readonly live: LiveDocument }) {
  const { link, error } = useDocumentState(live)
  const reason = link === 'waiting' ? reasonOf(error) : null
  return (
    <main class="document-view">
      {reason === null ? (
        <Loading text={messages.document.loading} />
      ) : (
        <Notice kind="warning" actions={<Button onClick={() => live.reconnect()}>{messages.document.connectNow}</Button>}>
          {reason}
        </Notice>
      )}
    </main>
  )
}
