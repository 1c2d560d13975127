import type { PanelProps } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './files.css'

/** The files of the document. */
export function FilesPanel({ document }: PanelProps) {
  return (
    <section class="files-panel" data-document={document.id}>
      <h2>{messages.files.title}</h2>
    </section>
  )
}
