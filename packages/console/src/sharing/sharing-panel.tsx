import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './sharing.css'

/** Who may read and edit the document, and its share links. */
export function SharingPanel({ document }: PanelProps) {
  return (
    <section class="sharing-panel" data-document={document.id}>
      <h2>{messages.sharing.title}</h2>
    </section>
  )
}
