import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { titleOf } from '../document/document-pages.ts'
import { filesUnderWay } from '../document/files-under-way.ts'
import type { OpenDocuments } from '../document/open-documents.ts'
import { messages } from '../messages.en.ts'
import { formatRoute } from './route.ts'

/**
 * Tells the person, in every view, what did not get into a document that the person has left: files, and words that the relay refused. A link
 * leads to the document, which offers to keep the words. [CON-24, CON-33]
 */
export function LeftBehind({ documents }: { readonly documents: OpenDocuments }) {
  const [, setRound] = useState(0)
  useEffect(() => documents.watch(() => setRound((round) => round + 1)), [documents])
  const words = documents.refused.map(({ id, ydoc }) => ({
    ...{ key: id, id, panel: null, what: titleOf(ydoc) || messages.document.nameless, why: messages.document.goneUnsaved },
    close: null,
  }))
  const files = documents.failedFiles.map(({ document, file: { key, name, problem } }) => ({
    ...{ key: `${document.id} ${key}`, id: document.id, panel: 'files' as const, what: name, why: problem },
    close: () => filesUnderWay(document).drop(key),
  }))
  return [...words, ...files].map(({ key, id, panel, what, why, close }) => (
    <div key={key} class="shell-banner">
      <Notice
        kind="danger"
        actions={
          <>
            <a href={formatRoute({ view: 'document', id, pageId: null, panel })}>{messages.app.openDocument}</a>
            {close && <Button onClick={close}>{messages.controls.close}</Button>}
          </>
        }
      >
        <strong>{what}:</strong> {why}
      </Notice>
    </div>
  ))
}
