import { useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Icon } from '../controls/icon.tsx'
import { Loading, Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { type Boot, type Page, redirectUriOf } from './boot.ts'

/** The page while nobody is signed in. */
export function EntryView({
  boot,
  page,
  onRetry,
}: {
  readonly boot: Exclude<Boot, { kind: 'signedIn' }>
  readonly page: Page
  readonly onRetry: () => void
}) {
  const text = messages.app
  if (boot.kind === 'loading')
    return (
      <main class="entry">
        <Loading text={text.signingIn} />
      </main>
    )
  return (
    <main class="entry">
      <div class="entry-card">
        <p class="brand">
          <Icon name="document" />
          {text.name}
        </p>
        {boot.kind === 'failed' && (
          <>
            <h1>{text.notStarted}</h1>
            <Notice kind="danger">{boot.reason}</Notice>
            <Button kind="primary" onClick={onRetry}>
              {text.tryAgain}
            </Button>
          </>
        )}
        {boot.kind === 'signedOut' && <SignedOut boot={boot} page={page} />}
        {boot.kind === 'returned' && (
          <>
            <h1>{text.returned}</h1>
            <p>{text.returnedText}</p>
            <a href={redirectUriOf(page.location)}>{text.openDocuments}</a>
          </>
        )}
        {boot.kind === 'choose' && (
          <>
            <h1>{text.chooseWorkspace}</h1>
            <p>{text.chooseWorkspaceText}</p>
            <ul class="entry-choices">
              {boot.workspaces.map((id) => (
                <li key={id}>
                  <Button onClick={() => boot.choose(id)}>{id}</Button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </main>
  )
}

function SignedOut({ boot, page }: { readonly boot: Extract<Boot, { kind: 'signedOut' }>; readonly page: Page }) {
  const [problem, setProblem] = useState(boot.reason)
  const [busy, setBusy] = useState(false)
  const text = messages.app
  const signIn = async (): Promise<void> => {
    setBusy(true)
    try {
      await boot.signIn.leave({ backTo: page.location.hash, person: null })
    } catch (error) {
      setBusy(false)
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <>
      <h1>{text.signInTitle}</h1>
      <p>{text.signInText}</p>
      {boot.isCleared === false && <Notice kind="danger">{text.copiesLeft}</Notice>}
      {problem !== null && <Notice kind="warning">{text.signInFailed(problem)}</Notice>}
      <Button kind="primary" disabled={busy} onClick={() => void signIn()}>
        {text.signIn}
      </Button>
    </>
  )
}
