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
 * Every call of `openConsole` starts a relay of its own, and every call of `openAs` a browser profile of its own, in which that person is
 * signed in. People: ann (owner of the workspace), ben (member), cleo (viewer). Find things as a person does, by role and name. Wait for
 * conditions (`locator.waitFor`, `expect.poll`), never for a time. What the page writes to its console as an error, an uncaught exception
 * and a report of the Content-Security-Policy all fail the test; `allowProblems(/…/)` excepts what the test itself provokes, such as the
 * browser's line about a socket that could not be opened.
 * Run: `vitest run packages/console/src/test/<file>`. A picture to look at: `await ann.screenshot({ path: '/tmp/x.png' })`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RelayClient } from '@docrelay/client/rest/relay-client'
import { type DevIssuer, startDevIssuer } from '@docrelay/dev-issuer/dev-issuer'
import { type Person, tryOutPeople } from '@docrelay/dev-issuer/people'
import { patience } from '@docrelay/server/kernel/testing/patience'
import { type RelayUnderTest, startRelayUnderTest } from '@docrelay/server/test/relay-under-test'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import type { TestContext } from 'vitest'
import { type ConsoleOrigin, openConsoleOrigin } from './console-origin.ts'

export interface ConsoleUnderTest {
  readonly relay: RelayUnderTest
  readonly issuer: DevIssuer
  /** The address of the page, which ends in `/console/`. */
  readonly url: string
  /** Between the pages and the relay; it can hold frames: `frames.hold(TAG.syncAck)`. */
  readonly frames: ConsoleOrigin
  /** REST as this person. */
  rest(person: string): Promise<RelayClient>
  /** Opens the console in a profile of its own, signed in as this person, at a place such as `#doc/minutes`. */
  openAs(person: string, hash?: string, options?: ProfileOptions): Promise<Page>
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
const RESOURCE = 'http://127.0.0.1/mcp'
const TIMEOUT_MS = patience(8_000)

/**
 * Starts all of it, with `mcp` also for agents, and ends all of it with the test. Skips the test where there is no browser. `people` may
 * sign in besides ann, ben and cleo.
 */
export async function openConsole(
  context: TestContext,
  {
    env = {},
    mcp,
    people: others = [],
  }: {
    readonly env?: Readonly<Record<string, string>>
    readonly mcp?: 'local'
    readonly people?: readonly Person[]
  } = {},
): Promise<ConsoleUnderTest> {
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

  const issuerFolder = mkdtempSync(join(tmpdir(), 'docrelay-issuer-'))
  opened.defer(() => rmSync(issuerFolder, { recursive: true, force: true }))
  const people = [...tryOutPeople('default'), ...others]
  const issuer = opened.use(
    await startDevIssuer({ port: 0, dataDir: issuerFolder, people, audience: 'service-relay', resource: RESOURCE }),
  )
  let relayUrl = ''
  const frames = opened.use(await openConsoleOrigin(() => relayUrl))
  const url = `${frames.origin}/console/`
  const consoleEnv = {
    RELAY_CONSOLE_ENABLED: 'true',
    RELAY_CONSOLE_DIR: folder,
    RELAY_CONSOLE_CLIENT_ID: await registeredClient(issuer.url, url),
    RELAY_CONSOLE_SCOPE: 'openid docs',
  }
  const relay = opened.use(
    await startRelayUnderTest({
      ...(mcp && { mcp }),
      env: { RELAY_JWT_ISSUER: issuer.url, RELAY_JWT_JWKS_URL: issuer.jwksUrl, ...consoleEnv, ...env },
    }),
  )
  relayUrl = relay.baseUrl
  const browser: Browser = await chromium.connect(endpoint)
  opened.defer(() => browser.close())

  const openProfile = async (hash: string, { onProfile, ...options }: ProfileOptions = {}): Promise<Page> => {
    const profile = await browser.newContext({ viewport: { width: 1200, height: 800 }, ...options })
    profile.setDefaultTimeout(TIMEOUT_MS)
    watch(profile, problems)
    await onProfile?.(profile)
    const page = await profile.newPage()
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
      const page = await openProfile(`${hash}${hash.includes('?') ? '&' : '?'}as=${person}`, options)
      await page.locator(`[data-person="${person}"]`).waitFor()
      return page
    },
    openSignedOut: (hash = '', options) => openProfile(hash, options),
    allowProblems: (...patterns) => void allowed.push(...patterns),
  }
}

/** Collects what pages of a profile complain about. A breach of the Content-Security-Policy is an error of the console, too. */
function watch(profile: BrowserContext, problems: string[]): void {
  profile.on('weberror', (thrown) => problems.push(`uncaught: ${thrown.error().stack ?? thrown.error().message}`))
  profile.on('console', (line) => {
    if (line.type() === 'error') problems.push(`console: ${line.text()} (${line.location().url})`)
  })
}

async function registeredClient(issuer: string, redirect: string): Promise<string> {
  const answer = await fetch(`${issuer}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      application_type: 'native',
      redirect_uris: [redirect],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }),
  })
  const { client_id } = (await answer.json()) as { readonly client_id: string }
  return client_id
}
