// Finds the program that `relay` runs: the bundle in dist/, or the sources. Plain JavaScript, because an older Node reads it too.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The packages that the relay is made of. */
const PACKAGES = ['model', 'protocol', 'server']

/**
 * Returns the path of the program: `dist/main.mjs` when the sources are not installed or the bundle was made of them, else `src/main.ts`.
 * `isStale` says that there is a bundle, but of other sources.
 *
 * @param {string} server the folder of this package
 * @returns {{ readonly program: string, readonly isStale: boolean }}
 */
export function relayProgram(server) {
  const [built, source] = [join(server, 'dist', 'main.mjs'), join(server, 'src', 'main.ts')]
  if (!existsSync(source)) return { program: built, isStale: false }
  if (!existsSync(built)) return { program: source, isStale: false }
  const isStale = readFileSync(join(server, 'dist', 'sources'), 'utf8') !== stampOfSources(join(server, '..'))
  return { program: isStale ? source : built, isStale }
}

/**
 * Returns a text that changes when a source file is added, removed or written. It reads names and times of about a thousand files, and not
 * what is in them, which would take at least twice as long in every start.
 *
 * @param {string} packages the folder of the packages
 * @returns {string}
 */
export function stampOfSources(packages) {
  const digest = createHash('sha256')
  for (const path of relaySources(packages)) digest.update(`${path} ${statSync(join(packages, path)).mtimeMs}\n`)
  return digest.digest('hex')
}

/**
 * Returns the paths of the source files of the relay without its tests, in order, relative to the folder of the packages.
 *
 * @param {string} packages
 * @returns {readonly string[]}
 */
export function relaySources(packages) {
  return PACKAGES.flatMap((name) =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:ts|txt|json|md)$/.test(file) && !file.endsWith('.test.ts'))
      .map((file) => join(name, 'src', file)),
  ).sort()
}
