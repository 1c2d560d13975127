import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Where the migration of a store is killed: `before` or `after` the step of this number, of those still to run, is recorded as done. */
export interface StopAt {
  readonly url: string
  readonly step: number
  readonly moment: 'before' | 'after'
}

/**
 * Migrates stores in a process of their own, which is killed when all have come to their places: a process for each would load the program
 * anew for each. Returns the signal that ended it, and what it said.
 */
export async function killMigrations(stops: readonly StopAt[]): Promise<readonly [signal: string | null, said: string]> {
  const script = join(import.meta.dirname, 'migrate-until.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(stops)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return [signal, said]
}
