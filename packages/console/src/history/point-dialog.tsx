import type { RecoveryPoint } from '@docrelay/client'
import type { DocumentBody } from '@docrelay/model/body'
import { parseBody } from '@docrelay/model/body-parse'
import { shownTitle } from '@docrelay/model/body-title'
import type { Json } from '@docrelay/model/json'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { formatMoment } from '../app/times.ts'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import { comparePages, type PageChange } from './document-diff.ts'
import { PageComparison } from './page-comparison.tsx'

const texts = messages.history

interface PointProps extends PanelProps {
  readonly point: RecoveryPoint
  readonly onClose: () => void
}

/** A former state beside the one of now, and the way back to it. */
export function PointDialog({ session, document, point, onClose }: PointProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const when = formatMoment(point.createdAt)
  const bodies = useLoaded(
    async (signal) => {
      // Without this, words that were typed a moment ago would look as if they had been there before.
      await document.flush({ timeoutMs: 5_000, signal }).catch(() => undefined)
      const [former, present] = await Promise.all([
        session.relay.recovery.get(document.id, point.id, { signal }),
        session.relay.documents.get(document.id, { signal }),
      ])
      return { former: bodyOf(former as Json), present: bodyOf(present as Json) }
    },
    [session.relay, document, point.id],
  )

  return (
    <dialog ref={dialog} class="point-dialog" aria-labelledby="point-title" onClose={onClose}>
      <header>
        <h2 id="point-title">{texts.pointOf(when)}</h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          {texts.close}
        </button>
      </header>
      <Problem words={bodies.problem} />
      {bodies.value === null ? (
        bodies.problem === null && <p role="status">{texts.loading}</p>
      ) : (
        <Comparison {...bodies.value} when={when} />
      )}
      <Restore
        session={session}
        document={document}
        point={point}
        name={bodies.value && shownTitle(bodies.value.former)}
        onClose={onClose}
      />
    </dialog>
  )
}

function Comparison({
  former,
  present,
  when,
}: {
  readonly former: DocumentBody
  readonly present: DocumentBody
  readonly when: string
}) {
  const pages = useMemo(() => comparePages(former, present), [former, present])
  const [chosen, choose] = useState<PageChange | undefined>(() => pages.find(({ state }) => state !== 'same') ?? pages[0])
  const [sides, setSides] = useState(false)
  if (chosen === undefined) return <p>{texts.noPages}</p>
  return (
    <>
      <div class="point-choices">
        <label>
          {texts.pages}{' '}
          <select
            value={`${chosen.kind} ${chosen.id}`}
            onChange={({ currentTarget }) => choose(pages.find(({ kind, id }) => `${kind} ${id}` === currentTarget.value))}
          >
            {pages.map(({ kind, id, name, state }) => (
              <option key={`${kind} ${id}`} value={`${kind} ${id}`}>
                {name} ({texts.state[state]})
              </option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>{texts.shown}</legend>
          <label>
            <input type="radio" name="shown" checked={!sides} onChange={() => setSides(false)} /> {texts.changes}
          </label>
          <label>
            <input type="radio" name="shown" checked={sides} onChange={() => setSides(true)} /> {texts.sides}
          </label>
        </fieldset>
      </div>
      <PageComparison key={`${chosen.kind} ${chosen.id}`} page={chosen} sides={sides} when={when} />
    </>
  )
}

function Restore({
  session,
  document,
  point,
  name,
  onClose,
}: PointProps & { /** `null` while nothing can be restored. */ readonly name: string | null }) {
  const [isAsking, setAsking] = useState(false)
  const restoring = useAction()
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (isAsking) first.current?.focus()
  }, [isAsking])
  if (document.level !== 'owner') return <footer class="help">{texts.restoreNeedsOwner}</footer>
  const restore = () =>
    restoring.run(async () => {
      // The view of the document follows the successor that its `gone` names.
      await session.relay.recovery.restore(document.id, point.id)
      session.announce(texts.restored)
      onClose()
    })
  return (
    <footer>
      <Problem words={restoring.problem} />
      {isAsking ? (
        <div role="group" aria-labelledby="restore-title">
          <h3 id="restore-title">{texts.restoreTitle}</h3>
          <p>{texts.restoreWords(name ?? document.id)}</p>
          <p class="point-buttons">
            <button type="button" ref={first} onClick={() => setAsking(false)}>
              {texts.cancel}
            </button>
            <button type="button" class="danger" disabled={restoring.isRunning} onClick={restore}>
              {texts.restoreNow}
            </button>
          </p>
        </div>
      ) : (
        <button type="button" disabled={name === null} onClick={() => setAsking(true)}>
          {texts.restore}
        </button>
      )}
    </footer>
  )
}

function bodyOf(json: Json): DocumentBody {
  const parsed = parseBody(json, 'stored')
  if (parsed.ok) return parsed.body
  throw new Error(`the body cannot be read at ${parsed.path}: ${parsed.reason}`)
}
