import type { RecoveryPoint } from '@docrelay/client'
import { useEffect, useState } from 'preact/hooks'
import { formatBytes } from '../app/amounts.ts'
import { Age } from '../app/age.tsx'
import { Problem } from '../app/problem.tsx'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from '../controls/notice.tsx'
import { useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import { AgentCalls } from './agent-calls.tsx'
import { PointDialog } from './point-dialog.tsx'
import './history.css'

const texts = messages.history

/** Shows the recovery points of a document, to view, compare and restore, and below them the calls of agents, to undo. */
export function HistoryPanel({ session, document }: PanelProps) {
  const { relay, announce, now } = session
  const level = useLevel(document)
  const points = useLoaded((signal) => relay.recovery.list(document.id, { signal }), [relay, document.id])
  const [chosen, setChosen] = useState<RecoveryPoint | null>(null)
  const capturing = useAction()
  const { reload } = points
  useEffect(
    () => relay.on('event', ({ docId, eventType }) => docId === document.id && eventType === 'updated' && reload()),
    [relay, document.id, reload],
  )

  const capture = () =>
    capturing.run(async () => {
      // A recovery point contains only what is durable, so the words that were just typed are stored first.
      await document.flush({ timeoutMs: 10_000 })
      const isNew = await relay.recovery.capture(document.id)
      announce(isNew ? texts.captured : texts.notCaptured)
      setTold(isNew ? texts.captured : texts.notCaptured)
      reload()
    })
  const [told, setTold] = useState('')

  return (
    <section class="history-panel" data-document={document.id}>
      <h2>{texts.title}</h2>
      <h3>{texts.points}</h3>
      <p class="help">{texts.pointsHelp}</p>
      {level !== 'view' && (
        <p>
          <Button icon="history" onClick={capture} disabled={capturing.isRunning}>
            {texts.capture}
          </Button>
        </p>
      )}
      <p class="told">{told}</p>
      <Problem words={capturing.problem ?? points.problem} />
      {points.value === null ? (
        points.problem === null && <Loading text={texts.loading} />
      ) : points.value.length === 0 ? (
        <p>{texts.noPoints}</p>
      ) : (
        <ol class="points">
          {points.value.map((point) => (
            <li key={point.id}>
              <button type="button" onClick={() => setChosen(point)}>
                <span class="visually-hidden">{texts.look}</span>
                <Age at={point.createdAt} now={now} />
                <span class="facts">
                  {point.reason !== undefined && `${texts.reason[point.reason]}, `}
                  {formatBytes(point.sizeBytes)}, {texts.version(point.serverVersion)}
                </span>
              </button>
            </li>
          ))}
        </ol>
      )}
      <AgentCalls session={session} document={document} />
      {chosen !== null && (
        <PointDialog key={chosen.id} session={session} document={document} point={chosen} onClose={() => setChosen(null)} />
      )}
    </section>
  )
}
