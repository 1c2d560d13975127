import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startTestIssuer, type TestIssuer } from '../../auth/testing/test-issuer.ts'
import { COMPILED_CODE } from '../compiled-code.ts'
import { until } from '../relay-under-test.ts'

const LAUNCHER = join(import.meta.dirname, '../../../bin/relay.js')

let issuer: TestIssuer
let folder: string
let started: ChildProcess | null = null
beforeEach(async () => {
  issuer = await startTestIssuer()
  folder = mkdtempSync(join(tmpdir(), 'docrelay-launcher-'))
})
afterEach(async () => {
  started?.kill('SIGKILL')
  started = null
  await issuer.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns a Node of this machine that does not strip types by itself; `null` when there is none. */
function olderNode(): string | null {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, 'node'))
  return candidates.filter(existsSync).find((node) => isOlder(execFileSync(node, ['--version'], { encoding: 'utf8' }))) ?? null
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number)
  return major < 22 || (major === 22 && minor < 18)
}

/** Starts the relay through this Node. Resolves with the address of the main listener. */
async function start(node: string): Promise<{ readonly launcher: ChildProcess; readonly url: string }> {
  const env = {
    ...COMPILED_CODE,
    PATH: process.env['PATH'],
    RELAY_HOST: '127.0.0.1',
    RELAY_PORT: '0',
    RELAY_DATA_DIR: join(folder, 'data'),
    RELAY_MCP_ENABLED: 'false',
    RELAY_METRICS_EXPOSE: 'public',
    RELAY_JWT_ISSUER: issuer.issuer,
    RELAY_JWT_JWKS_URL: issuer.jwksUrl,
  }
  const launcher = spawn(node, [LAUNCHER, 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  started = launcher
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: launcher.stdout }).on('line', (line) => line.startsWith('main ') && resolve(line.slice(5)))
  })
  return { launcher, url }
}

const answers = (url: string) =>
  fetch(`${url}/health`).then(
    () => true,
    () => false,
  )

it('[LIFE-28] a relay started through an older Node ends when its launcher is killed with SIGKILL', async (context) => {
  const node = olderNode()
  if (node === null) return context.skip('needs a Node older than 22.18 in PATH')
  const { launcher, url } = await start(node)
  expect(await answers(url)).toBe(true)
  launcher.kill('SIGKILL')
  await until('the relay to be gone', async () => !(await answers(url)))
})

it('[LIFE-28] a relay started through an older Node stops cleanly when its launcher gets a signal', async (context) => {
  const node = olderNode()
  if (node === null) return context.skip('needs a Node older than 22.18 in PATH')
  const { launcher, url } = await start(node)
  const code = new Promise((resolve) => launcher.once('exit', resolve))
  launcher.kill('SIGTERM')
  expect([await code, await answers(url)]).toEqual([0, false])
})
