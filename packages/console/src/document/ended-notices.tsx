import type { DivergedEvent, GoneEvent, LiveDocument } from '@docrelay/client'
import { useState } from 'preact/hooks'
import { sentenceOf } from '../app/error-words.ts'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { reasonOf } from './saved-words.ts'

/** Says that the document is not there for this person any more. What is shown stays readable. */
export function GoneNotice({ gone: { reason, successor } }: { readonly gone: GoneEvent }) {
  const text = messages.document
  const link =
    successor === null ? (
      <a href={formatRoute({ view: 'documents' })}>{text.backToList}</a>
    ) : (
      <a href={formatRoute({ view: 'document', id: successor, pageId: null, panel: null })}>{text.openSuccessor}</a>
    )
  return (
    <Notice kind="danger" actions={link}>
      <strong>{text.goneTitle[reason]}.</strong> {text.goneText[reason]}
    </Notice>
  )
}

/** Says that what is here and what the relay has cannot be joined, and lets the person choose. Nothing happens by itself. */
export function DivergedNotice({
  session,
  diverged,
  title,
  onReplaced,
}: {
  readonly session: Session
  readonly diverged: DivergedEvent
  readonly title: string
  readonly onReplaced: (document: LiveDocument) => void
}) {
  const text = messages.document
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const { error } = diverged

  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    try {
      await work()
    } catch (failure) {
      setProblem(sentenceOf(failure))
      setBusy(false)
    }
  }
  const keep = (): Promise<void> =>
    run(async () => {
      const copy = await diverged.copyAs(crypto.randomUUID(), { name: text.copyName(title) })
      await copy.close()
      session.go({ view: 'document', id: copy.id, pageId: null, panel: null })
    })
  const discard = (): Promise<void> => run(async () => onReplaced(await diverged.discard()))
  return (
    <Notice
      kind="danger"
      actions={
        <>
          <Button disabled={busy} onClick={() => void discard()}>
            {text.discard}
          </Button>
          <Button kind="primary" disabled={busy} onClick={() => void keep()}>
            {text.keepAsCopy}
          </Button>
        </>
      }
    >
      {error.code === 'ERR_UNKNOWN_DOC' ? (
        <>
          <strong>{text.unknownTitle}.</strong> {text.unknownText}
        </>
      ) : (
        <>
          <strong>{text.divergedTitle}.</strong>{' '}
          {error.code === 'ERR_LINEAGE' ? text.diverged.lineage : text.diverged.refused(reasonOf(error) ?? error.message)}{' '}
          {text.divergedText}
        </>
      )}
      {problem !== null && <p>{problem}</p>}
    </Notice>
  )
}
