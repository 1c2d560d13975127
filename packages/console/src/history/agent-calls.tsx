import type { ToolCall } from '@docrelay/client'
import { useEffect, useState } from 'preact/hooks'
import { Age } from '../app/age.tsx'
import { Problem } from '../app/problem.tsx'
import { useAction, useLoaded } from '../app/use-relay.ts'
import type { PanelProps } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { useLevel } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'

const texts = messages.history
const PAGE = 20

/** Lists the calls by which agents wrote the document, newest first. A call that can be undone has a button for that. */
export function AgentCalls({ session, document }: PanelProps) {
  const { relay, person, announce, now } = session
  const level = useLevel(document)
  const [limit, setLimit] = useState(PAGE)
  const calls = useLoaded((signal) => relay.calls.list(document.id, { limit, signal }), [relay, document.id, limit])
  const [told, setTold] = useState('')
  const undoing = useAction()
  const { reload } = calls
  useEffect(
    () => relay.on('event', ({ docId, eventType }) => docId === document.id && eventType === 'updated' && reload()),
    [relay, document.id, reload],
  )

  const undo = (call: ToolCall) =>
    undoing.run(async () => {
      const { changed, kept, keptTotal = kept.length } = await relay.calls.undo(document.id, call.callId)
      const outcome = changed === 0 ? texts.undidNothing : texts.undid(changed, keptTotal)
      setTold(outcome)
      announce(outcome)
      reload()
    })
  const nameOf = (sub: string) => (sub === person.sub ? texts.you : sub)

  return (
    <>
      <h3>{texts.calls}</h3>
      <p class="help">{texts.callsHelp}</p>
      <Problem words={undoing.problem ?? calls.problem} />
      <p class="told">{told}</p>
      {calls.value?.calls.length === 0 && <p>{texts.noCalls}</p>}
      <ol class="calls">
        {calls.value?.calls.map((call) => (
          <li key={call.callId}>
            <div>
              <code>{call.tool}</code> <span class="facts">{texts.wrote(call.changed, call.removed)}</span>
              <br />
              <span class="facts">
                {nameOf(call.by)}, <Age at={call.at} now={now} />
              </span>
            </div>
            {call.undoneBy !== undefined ? (
              <span class="facts">{texts.undone}</span>
            ) : (
              call.undoable &&
              level !== 'view' && (
                <Button disabled={undoing.isRunning} label={texts.undoOf(call.tool, nameOf(call.by))} onClick={() => undo(call)}>
                  {texts.undo}
                </Button>
              )
            )}
          </li>
        ))}
      </ol>
      {calls.value?.next != null && limit < 100 && <Button onClick={() => setLimit(100)}>{texts.moreCalls}</Button>}
    </>
  )
}
