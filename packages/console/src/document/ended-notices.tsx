import type { DivergedEvent, GoneEvent, LiveDocument } from '@docrelay/client'
import { useState } from 'preact/hooks'
import { sentenceOf } from '../app/error-words.ts'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { reasonOf } from './saved-words.ts'

interface EndedProps {
  readonly session: Session
  readonly live: LiveDocument
  readonly title: string
}

/** Actions for words that the document does not accept any more. One action runs at a time; its error is kept. */
function useKeeping({ session, live, title }: EndedProps) {
  const [problem, setProblem] = useState<string | null>(null)
  const [busy, setBusy] = useState(false)
  const run = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true)
    try {
      await work()
    } catch (failure) {
      setProblem(sentenceOf(failure))
      setBusy(false)
    }
  }
  const keep = async (): Promise<void> => {
    const copy = await live.copyAs(crypto.randomUUID(), { name: messages.document.copyName(title) })
    await copy.close()
    if (live.gone !== null) await live.dropCopy()
    session.go({ view: 'document', id: copy.id, pageId: null, panel: null })
  }
  return {
    problem,
    /** The buttons that drop the words by `discard`, or keep them. */
    choices: (discard: () => Promise<void>) => (
      <>
        <Button disabled={busy} onClick={() => void run(discard)}>
          {messages.document.discard}
        </Button>
        <Button kind="primary" disabled={busy} onClick={() => void run(keep)}>
          {messages.document.keepAsCopy}
        </Button>
      </>
    ),
  }
}

/** Says that the document is gone for this person. Its content stays readable, and unsaved words can be kept. */
export function GoneNotice({ gone, ...props }: EndedProps & { readonly gone: GoneEvent }) {
  const { reason, successor, unsaved } = gone
  const text = messages.document
  const { problem, choices } = useKeeping(props)
  const discard = async (): Promise<void> => {
    await props.live.dropCopy()
    props.session.go(successor === null ? { view: 'documents' } : { view: 'document', id: successor, pageId: null, panel: null })
  }
  const link =
    successor === null ? (
      <a href={formatRoute({ view: 'documents' })}>{text.backToList}</a>
    ) : (
      <a href={formatRoute({ view: 'document', id: successor, pageId: null, panel: null })}>{text.openSuccessor}</a>
    )
  return (
    <Notice
      kind="danger"
      actions={
        <>
          {link}
          {unsaved && choices(discard)}
        </>
      }
    >
      <strong>{text.goneTitle[reason]}.</strong> {text.goneText[reason]} {unsaved && text.goneUnsaved}
      {problem !== null && <p>{problem}</p>}
    </Notice>
  )
}

/** Says that the local content and the relay's cannot be merged, and lets the person choose. Nothing happens without a choice. */
export function DivergedNotice({
  diverged,
  onReplaced,
  ...props
}: EndedProps & { readonly diverged: DivergedEvent; readonly onReplaced: (document: LiveDocument) => void }) {
  const text = messages.document
  const { problem, choices } = useKeeping(props)
  const { error } = diverged
  return (
    <Notice kind="danger" actions={choices(async () => onReplaced(await diverged.discard()))}>
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
