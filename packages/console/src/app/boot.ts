import type { Session } from './views.ts'
import { type ConsoleConfig, loadConfig } from '../session/config.ts'
import { keepWorkspace, workspaceOf } from '../session/workspace-choice.ts'
import { SignIn } from '../session/sign-in.ts'
import { takeNamedPerson } from './named-person.ts'

/** The state of the page: before a session exists, and with the session. */
export type Boot =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'signedOut'; readonly reason: string | null; readonly isCleared?: boolean; readonly signIn: SignIn }
  /** Another window opened this one to sign in again, and this window has done so. */
  | { readonly kind: 'returned' }
  | { readonly kind: 'choose'; readonly workspaces: readonly string[]; readonly choose: (id: string) => void }
  | { readonly kind: 'signedIn'; readonly session: Session; readonly signIn: SignIn; readonly workspaces: readonly string[] }

/** The parts of the browser that the page uses. */
export interface Page {
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => () => void
  readonly storage: Storage
  readonly location: Location
  readonly history: History
  readonly fetch: typeof fetch
}

/** Name of the BroadcastChannel on which windows of the console exchange the issuer's answer. */
export const SIGN_IN_CHANNEL = 'docrelay.sign-in'

/** Signs the person in and passes each state of the page to `show`. Leaves the page when `#as=…` names a person who has to sign in first. */
export async function boot(page: Page, actions: Pick<Session, 'go' | 'announce'>, show: (boot: Boot) => void): Promise<void> {
  try {
    const config = await loadConfig(page.fetch)
    show(await arrive(page, config, actions, show))
  } catch (error) {
    show({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

/** Returns the address of the page without query and hash. */
export function redirectUriOf({ origin, pathname }: Pick<Location, 'origin' | 'pathname'>): string {
  return origin + pathname
}

async function arrive(
  page: Page,
  config: ConsoleConfig,
  actions: Pick<Session, 'go' | 'announce'>,
  show: (boot: Boot) => void,
): Promise<Boot> {
  const { location, history, storage, now, after } = page
  const redirectUri = redirectUriOf(location)
  const signIn = new SignIn(config, { now, after, storage, redirectUri, leaveTo: (address) => location.assign(address) })
  const returned = new URL(location.href)
  const signedIn = (): Promise<Boot> => enter(page, config, signIn, actions, show)

  const state = returned.searchParams.get('state')
  if (state !== null) {
    const pending = signIn.pendingFor(state)
    if (pending === null || pending.window) {
      new BroadcastChannel(SIGN_IN_CHANNEL).postMessage(returned.href)
      return { kind: 'returned' }
    }
    history.replaceState(null, '', redirectUri + pending.backTo)
    try {
      await signIn.comeBack(returned)
    } catch (error) {
      return { kind: 'signedOut', reason: error instanceof Error ? error.message : String(error), signIn }
    }
    return signedIn()
  }

  const { person, hash } = takeNamedPerson(location.hash)
  const named = signIn.mayNamePerson ? person : null
  if (person !== null) history.replaceState(null, '', redirectUri + hash)
  if ((await signIn.resume()) && (named === null || signIn.claims?.token.sub === named)) return signedIn()
  if (named !== null) {
    await signIn.leave({ backTo: hash, person: named })
    return { kind: 'loading' }
  }
  return { kind: 'signedOut', reason: null, signIn }
}

async function enter(
  page: Page,
  config: ConsoleConfig,
  signIn: SignIn,
  actions: Pick<Session, 'go' | 'announce'>,
  show: (boot: Boot) => void,
): Promise<Boot> {
  const { storage, location, now } = page
  const workspaces = signIn.claims?.token.workspaces ?? []
  const choice = workspaceOf(workspaces, storage)
  const again = (id: string): void => {
    keepWorkspace(id, storage)
    void enter(page, config, signIn, actions, show).then(show)
  }
  if (choice.kind === 'open') return { kind: 'choose', workspaces, choose: again }
  // This module holds the client with all of its sync code, so it is loaded only when somebody is signed in.
  const { openSession } = await import('../session/open-session.ts')
  const session = openSession(signIn, { config, relayUrl: location.origin, workspace: choice.id, now, ...actions })
  if (session === null) return { kind: 'failed', reason: 'The token of the issuer names no person.' }
  return { kind: 'signedIn', session, signIn, workspaces }
}
