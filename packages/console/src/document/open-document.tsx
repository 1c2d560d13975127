import type { LiveDocument } from '@docrelay/client'
import { useEffect, useRef } from 'preact/hooks'
import { lazyView } from '../app/lazy-view.tsx'
import type { Panel } from '../app/route.ts'
import type { PageViewProps, Session } from '../app/views.ts'
import { Icon } from '../controls/icon.tsx'
import { Empty } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { shownOf } from '../prose/shown-page.ts'
import { DivergedNotice, GoneNotice } from './ended-notices.tsx'
import { PageTabs } from './page-tabs.tsx'
import { PanelButtons, SidePanel } from './panels.tsx'
import { PeopleBar } from './people-bar.tsx'
import { SavedBadge, UnsavedBanner } from './saved-badge.tsx'
import { TitleField } from './title-field.tsx'
import { useDiverged, useGone, useLevel, usePages, usePresent } from './use-live.ts'

export const ProsePage = lazyView<PageViewProps>(async () => (await import('../prose/prose-page.tsx')).ProsePage)
const CanvasPage = lazyView<PageViewProps>(async () => (await import('../canvas/canvas-page.tsx')).CanvasPage)

/** A document with content: the bar above the page, the page, and the panel beside it. */
export function OpenDocument({
  session,
  live,
  pageId,
  panel,
  onTitle,
  onReplaced,
}: {
  readonly session: Session
  readonly live: LiveDocument
  readonly pageId: string | null
  readonly panel: Panel | null
  readonly onTitle: (title: string) => void
  readonly onReplaced: (document: LiveDocument) => void
}) {
  const text = messages.document
  const { title, pages } = usePages(live)
  const level = useLevel(live)
  const gone = useGone(live)
  const diverged = useDiverged(live)
  const present = usePresent(live)
  const { followed, dropped } = shownOf(live)
  const page = pages.find(({ id }) => id === pageId) ?? pages[0] ?? null
  const readOnly = level === 'view' || gone !== null
  // A text page handles dropped files itself, at the place of the drop.
  const takesFiles = page?.kind === 'canvas' && !readOnly

  const show = (id: string | null, beside: Panel | null): void =>
    session.go({ view: 'document', id: live.id, pageId: id, panel: beside })

  useEffect(() => onTitle(title === '' ? text.nameless : title), [title])
  useEffect(() => {
    const user = live.awareness.getLocalState()?.['user'] as object | undefined
    if (user !== undefined) live.awareness.setLocalStateField('user', { ...user, page: page?.id ?? null })
  }, [live, page?.id])
  useEffect(() => {
    // A document with words that are nowhere else stays on the screen until the person leaves it.
    if (gone?.reason !== 'restored' || gone.successor === null || gone.unsaved) return
    session.announce(text.followed)
    session.go({ view: 'document', id: gone.successor, pageId: page?.id ?? null, panel })
  }, [gone])
  useLevelNews(session, level)

  useEffect(() => {
    if (followed.value !== null && !live.awareness.getStates().has(followed.value)) followed.value = null
  }, [live, present])
  const leader = present.find(({ clientId }) => clientId === followed.value) ?? null
  useEffect(() => {
    if (leader?.page != null && leader.page !== page?.id && pages.some(({ id }) => id === leader.page)) show(leader.page, panel)
  }, [leader?.page])

  return (
    <main class={`document-view ${panel === null ? '' : 'with-panel'}`}>
      <div class="document-head">
        <TitleField live={live} title={title} readOnly={readOnly} />
        <div class="document-state">
          {level === 'view' && (
            <span class="tag" title={text.readOnlyText}>
              <Icon name="eye" />
              {text.readOnly}
            </span>
          )}
          <PeopleBar session={session} live={live} present={present} pages={pages} />
          <SavedBadge session={session} live={live} />
        </div>
      </div>
      <div class="document-notices">
        <UnsavedBanner session={session} live={live} />
        {gone !== null && <GoneNotice session={session} live={live} title={title} gone={gone} />}
        {diverged !== null && gone === null && (
          <DivergedNotice session={session} live={live} title={title} diverged={diverged} onReplaced={onReplaced} />
        )}
      </div>
      <div class="document-bar">
        <PageTabs
          live={live}
          pages={pages}
          shown={page}
          readOnly={readOnly}
          panelId="document-page"
          onShow={(id) => {
            followed.value = null
            show(id, panel)
          }}
        />
        <PanelButtons panel={panel} onShow={(beside) => show(page?.id ?? null, beside)} />
      </div>
      <div class="document-body">
        <div
          class="document-page"
          id="document-page"
          role={page === null ? undefined : 'tabpanel'}
          aria-label={page?.name}
          onDragOver={(event) => takesFiles && event.preventDefault()}
          onDrop={(event) => {
            const files = [...(event.dataTransfer?.files ?? [])]
            if (!takesFiles || files.length === 0) return
            event.preventDefault()
            dropped.value = files
            show(page?.id ?? null, 'files')
          }}
        >
          {page === null && (
            <Empty icon="prose" title={text.noPages}>
              {!readOnly && <p>{text.noPagesText}</p>}
            </Empty>
          )}
          {page?.kind === 'prose' && (
            <ProsePage key={`${live.ydoc.guid} ${page.id}`} session={session} document={live} pageId={page.id} />
          )}
          {page?.kind === 'canvas' && (
            <CanvasPage key={`${live.ydoc.guid} ${page.id}`} session={session} document={live} pageId={page.id} />
          )}
        </div>
        {panel !== null && (
          <SidePanel
            panel={panel}
            session={session}
            live={live}
            present={present}
            pages={pages}
            onClose={() => show(page?.id ?? null, null)}
          />
        )}
      </div>
    </main>
  )
}

/** Announces a change of the person's level while the page is open. */
function useLevelNews(session: Session, level: LiveDocument['level']): void {
  const before = useRef(level)
  useEffect(() => {
    const was = before.current
    before.current = level
    if (was === null || level === null || was === level) return
    if (level === 'view') session.announce(messages.document.mayOnlyRead)
    else if (was === 'view') session.announce(messages.document.mayWrite)
  }, [level])
}
