import { useEffect, useState } from 'preact/hooks'
import type { ErrorWords } from '../app/error-texts.en.ts'
import { wordsOf } from '../app/error-words.ts'
import { formatRoute, type Route } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { messages } from '../messages.en.ts'
import './share.css'

/** Where a share link leads: redeems it for the person and opens the document. [SHARE-4] */
export function ShareView({ session, token }: { readonly session: Session; readonly token: string }) {
  const [problem, setProblem] = useState<ErrorWords | null>(null)
  const [attempt, setAttempt] = useState(1)

  useEffect(() => {
    const left = new AbortController()
    setProblem(null)
    session.relay.shareLinks.redeem(token, { signal: left.signal }).then(
      ({ id, title }) => {
        const route: Route = { view: 'document', id, pageId: null, panel: null }
        // The secret leaves the address bar, and the way back leads to the document.
        history.replaceState(null, '', formatRoute(route))
        session.announce(messages.share.opened(title))
        session.go(route)
      },
      (error: unknown) => {
        if (!left.signal.aborted) setProblem(wordsOf(error))
      },
    )
    return () => left.abort()
  }, [session, token, attempt])

  return (
    <main class="share-view">
      <h1>{messages.share.title}</h1>
      {problem === null ? (
        <p role="status">{messages.share.opening}</p>
      ) : (
        <>
          <div role="alert">
            <p>{problem.what}</p>
            <p>{problem.help}</p>
          </div>
          <p class="share-actions">
            <button type="button" onClick={() => setAttempt(attempt + 1)}>
              {messages.share.tryAgain}
            </button>
            <a href={formatRoute({ view: 'documents' })}>{messages.share.toDocuments}</a>
          </p>
        </>
      )}
    </main>
  )
}
