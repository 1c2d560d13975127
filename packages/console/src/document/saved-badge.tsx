import type { LiveDocument } from '@docrelay/client'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Icon } from '../controls/icon.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { savedWords } from './saved-words.ts'
import { useDocumentState, useGone } from './use-live.ts'

/** Shortest time between two announcements of the word, which changes with every few keys. */
const TOLD_EVERY_MS = 5_000
const BANNER_AFTER_MS = 5_000

/** One word with a drawing: whether everything typed is saved. A tooltip and a press show more. */
export function SavedBadge({ session, live }: { readonly session: Session; readonly live: LiveDocument }) {
  const state = useDocumentState(live)
  const gone = useGone(live)
  const { word, icon, tone, sentences } = savedWords(state, gone !== null)
  const told = useSlowly(word, session.now)
  const id = useId()
  const [open, setOpen] = useState(false)
  return (
    <div
      class={`saved saved-${tone}`}
      data-saved={state.saved}
      data-link={state.link}
      onMouseEnter={() => setOpen(true)}
      onMouseLeave={() => setOpen(false)}
    >
      <button
        type="button"
        class="saved-word"
        aria-describedby={id}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
      >
        <Icon name={icon} />
        {word}
      </button>
      <div class={`saved-why ${open ? '' : 'visually-hidden'}`} id={id}>
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
      <span class="visually-hidden" role="status">
        {told}
      </span>
    </div>
  )
}

/** A banner above the page when something has been unsaved for a while. */
export function UnsavedBanner({ session, live }: { readonly session: Session; readonly live: LiveDocument }) {
  const state = useDocumentState(live)
  const gone = useGone(live)
  const { unsavedSince } = state
  const [due, setDue] = useState(false)
  useEffect(() => {
    setDue(false)
    if (unsavedSince === null) return
    const timer = setTimeout(() => setDue(true), Math.max(0, unsavedSince + BANNER_AFTER_MS - session.now()))
    return () => clearTimeout(timer)
  }, [unsavedSince])
  // A refused edit and a document that is gone have notices of their own, with actions.
  if (!due || unsavedSince === null || state.saved === 'refused' || gone !== null) return null
  const text = messages.document
  const waits = state.link === 'waiting' || state.link === 'stopped'
  return (
    <Notice kind="warning" icon="cloudOff" actions={waits && <Button onClick={() => live.reconnect()}>{text.connectNow}</Button>}>
      <strong>{text.notSavedBanner(unsavedSince)}</strong> {savedWords(state).sentences.join(' ')} {text.keepOpen}
    </Notice>
  )
}

/** Returns the word, changed at most once per `TOLD_EVERY_MS`. A new word is returned at once when the last change is older. */
function useSlowly(word: string, now: () => number): string {
  const [told, setTold] = useState(word)
  const at = useRef(0)
  useEffect(() => {
    if (word === told) return
    const tell = (): void => {
      at.current = now()
      setTold(word)
    }
    const timer = setTimeout(tell, Math.max(0, at.current + TOLD_EVERY_MS - now()))
    return () => clearTimeout(timer)
  }, [word, told])
  return told
}
