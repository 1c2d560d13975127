import { useEffect, useState } from 'preact/hooks'
import { Problem } from '../app/problem.tsx'
import type { ErrorWords } from '../app/error-texts.en.ts'
import { wordsOf } from '../app/error-words.ts'
import { formatRoute } from '../app/route.ts'
import type { Session } from '../app/views.ts'
import { Button } from '../controls/button.tsx'
import { Loading } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import './share.css'

/** Redeems a share link for the person and opens its document. [SHARE-4] */
export function ShareView({ session, token }: { readonly session: Session; readonly token: string }) {
  const [problem, setProblem] = useState<ErrorWords | null>(null)
  const [attempt, setAttempt] = useState(1)

  useEffect(() => {
    const left = new AbortController()
    setProblem(null)
    session.relay.shareLinks.redeem(token, { signal: left.signal }).then(
      ({ id, title }) => {
        // Removes the secret from the address bar and the history first. The route of the document is then set separately, so that the page gets
        // its event.
        history.replaceState(null, '', formatRoute({ view: 'documents' }))
        session.announce(messages.share.opened(title))
        session.go({ view: 'document', id, pageId: null, panel: null })
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
