import { accessSync, constants, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A run uses some hundred megabytes at a time; the memory file system of a container often has only 64. */
const LEAST_FREE_BYTES = 4 * 1024 ** 3
const IN_MEMORY = '/dev/shm'
const PREFIX = 'docrelay-tests-'

/**
 * Makes the folder for everything that a test run writes. It is in memory where there is enough room, because most stores flush after each
 * commit, which is slow on a busy disk. `TMPDIR` overrides the place.
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

/** Removes the folders of runs that were killed. */
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
