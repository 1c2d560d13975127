import type { RecoveryPoint } from '@docrelay/client'
import type { DocumentBody } from '@docrelay/model/body'
import { parseBody } from '@docrelay/model/body-parse'
import { shownTitle } from '@docrelay/model/body-title'
import type { Json } from '@docrelay/model/json'
import { useMemo, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import { formatMoment } from '../app/times.ts'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { ConfirmDialog, Dialog } from '../controls/dialog.tsx'
import { Loading } from '../controls/notice.tsx'
import { useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import { comparePages, diffEntries, type EntryChange, type PageChange } from './document-diff.ts'
import { PageComparison } from './page-comparison.tsx'

const texts = messages.history

interface PointProps extends PanelProps {
  readonly point: RecoveryPoint
  readonly onClose: () => void
}

/** Compares a recovery point with the present document, and lets an owner restore it. */
export function PointDialog({ session, document, point, onClose }: PointProps) {
  const when = formatMoment(point.createdAt)
  const bodies = useLoaded(
    async (signal) => {
      // Stores the words that were typed a moment ago. Otherwise the present body would lack them, and the comparison would miss them.
      await document.flush({ timeoutMs: 5_000, signal }).catch(() => undefined)
      const [former, present] = await Promise.all([
        session.relay.recovery.get(document.id, point.id, { signal }),
        session.relay.documents.get(document.id, { signal }),
      ])
      return { former: bodyOf(former as Json), present: bodyOf(present as Json) }
    },
    [session.relay, document, point.id],
  )

  const level = useLevel(document)
  const [isAsking, setAsking] = useState(false)
  const restoring = useAction()
  const restore = () =>
    restoring.run(async () => {
      // The document view opens the new document by itself: the live document emits `gone` with the successor.
      await session.relay.recovery.restore(document.id, point.id)
      session.announce(texts.restored)
      onClose()
    })
  if (isAsking && bodies.value !== null)
    return (
      <ConfirmDialog
        title={texts.restoreTitle}
        text={
          <>
            <p>{texts.restoreWords(shownTitle(bodies.value.former))}</p>
            <Problem words={restoring.problem} />
          </>
        }
        action={texts.restoreNow}
        danger
        busy={restoring.isRunning}
        onConfirm={restore}
        onClose={() => setAsking(false)}
      />
    )
  return (
    <Dialog
      isWide
      title={texts.pointOf(when)}
      onClose={onClose}
      actions={
        level === 'owner' ? (
          <Button disabled={bodies.value === null} onClick={() => setAsking(true)}>
            {texts.restore}
          </Button>
        ) : (
          <p class="muted">{texts.restoreNeedsOwner}</p>
        )
      }
    >
      <Problem words={bodies.problem} />
      {bodies.value === null ? (
        bodies.problem === null && <Loading text={texts.loading} />
      ) : (
        <Comparison {...bodies.value} when={when} />
      )}
    </Dialog>
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
  const entries = useMemo(() => diffEntries(former, present), [former, present])
  const [chosen, choose] = useState<PageChange | undefined>(() => pages.find(({ state }) => state !== 'same') ?? pages[0])
  const [sides, setSides] = useState(false)
  if (chosen === undefined)
    return (
      <>
        <p>{texts.noPages}</p>
        <EntryChanges entries={entries} />
      </>
    )
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
      <EntryChanges entries={entries} />
    </>
  )
}

/** Lists the changed fields and references. They need a list of their own, since a changed field does not change the text of a page. */
function EntryChanges({ entries }: { readonly entries: readonly EntryChange[] }) {
  if (entries.length === 0) return null
  return (
    <section aria-label={texts.entries}>
      <h3>{texts.entries}</h3>
      <ul class="part-changes">
        {entries.map(({ id, kind, name, before, after }) => (
          <li key={id} class={`change-${kind}`}>
            <span class="change-sign">{texts.part[kind]}</span> {texts.entryOf(name, before, after)}
          </li>
        ))}
      </ul>
    </section>
  )
}

function bodyOf(json: Json): DocumentBody {
  const parsed = parseBody(json, 'stored')
  if (parsed.ok) return parsed.body
  throw new Error(`the body cannot be read at ${parsed.path}: ${parsed.reason}`)
}
