import { useEffect, useMemo, useState } from 'preact/hooks'
import { Avatar } from '../controls/avatar.tsx'
import { ConfirmDialog } from '../controls/dialog.tsx'
import { Icon } from '../controls/icon.tsx'
import { Menu } from '../controls/menu.tsx'
import { OpenDocuments } from '../document/open-documents.ts'
import { messages } from '../messages.en.ts'
import { keepWorkspace } from '../session/workspace-choice.ts'
import type { SignIn } from '../session/sign-in.ts'
import type { Page } from './boot.ts'
import { lazyView } from './lazy-view.tsx'
import { LeftBehind } from './left-behind.tsx'
import { formatRoute, type Route } from './route.ts'
import { SignInAgain } from './sign-in-again.tsx'
import type { Session } from './views.ts'

const DocumentsView = lazyView(async () => (await import('../documents/documents-view.tsx')).DocumentsView)
const DocumentView = lazyView(async () => (await import('../document/document-view.tsx')).DocumentView)
const ShareView = lazyView(async () => (await import('../share/share-view.tsx')).ShareView)
const UsageView = lazyView(async () => (await import('../usage/usage-view.tsx')).UsageView)

/** The frame around every view: the current place, the person, and the banner that asks to sign in again. */
export function Shell(props: {
  readonly session: Session
  readonly signIn: SignIn
  readonly workspaces: readonly string[]
  readonly route: Route
  readonly page: Page
  /** `isCleared`: whether the copies of documents on the device were removed. */
  readonly onSignedOut: (isCleared: boolean) => void
  readonly onWorkspace: () => void
}) {
  const { session, route, page } = props
  const [title, setTitle] = useState<string | null>(null)
  const [asking, setAsking] = useState<'signOut' | 'workspace' | null>(null)
  const documents = useMemo(() => new OpenDocuments(session.relay, session.person), [session])
  const text = messages.app

  const name = nameOf(route, title)
  useEffect(() => {
    document.title = name === '' ? text.name : `${name} – ${text.name}`
  }, [name])
  useEffect(() => {
    if (route.view !== 'document') setTitle(null)
  }, [route.view])

  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (documents.unsaved) event.preventDefault()
    }
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [documents])

  useEffect(() => {
    // Without this, a file dropped outside a drop target would open in the browser and replace this page with its unsaved words.
    const refuse = (event: DragEvent): void => {
      if (event.defaultPrevented || event.dataTransfer?.types.includes('Files') !== true) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    addEventListener('dragover', refuse)
    addEventListener('drop', refuse)
    return () => {
      removeEventListener('dragover', refuse)
      removeEventListener('drop', refuse)
    }
  }, [])

  const signOut = async (): Promise<void> => {
    const isCleared = await session.relay.signOut().then(
      () => true,
      () => false,
    )
    await props.signIn.end()
    props.onSignedOut(isCleared)
  }
  const changeWorkspace = async (): Promise<void> => {
    await session.relay.close()
    keepWorkspace(null, page.storage)
    props.onWorkspace()
  }
  const leave = async (how: 'signOut' | 'workspace'): Promise<void> => {
    // A sign-out removes copies of earlier page loads; a change of the workspace keeps them.
    const isLosing = (): Promise<boolean> => session.relay.hasUnsavedCopies().catch(() => false)
    if (documents.unsaved || (how === 'signOut' && (await isLosing()))) setAsking(how)
    else void (how === 'signOut' ? signOut() : changeWorkspace())
  }

  return (
    <div class="shell" data-person={session.person.sub}>
      <a class="skip-link" href="#content" onClick={skipToContent}>
        {text.skip}
      </a>
      <header class="shell-header">
        <nav class="breadcrumbs" aria-label={text.breadcrumbs}>
          <ol>
            <li>
              <a class="brand" href={formatRoute({ view: 'documents' })} aria-label={text.home}>
                <Icon name="document" />
                <span>{text.name}</span>
              </a>
            </li>
            {route.view !== 'documents' && (
              <li>
                <a href={formatRoute({ view: 'documents' })}>{messages.documents.title}</a>
              </li>
            )}
            <li aria-current="page" class="breadcrumb-here">
              {name}
            </li>
          </ol>
        </nav>
        <Menu
          label={text.personMenu(session.person.name)}
          hasText
          heading={
            <>
              <strong>{session.person.name}</strong>
              <span>{text.workspace(session.person.workspace)}</span>
            </>
          }
          items={[
            { text: messages.usage.title, icon: 'meter', onChoose: () => session.go({ view: 'usage' }) },
            ...(props.workspaces.length > 1
              ? [{ text: text.changeWorkspace, icon: 'collection' as const, onChoose: () => void leave('workspace') }]
              : []),
            { text: text.signOut, icon: 'leave', onChoose: () => void leave('signOut') },
          ]}
        >
          <Avatar name={session.person.name} color={session.person.color} />
          <span class="person-name">{session.person.name}</span>
        </Menu>
      </header>
      <SignInAgain session={session} signIn={props.signIn} />
      <LeftBehind documents={documents} />
      <div id="content" class="shell-content" tabIndex={-1}>
        {route.view === 'documents' && <DocumentsView session={session} />}
        {route.view === 'usage' && <UsageView session={session} />}
        {route.view === 'share' && <ShareView session={session} token={route.token} />}
        {route.view === 'document' && (
          <DocumentView
            key={route.id}
            session={session}
            documents={documents}
            id={route.id}
            pageId={route.pageId}
            panel={route.panel}
            onTitle={setTitle}
          />
        )}
      </div>
      {asking !== null && (
        <ConfirmDialog
          title={text.unsavedTitle}
          text={text.unsavedText}
          action={asking === 'signOut' ? text.signOut : text.changeWorkspace}
          danger
          onConfirm={() => void (asking === 'signOut' ? signOut() : changeWorkspace())}
          onClose={() => setAsking(null)}
        />
      )}
    </div>
  )
}

/** Returns the name of the place, for the header and the title of the window. */
function nameOf(route: Route, title: string | null): string {
  switch (route.view) {
    case 'documents':
      return messages.documents.title
    case 'usage':
      return messages.usage.title
    case 'share':
      return messages.share.title
    case 'document':
      return title ?? ''
  }
}

/** The hash of the address is the route, so the link cannot point to `#content`; the handler moves the focus. */
function skipToContent(event: MouseEvent): void {
  event.preventDefault()
  document.getElementById('content')?.focus()
}
