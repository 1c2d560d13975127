import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { builtConsole } from './built-console.ts'

/** Where a Chromium may be; the first that is there is taken. */
const PLACES = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
/**
 * What the browser would do for its own window. The pages in which its address bar shows suggestions take a second of processor time for each
 * profile, more than the page under test.
 */
const OF_ITS_WINDOW = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']
/** What playwright-core switches off: a browser takes one list only, the last. */
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
// All but the last keep it from calling hosts of its maker.
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${[...OF_PLAYWRIGHT, ...OF_ITS_WINDOW].join(',')}`,
]

/**
 * Called by vitest before the first file: builds the console and starts one Chromium for all files, which find both by the environment. Without a
 * Chromium nothing is started, and the tests are skipped with that reason.
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
