import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './history.css'

/** Recovery points of the document: see, compare and restore them. */
export function HistoryPanel({ document }: PanelProps) {
  return (
    <section class="history-panel" data-document={document.id}>
      <h2>{messages.history.title}</h2>
    </section>
  )
}
