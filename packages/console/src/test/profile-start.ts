import type { Page } from 'playwright-core'
import { redeemCode, signInAddress } from '../session/authorization.ts'
import type { ConsoleConfig } from '../session/config.ts'
import type { ConsoleRelay } from './console-relay.ts'

/**
 * Opens an address in a tab whose person is already signed in. Signing in within the tab would load the console twice, which takes a third of a
 * second of processor time more.
 */
export async function openSignedIn(
  page: Page,
  { address, person, signIn }: { readonly address: string; readonly person: string; readonly signIn: ConsoleRelay['signIn'] },
): Promise<void> {
  const refreshToken = await refreshTokenOf(page, { redirectUri: address.replace(/[?#].*/, ''), person, signIn })
  const tools = await page.context().newCDPSession(page)
  const source = `if (location.href.startsWith('http')) sessionStorage.setItem('docrelay.refresh-token', ${JSON.stringify(refreshToken)})`
  await tools.send('Page.enable')
  await tools.send('Page.addScriptToEvaluateOnNewDocument', { source })
  await page.goto(address)
  // Detaching removes the script, so that no later document of the tab signs in by it.
  await tools.detach()
}

/** Signs in by the console's code and the profile's cookies, without a page, and returns the refresh token. */
async function refreshTokenOf(
  page: Page,
  {
    redirectUri,
    person,
    signIn,
  }: { readonly redirectUri: string; readonly person: string; readonly signIn: ConsoleRelay['signIn'] },
): Promise<string> {
  const config: ConsoleConfig = { ...signIn, authorizeParams: {}, mcpUrl: null, version: '' }
  const { address, pending } = await signInAddress(config, { redirectUri, loginHint: person })
  const answer = await page.context().request.get(address)
  const { refreshToken } = await redeemCode(config, { returned: new URL(answer.url()), redirectUri, pending })
  if (refreshToken === null) throw new Error(`the issuer gave ${person} no refresh token`)
  return refreshToken
}
