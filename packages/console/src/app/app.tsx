import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Announcer, createAnnouncer } from './announcer.tsx'
import { type Boot, boot, type Page } from './boot.ts'
import { EntryView } from './entry-view.tsx'
import { formatRoute, parseRoute, type Route } from './route.ts'
import { Shell } from './shell.tsx'

/** The whole page: signs the person in, then shows the view that the address names. */
export function App({ page }: { readonly page: Page }) {
  const [shown, setShown] = useState<Boot>({ kind: 'loading' })
  const [route, setRoute] = useState<Route>(() => parseRoute(page.location.hash))
  const announcer = useMemo(createAnnouncer, [])
  const attempt = useRef(0)

  const start = (): void => {
    attempt.current++
    setShown({ kind: 'loading' })
    const go = (to: Route): void => {
      page.location.hash = formatRoute(to)
    }
    void boot(page, { go, announce: announcer.say }, (next) => {
      setRoute(parseRoute(page.location.hash))
      setShown(next)
    })
  }
  useEffect(() => {
    const moved = (): void => setRoute(parseRoute(page.location.hash))
    addEventListener('hashchange', moved)
    start()
    return () => removeEventListener('hashchange', moved)
  }, [])

  return (
    <>
      {shown.kind === 'signedIn' ? (
        <Shell
          key={shown.session.person.workspace}
          session={shown.session}
          signIn={shown.signIn}
          workspaces={shown.workspaces}
          route={route}
          page={page}
          onSignedOut={(isCleared) => setShown({ kind: 'signedOut', reason: null, isCleared, signIn: shown.signIn })}
          onWorkspace={start}
        />
      ) : (
        <EntryView boot={shown} page={page} onRetry={start} />
      )}
      <Announcer announcer={announcer} />
    </>
  )
}
