import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A run has at most some hundred megabytes at a time; a container has often only 64. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3
const IN_MEMORY = '/dev/shm'
const PREFIX = 'docrelay-tests-'

/**
 * Makes the folder for everything that a run of tests writes, in memory where the system has room for it: most stores flush after each
 * commit, and beside other work a disk takes long for that. `TMPDIR` overrides the place.
 */
export function openTestFolder(env: NodeJS.ProcessEnv): { readonly path: string; remove(): void } {
  const base = env['TMPDIR'] === undefined && hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir()
  removeLeftOvers(base)
  const path = join(base, `${PREFIX}${process.pid}`)
  mkdirSync(path, { recursive: true })
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

export function hasRoom(folder: string, leastBytes = LEAST_FREE_BYTES): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= leastBytes
  } catch {
    return false
  }
}

/** Folders of runs that were killed. */
export function removeLeftOvers(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN
    if (Number.isInteger(pid) && !isRunning(pid)) rmSync(join(base, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
