import type { PageProblem } from '@docrelay/prosemirror'
import type { PageViewProps } from '../app/views.ts'
import { filesUnderWay } from '../document/files-under-way.ts'
import { useFilesUnderWay } from '../document/use-live.ts'
import { messages } from '../messages.en.ts'
import type { AgentNotices } from './agent-notices.ts'

const texts = messages.prose

/** Says why a page is read-only, when its content is the reason. */
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

/** The list is rendered even while empty, so that screen readers read each new notice. */
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

export function UploadList({ document, pageId }: Pick<PageViewProps, 'document' | 'pageId'>) {
  const drop = (key: number): void => filesUnderWay(document).drop(key)
  return (
    <>
      {useFilesUnderWay(document, pageId).map(({ key, name, sizeBytes, problem }) => (
        <div key={key} class="prose-notice" data-state={problem === null ? 'running' : 'failed'}>
          <p>{problem === null ? texts.uploads.running(name, sizeBytes) : `${name}: ${problem}`}</p>
          {problem === null ? (
            <>
              <progress aria-label={texts.uploads.running(name, sizeBytes)} />
              <button type="button" onClick={() => drop(key)}>
                {texts.cancel}
              </button>
            </>
          ) : (
            <CloseButton onClose={() => drop(key)} />
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
