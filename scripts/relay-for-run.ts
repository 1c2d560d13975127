import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { COMPILED_CODE } from '../packages/server/src/test/compiled-code.ts'
import { bundledRelay } from './relay-bundle.ts'

/** Called by vitest before the first file. Makes the bundle and passes its path to all processes by an environment variable. */
export default async function setup(): Promise<() => void> {
  const main = await bundledRelay()
  const compiled = join(dirname(main), 'compiled')
  if (!existsSync(compiled)) {
    await keepCompiled(main)
    writeFileSync(compiled, '')
  }
  process.env['DOCRELAY_TEST_RELAY'] = main
  return () => void delete process.env['DOCRELAY_TEST_RELAY']
}

/**
 * Starts and stops the relay once, because Node stores compiled code only when a process ends by itself. The tests kill most of their relays.
 * Without this, each would compile its code again, which is a third of the processor time of a start.
 */
async function keepCompiled(main: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-first-start-'))
  try {
    const issuer = 'http://127.0.0.1:9'
    const env = {
      ...COMPILED_CODE,
      PATH: process.env['PATH'],
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_MCP_PORT: '0',
      RELAY_DATA_DIR: dataDir,
      RELAY_JWT_ISSUER: issuer,
      RELAY_JWT_JWKS_URL: `${issuer}/jwks`,
    }
    const relay = spawn(process.execPath, [main, 'serve'], { cwd: dataDir, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(relay, 'close')
    relay.stdout.once('data', () => relay.kill('SIGTERM'))
    await ended
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
