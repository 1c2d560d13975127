import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { builtConsole } from './console-build.ts'

/** Where a Chromium may be; the first that is there is taken. */
const PLACES = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
// They keep it from calling hosts of its maker.
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Called by vitest before the first file: builds the console and starts one Chromium for all files, which find both by the environment. Without a
 * Chromium nothing is started, and the tests are skipped with that reason.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const executablePath = PLACES.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined) return async () => {}
  const [folder, browser] = await Promise.all([
    builtConsole(),
    chromium.launchServer({ executablePath, args: FLAGS, chromiumSandbox: false }),
  ])
  process.env['DOCRELAY_TEST_CONSOLE'] = folder
  process.env['DOCRELAY_TEST_BROWSER'] = browser.wsEndpoint()
  return async () => {
    delete process.env['DOCRELAY_TEST_BROWSER']
    delete process.env['DOCRELAY_TEST_CONSOLE']
    await browser.close()
  }
}
