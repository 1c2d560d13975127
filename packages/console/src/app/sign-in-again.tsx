import { useEffect, useState } from 'preact/hooks'
import { Button } from '../controls/button.tsx'
import { Notice } from '../controls/notice.tsx'
import { messages } from '../messages.en.ts'
import { AnotherPerson, type SignIn } from '../session/sign-in.ts'
import { SIGN_IN_CHANNEL } from './boot.ts'
import type { Session } from './views.ts'

/**
 * Asks to sign in again when the issuer gives no token any more. The sign-in happens in a window of its own, so that this page and its unsaved
 * words stay.
 */
export function SignInAgain({ session, signIn }: { readonly session: Session; readonly signIn: SignIn }) {
  const [asked, setAsked] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const text = messages.app

  useEffect(() => session.relay.on('needsSignIn', () => setAsked(true)), [session])
  useEffect(() => {
    if (!asked) return
    const channel = new BroadcastChannel(SIGN_IN_CHANNEL)
    channel.onmessage = async ({ data }: MessageEvent<string>) => {
      const returned = new URL(data)
      if (signIn.pendingFor(returned.searchParams.get('state')) === null) return
      try {
        await signIn.comeBack(returned, session.person.sub)
        setAsked(false)
        setProblem(null)
        session.relay.reconnect()
        session.announce(text.signedInAgain)
      } catch (error) {
        setProblem(
          error instanceof AnotherPerson ? text.anotherPerson(session.person.name) : text.signInFailed((error as Error).message),
        )
      }
    }
    return () => channel.close()
  }, [asked])

  const open = async (): Promise<void> => {
    // Opened synchronously in the click handler, or the browser would block the window as a popup.
    const opened = window.open('', '_blank', 'width=520,height=680')
    if (opened === null) return setProblem(text.windowBlocked)
    try {
      opened.location.href = await signIn.addressFor({ backTo: '', person: session.person.sub, window: true })
    } catch (error) {
      opened.close()
      setProblem(text.signInFailed((error as Error).message))
    }
  }
  if (!asked) return null
  return (
    <div class="shell-banner">
      <Notice
        kind="warning"
        actions={
          <Button kind="primary" onClick={() => void open()}>
            {text.signInAgain}
          </Button>
        }
      >
        <strong>{text.signInEnded}</strong> {problem ?? text.signInEndedText}
      </Notice>
    </div>
  )
}
