import type { LiveDocument } from '@docrelay/client'
import { lazyView } from '../app/lazy-view.tsx'
import { PANELS, type Panel } from '../app/route.ts'
import type { PanelProps, Session } from '../app/views.ts'
import { Avatar } from '../controls/avatar.tsx'
import { Button } from '../controls/button.tsx'
import { messages } from '../messages.en.ts'
import type { PageEntry } from './document-pages.ts'
import type { Present } from './present.ts'

const HistoryPanel = lazyView<PanelProps>(async () => (await import('../history/history-panel.tsx')).HistoryPanel)
const SharingPanel = lazyView<PanelProps>(async () => (await import('../sharing/sharing-panel.tsx')).SharingPanel)
const OutlinePanel = lazyView<PanelProps>(async () => (await import('../prose/outline.tsx')).OutlinePanel)
const FilesPanel = lazyView<PanelProps>(async () => (await import('../files/files-panel.tsx')).FilesPanel)

/** One button for each panel, pressed while its panel is shown. */
export function PanelButtons({
  panel,
  onShow,
}: {
  readonly panel: Panel | null
  readonly onShow: (panel: Panel | null) => void
}) {
  const text = messages.document
  return (
    <div class="panel-buttons" role="group" aria-label={text.panels}>
      {PANELS.map((one) => (
        <Button
          key={one}
          kind="quiet"
          icon={one}
          label={text.panel[one]}
          pressed={panel === one}
          onClick={() => onShow(panel === one ? null : one)}
        />
      ))}
    </div>
  )
}

/** The panel beside the page. */
export function SidePanel(props: {
  readonly panel: Panel
  readonly session: Session
  readonly live: LiveDocument
  readonly present: readonly Present[]
  readonly pages: readonly PageEntry[]
  readonly onClose: () => void
}) {
  const { panel, session, live } = props
  const text = messages.document
  return (
    <aside class="side-panel" aria-label={text.panel[panel]}>
      <Button class="side-panel-close" kind="quiet" icon="close" label={text.closePanel} onClick={props.onClose} />
      {panel === 'history' && <HistoryPanel session={session} document={live} />}
      {panel === 'sharing' && <SharingPanel session={session} document={live} />}
      {panel === 'files' && <FilesPanel session={session} document={live} />}
      {panel === 'people' && <People session={session} present={props.present} pages={props.pages} />}
      {panel === 'outline' && <OutlinePanel session={session} document={live} />}
    </aside>
  )
}

function People({
  session,
  present,
  pages,
}: {
  readonly session: Session
  readonly present: readonly Present[]
  readonly pages: readonly PageEntry[]
}) {
  const text = messages.document
  return (
    <section class="people-panel">
      <h2>{text.people}</h2>
      <ul>
        <li>
          <Avatar name={session.person.name} color={session.person.color} />
          <span>
            {session.person.name} <span class="muted">{text.you}</span>
          </span>
        </li>
        {present.map((one) => {
          const page = pages.find(({ id }) => id === one.page)
          return (
            <li key={one.key}>
              <Avatar name={one.name} color={one.color} agent={one.agent} />
              <span>
                {one.name} {one.agent && <span class="tag tag-agent">{text.agent}</span>}
                {page !== undefined && <span class="muted">{text.onPage(page.name)}</span>}
              </span>
            </li>
          )
        })}
      </ul>
      {present.length === 0 && <p class="muted">{text.alone}</p>}
    </section>
  )
}
