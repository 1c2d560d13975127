import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import type { ErrorWords } from '../app/error-texts.en.ts'
import { wordsOf } from '../app/error-words.ts'
import { formatRoute, type Route } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from '../controls/notice.tsx'
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
        <Loading text={messages.share.opening} />
      ) : (
        <>
          <Problem words={problem} />
          <p class="share-actions">
            <Button onClick={() => setAttempt(attempt + 1)}>{messages.share.tryAgain}</Button>
            <a href={formatRoute({ view: 'documents' })}>{messages.share.toDocuments}</a>
          </p>
        </>
      )}
    </main>
  )
}
