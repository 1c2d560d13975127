import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { filesUnderWay } from '../document/files-under-way.ts'
import type { OpenDocuments } from '../document/open-documents.ts'
import { messages } from '../messages.en.ts'
import { formatRoute } from './route.ts'

/** Tells of files that did not get into a document, where the page or panel in which they were chosen is not on the screen any more. */
export function FailedFiles({ documents }: { readonly documents: OpenDocuments }) {
  const [failed, setFailed] = useState(documents.failedFiles)
  useEffect(() => documents.watchFiles(() => setFailed(documents.failedFiles)), [documents])
  return failed.map(({ document, file: { key, name, problem } }) => (
    <div key={`${document.id} ${key}`} class="shell-banner">
      <Notice
        kind="danger"
        actions={
          <>
            <a href={formatRoute({ view: 'document', id: document.id, pageId: null, panel: 'files' })}>
              {messages.app.openDocument}
            </a>
            <Button onClick={() => filesUnderWay(document).drop(key)}>{messages.controls.close}</Button>
          </>
        }
      >
        <strong>{name}:</strong> {problem}
      </Notice>
    </div>
  ))
}
