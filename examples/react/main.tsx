/** @jsxImportSource react */
// React on a prose page: `#<relay>,<document>,<page>,<token>` in the address of index.html says what to open.
import { createRelay, type LiveDocument } from '@docrelay/client'
import { bindProse } from '@docrelay/prosemirror'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'

/** Opens a document while the component is shown; `null` until its content is here. */
function useDocument(relay: ReturnType<typeof createRelay>, id: string): LiveDocument | null {
  const [ready, setReady] = useState<LiveDocument | null>(null)
  useEffect(() => {
    const opened = relay.open(id, { user: { name: 'React', color: '#9333ea' } })
    opened.ready.then(
      () => setReady(opened),
      (error: unknown) => console.error(error),
    )
    return () => {
      setReady(null)
      void opened.close()
    }
  }, [relay, id])
  return ready
}

/** The state of a document: whether it is saved, the connection, the level. */
function useDocumentState(opened: LiveDocument) {
  return useSyncExternalStore(
    (tell) => opened.on('state', tell),
    () => opened.state,
  )
}

function ProsePage({ opened, pageId }: { readonly opened: LiveDocument; readonly pageId: string }) {
  const place = useRef<HTMLDivElement>(null)
  const { saved, level } = useDocumentState(opened)
  const readOnly = level === 'view'
  useEffect(() => {
    if (place.current === null) return
    const prose = bindProse(opened, pageId, { element: place.current, readOnly })
    return () => prose.destroy()
  }, [opened, pageId, readOnly])
  return (
    <>
      <output id="saved">{saved}</output>
      <div id="editor" ref={place} />
    </>
  )
}

function App({ docId, pageId }: { readonly docId: string; readonly pageId: string }) {
  const opened = useDocument(relay, docId)
  return opened === null ? <p>Opening …</p> : <ProsePage opened={opened} pageId={pageId} />
}

const [url = '', docId = '', pageId = '', token = ''] = decodeURIComponent(location.hash.slice(1)).split(',')
const relay = createRelay({ url, token: () => token })
const root = document.querySelector('#app')
if (root !== null) createRoot(root).render(<App docId={docId} pageId={pageId} />)
