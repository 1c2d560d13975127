/**
 * The console in a real browser, on a real relay, with a real issuer.
 *
 * To add a case, write a file `src/test/<what>.browser.test.ts`:
 *
 * ```ts
 * it('[CON-20] a person who opens a document sees its text', async (context) => {
 *   const { rest, openAs } = await openConsole(context)
 *   await (await rest('ann')).putDocument('minutes', { name: 'Minutes', richTextPages: [...] })
 *   const ann = await openAs('ann', '#doc/minutes')
 *   await ann.getByRole('heading', { name: 'Minutes' }).waitFor()
 * })
 * ```
 *
 * The calls of one process share a relay, in which each has a workspace of its own; `openConsoleAlone` starts another one, for what stops it
 * or is about its limits. Every call of `openAs` opens a browser profile of its own, in which that person is
 * signed in. People: ann (owner of the workspace), ben (member), cleo (viewer). Find things as a person does, by role and name. Wait for
 * conditions (`locator.waitFor`, `expect.poll`), never for a time. What the page writes to its console as an error, an uncaught exception
 * and a report of the Content-Security-Policy all fail the test; `allowProblems(/…/)` excepts what the test itself provokes, such as the
 * browser's line about a socket that could not be opened.
 * Run: `vitest run packages/console/src/test/<file>`. A picture to look at: `await ann.screenshot({ path: '/tmp/x.png' })`.
 */
import { RelayClient } from '@docrelay/client/rest/relay-client'
import type { DevIssuer } from '@docrelay/dev-issuer/dev-issuer'
import { type Person, tryOutPeople } from '@docrelay/dev-issuer/people'
import { patience } from '@docrelay/server/kernel/testing/patience'
import type { RelayUnderTest } from '@docrelay/server/test/relay-under-test'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { type ConsoleOrigin, openConsoleOrigin } from './console-origin.ts'
import { type ConsoleRelay, sharedConsoleRelay, startConsoleRelay, type WorkspaceLimits } from './console-relay.ts'
import { openSignedIn } from './profile-start.ts'

export interface ConsoleUnderTest<Relay = Pick<RelayUnderTest, 'baseUrl' | 'mcpUrl' | 'fetch'>> {
  readonly relay: Relay
  readonly issuer: DevIssuer
  /** The address of the page, which ends in `/console/`. */
  readonly url: string
  /** The proxy between the pages and the relay, which can hold frames: `frames.hold(TAG.syncAck)`. */
  readonly frames: ConsoleOrigin
  /** A REST client for this person. */
  rest(person: string): Promise<RelayClient>
  /** Opens the console in a browser profile of its own, signed in as this person, at a place such as `#doc/minutes`. */
  openAs(person: string, hash?: string, options?: ProfileOptions): Promise<Page>
  /** Like `openAs`, but signs in through the issuer's page and its redirect. For tests of the sign-in. */
  signInAs(person: string, hash?: string, options?: ProfileOptions): Promise<Page>
  /** Opens a profile at the page without signing in. */
  openSignedOut(hash?: string, options?: ProfileOptions): Promise<Page>
  /** Lets pages write lines that match one of these patterns to their console without failing the test. */
  allowProblems(...patterns: readonly RegExp[]): void
}

export interface ProfileOptions extends BrowserContextOptions {
  /** Called before the profile opens the page, for example to answer requests of the page. */
  readonly onProfile?: (profile: BrowserContext) => Promise<void>
}

export const NEEDS_CHROMIUM = 'needs Chromium: CHROMIUM_PATH, or /usr/bin/chromium'
const TIMEOUT_MS = patience(8_000)

/** Opens a console for one test, on the relay that the process shares. Skips the test where there is no browser. */
export function openConsole(context: TestContext, limits?: WorkspaceLimits): Promise<ConsoleUnderTest> {
  return open(context, (folder) => sharedConsoleRelay(folder, limits))
}

/** Opens a console with a relay that starts and ends with the test. `people` may sign in besides ann, ben and cleo. */
export function openConsoleAlone(
  context: TestContext,
  { env = {}, people = [] }: { readonly env?: Readonly<Record<string, string>>; readonly people?: readonly Person[] } = {},
): Promise<ConsoleUnderTest<RelayUnderTest>> {
  return open(context, async (folder, ending) =>
    ending.use(await startConsoleRelay({ folder, env, people: [...tryOutPeople('default'), ...people] })),
  )
}

/** One browser connection for all tests of the process, ended with the process. */
let connected: Promise<Browser> | null = null

async function open(
  context: TestContext,
  start: (folder: string, ending: AsyncDisposableStack) => Promise<ConsoleRelay>,
): Promise<ConsoleUnderTest<RelayUnderTest>> {
  const endpoint = process.env['DOCRELAY_TEST_BROWSER']
  const folder = process.env['DOCRELAY_TEST_CONSOLE']
  if (endpoint === undefined || folder === undefined) return context.skip(NEEDS_CHROMIUM)
  const opened = new AsyncDisposableStack()
  const problems: string[] = []
  const allowed: RegExp[] = []
  context.onTestFinished(async () => {
    await opened.disposeAsync()
    const remaining = problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem)))
    if (remaining.length > 0) throw new Error(`the pages reported problems:\n${remaining.join('\n')}`)
  })

  const { relay, issuer, signIn } = await start(folder, opened)
  const frames = opened.use(await openConsoleOrigin(() => relay.baseUrl))
  const url = `${frames.origin}/console/`
  connected ??= chromium.connect(endpoint)
  const browser = await connected

  const openProfile = async ({ onProfile, ...options }: ProfileOptions = {}): Promise<Page> => {
    const profile = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
    opened.defer(() => profile.close())
    profile.setDefaultTimeout(TIMEOUT_MS)
    watch(profile, problems)
    await onProfile?.(profile)
    return profile.newPage()
  }
  const openSignedOut = async (hash = '', options?: ProfileOptions): Promise<Page> => {
    const page = await openProfile(options)
    await page.goto(url + hash)
    return page
  }
  return {
    relay,
    issuer,
    url,
    frames,
    rest: async (person) => {
      const token = await issuer.mint(person)
      return new RelayClient({ baseUrl: relay.baseUrl, token: () => token })
    },
    async openAs(person, hash = '#documents', options) {
      const page = await openProfile(options)
      await openSignedIn(page, { address: url + hash, person, signIn })
      await page.locator(`[data-person="${person}"]`).waitFor()
      return page
    },
    async signInAs(person, hash = '#documents', options) {
      const page = await openSignedOut(`${hash}${hash.includes('?') ? '&' : '?'}as=${person}`, options)
      await page.locator(`[data-person="${person}"]`).waitFor()
      return page
    },
    openSignedOut,
    allowProblems: (...patterns) => void allowed.push(...patterns),
  }
}

/** Collects the errors of the pages of a profile. A violation of the Content-Security-Policy is a console error as well. */
function watch(profile: BrowserContext, problems: string[]): void {
  profile.on('weberror', (thrown) => problems.push(`uncaught: ${thrown.error().stack ?? thrown.error().message}`))
  profile.on('console', (line) => {
    if (line.type() === 'error') problems.push(`console: ${line.text()} (${line.location().url})`)
  })
}
