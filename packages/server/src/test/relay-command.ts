import { spawn } from 'node:child_process'
import { join } from 'node:path'

export interface CommandRun {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Runs a command of the real program in a process of its own, on the store in `dataDir`. */
export function relayCommand(
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandRun> {
  const main = join(import.meta.dirname, '../main.ts')
  const environment = {
    PATH: process.env['PATH'],
    RELAY_DATA_DIR: dataDir,
    RELAY_JWT_ISSUER: 'https://issuer.example',
    RELAY_JWT_JWKS_URL: 'https://issuer.example/jwks',
    ...env,
  }
  const child = spawn(process.execPath, [main, ...args], { env: environment, cwd: dataDir, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => void (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => void (err += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, out, err }))
  })
}
