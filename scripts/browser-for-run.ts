import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { builtConsole } from './built-console.ts'

/** Places of a Chromium; the first that exists is used. */
const PLACES = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/**
 * Features of the browser's own window. The suggestion pages of its address bar take a second of processor time per profile, more than the page
 * under test.
 */
const OF_ITS_WINDOW = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']
/** The features that playwright-core disables. Repeated here because a browser uses only its last list of disabled features. */
const OF_PLAYWRIGHT = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]
// Background networking, component updates and sync would call hosts of the browser's vendor.
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...OF_PLAYWRIGHT, ...OF_ITS_WINDOW].join(',')}`,
]

/**
 * Called by vitest before the first file. Builds the console and starts one Chromium for all files, and passes both by environment variables.
 * Without a Chromium nothing is started, and the tests are skipped with that reason.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const executablePath = PLACES.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined) return async () => {}
  const folder = builtConsole()
  const browser = await chromium.launchServer({ executablePath, args: FLAGS, chromiumSandbox: false })
  process.env['DOCRELAY_TEST_CONSOLE'] = folder
  process.env['DOCRELAY_TEST_BROWSER'] = browser.wsEndpoint()
  return async () => {
    delete process.env['DOCRELAY_TEST_BROWSER']
    delete process.env['DOCRELAY_TEST_CONSOLE']
    await browser.close()
  }
}
