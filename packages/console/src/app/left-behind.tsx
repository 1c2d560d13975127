import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { titleOf } from '../document/document-pages.ts'
import { filesUnderWay } from '../document/files-under-way.ts'
import type { OpenDocuments } from '../document/open-documents.ts'
import { messages } from '../messages.en.ts'
import { formatRoute, type Panel } from './route.ts'

/**
 * Tells of what did not get into a document, where the page or panel to which it belongs is not on the screen any more: files, and words
 * that the relay refused after the document had been left, which the document offers to keep. [CON-24, CON-33]
 */
export function LeftBehind({ documents }: { readonly documents: OpenDocuments }) {
  const [, setRound] = useState(0)
  useEffect(() => documents.watch(() => setRound((round) => round + 1)), [documents])
  const link = (id: string, panel: Panel | null) => (
    <a href={formatRoute({ view: 'document', id, pageId: null, panel })}>{messages.app.openDocument}</a>
  )
  return (
    <>
      {documents.refused.map(({ id, ydoc }) => (
        <div key={id} class="shell-banner">
          <Notice kind="danger" actions={link(id, null)}>
            <strong>{titleOf(ydoc) || messages.document.nameless}:</strong> {messages.app.wordsLeft}
          </Notice>
        </div>
      ))}
      {documents.failedFiles.map(({ document, file: { key, name, problem } }) => (
        <div key={`${document.id} ${key}`} class="shell-banner">
          <Notice
            kind="danger"
            actions={
              <>
                {link(document.id, 'files')}
                <Button onClick={() => filesUnderWay(document).drop(key)}>{messages.controls.close}</Button>
              </>
            }
          >
            <strong>{name}:</strong> {problem}
          </Notice>
        </div>
      ))}
    </>
  )
}
