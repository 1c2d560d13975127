import type { LiveDocument } from '@docrelay/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useBeforeLeaving } from '../controls/before-leaving.ts'
import { messages } from '../messages.en.ts'
import { setTitle } from './document-pages.ts'

/** The title as a heading that can be edited. It is stored when the person leaves the field, so that others do not see it letter by letter. */
export function TitleField({
  live,
  title,
  readOnly,
}: {
  readonly live: LiveDocument
  readonly title: string
  readonly readOnly: boolean
}) {
  const text = messages.document
  const [typed, setTyped] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (readOnly) setTyped(null)
  }, [readOnly])
  const done = (): void => {
    const name = typed?.trim() ?? ''
    if (name !== '' && name !== title) setTitle(live.ydoc, name)
    setTyped(null)
  }
  useBeforeLeaving(done)
  const shown = title === '' ? text.nameless : title
  return (
    <h1 class="document-title">
      {readOnly ? (
        shown
      ) : (
        <span class="title-grow" data-text={typed ?? shown}>
          <input
            ref={input}
            aria-label={text.titleLabel}
            value={typed ?? title}
            placeholder={text.nameless}
            size={1}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
            onBlur={done}
            onKeyDown={({ key, isComposing }) => {
              if (isComposing) return
              if (key === 'Enter') input.current?.blur()
              if (key === 'Escape') {
                setTyped(null)
                queueMicrotask(() => input.current?.blur())
              }
            }}
          />
        </span>
      )}
    </h1>
  )
}
