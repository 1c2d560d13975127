import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Where the migration of a store stops: `before` or `after` the step is recorded as done. `step` counts only the steps that are still to run. */
export interface StopAt {
  readonly url: string
  readonly step: number
  readonly moment: 'before' | 'after'
}

/**
 * Migrates all stores in one child process, which is killed when each has reached its place. A process for each store would load the program
 * again each time. Returns the signal that ended the process, and its stderr.
 */
export async function killMigrations(stops: readonly StopAt[]): Promise<readonly [signal: string | null, said: string]> {
  const script = join(import.meta.dirname, 'migrate-until.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(stops)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return [signal, said]
}
