import type { PageProblem } from '@docrelay/prosemirror'
import { messages } from '../messages.en.ts'
import type { AgentNotices } from './agent-notices.ts'
import type { Uploads } from './uploads.ts'

const texts = messages.prose

/** Says why a page can only be read, when its content is the reason. */
export function ProblemBanner({ problems }: { readonly problems: readonly PageProblem[] }) {
  if (problems.length === 0) return null
  const names = [
    ...new Set(problems.map(({ kind, name, inside }) => texts.problem[kind](name.slice(0, 40), inside.slice(0, 40)))),
  ]
  return (
    <div class="prose-banner" role="status">
      <strong>{texts.readOnlyTitle}</strong>
      <p>{texts.readOnlyReason}</p>
      <ul>
        {names.slice(0, 5).map((name) => (
          <li key={name}>{name}</li>
        ))}
        {names.length > 5 && <li>{texts.moreProblems(names.length - 5)}</li>}
      </ul>
    </div>
  )
}

/** The place is there before a notice is, so that each one is read out. */
export function NoticeList({ notices, canUndo }: { readonly notices: AgentNotices; readonly canUndo: boolean }) {
  return (
    <div class="prose-notices" role="status">
      {notices.list.value.map((notice) => (
        <div key={notice.key} class="prose-notice prose-notice-agent" data-state={notice.state}>
          <p>{notice.text}</p>
          {notice.edit.callId !== null && canUndo && notice.state !== 'undone' && (
            <button type="button" disabled={notice.state === 'undoing'} onClick={() => void notices.undo(notice)}>
              {texts.agents.undo}
            </button>
          )}
          <CloseButton onClose={() => notices.dismiss(notice.key)} />
        </div>
      ))}
    </div>
  )
}

export function UploadList({ uploads }: { readonly uploads: Uploads }) {
  return (
    <>
      {uploads.list.value.map(({ key, name, bytes, flaw, cancel }) => (
        <div key={key} class="prose-notice" data-state={flaw === null ? 'running' : 'failed'}>
          <p>{flaw === null ? texts.uploads.running(name, bytes) : `${name}: ${flaw}`}</p>
          {flaw === null ? (
            <>
              <progress aria-label={texts.uploads.running(name, bytes)} />
              <button type="button" onClick={cancel}>
                {texts.cancel}
              </button>
            </>
          ) : (
            <CloseButton onClose={() => uploads.dismiss(key)} />
          )}
        </div>
      ))}
    </>
  )
}

function CloseButton({ onClose }: { readonly onClose: () => void }) {
  return (
    <button type="button" class="prose-notice-close" aria-label={texts.close} onClick={onClose}>
      ×
    </button>
  )
}
