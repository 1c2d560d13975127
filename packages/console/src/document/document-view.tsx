import type { Panel } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import './document.css'

/** An open document: its pages, who is here, whether it is saved, and the panels beside it. */
export function DocumentView(props: {
  readonly session: Session
  readonly id: string
  readonly pageId: string | null
  readonly panel: Panel | null
}) {
  return <main class="document-view" data-document={props.id} />
}
