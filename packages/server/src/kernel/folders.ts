import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder and its missing parents. Returns the topmost folder that it made, or `null` when all existed. Always
 * ends, while Node's recursive `mkdir` tries for ever where the file system takes no folders (/proc, say).
 *
 * @throws Error with a sentence for the operator and the `code` of the system
 */
export function makeFolder(path: string, mode: number): string | null {
  try {
    if (makeOne(path, mode)) return path
    return null
  } catch (error) {
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || parent === path) throw refusal(path, error)
    const topmost = makeFolder(parent, mode)
    try {
      return makeOne(path, mode) ? (topmost ?? path) : topmost
    } catch (again) {
      throw refusal(path, again)
    }
  }
}

/** Makes one folder. Returns false when it existed. */
function makeOne(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode })
    return true
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return false
    throw error
  }
}

function refusal(path: string, error: unknown): Error {
  const code = codeOf(error)
  return Object.assign(new Error(`the folder ${path} cannot be made: ${code ?? String(error)}`, { cause: error }), { code })
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
