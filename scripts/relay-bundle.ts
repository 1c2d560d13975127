import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { relaySources, stampOfSources } from '../packages/server/bin/built-relay.js'
import { writeBundle } from './bundle.ts'
import { packagesOf, thirdPartyNotices } from './third-party-notices.ts'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = join(ROOT, 'packages')
const SERVER = join(PACKAGES, 'server')
const CACHE = join(ROOT, 'node_modules/.cache/docrelay-relay')
/** The modules that make the bundle. */
const TOOLS = ['bundle.ts', 'bundle-prelude.ts', 'source-lines.ts', 'relay-bundle.ts'].map((name) =>
  join(import.meta.dirname, name),
)
/** How many bundles are kept, because running relays may still use earlier ones. */
const KEPT = 4
/** Packages installed beside the bundle: they load only when needed, and some are not JavaScript. */
const INSTALLED = /^(?:pg|@redis\/client|@aws-sdk\/client-s3|@smithy\/[^/]+|@resvg\/resvg-js|dejavu-fonts-ttf)(?:\/|$)/
/** The file with the licences of the packages that are in a bundle. */
export const NOTICES = 'THIRD-PARTY-NOTICES'

/** Whether the relay needs this package installed beside its bundle. */
export function isInstalledBeside(name: string): boolean {
  return INSTALLED.test(name)
}

/**
 * Returns the main file of the bundle of the present sources, and makes the bundle first when needed. May be called by several processes at the
 * same time: a bundle is moved to its place when it is complete.
 */
export async function bundledRelay(): Promise<string> {
  const folder = join(CACHE, digestOf([...relaySources(PACKAGES).map((path) => join(PACKAGES, path)), ...TOOLS]))
  if (!existsSync(folder)) {
    await write(folder, { 'package.json': addressOf('server/package.json'), dist: addressOf('console/dist') })
    removeOldBundles()
  }
  return join(folder, 'main.mjs')
}

/**
 * Writes the bundle that `relay` runs, in place of an earlier one.
 *
 * @param dist the folder `dist` beside the manifest of the server; from there the built console is found, as in the repository
 */
export async function buildRelay(dist: string): Promise<void> {
  rmSync(dist, { recursive: true, force: true })
  await write(dist, { 'package.json': '../package.json', dist: '../../console/dist' })
}

/**
 * Returns a hash of the names and contents of files, and of the lockfile.
 *
 * @param files absolute paths
 */
export function digestOf(files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of [join(ROOT, 'package-lock.json'), ...files]) digest.update(file).update(readFileSync(file))
  return digest.digest('hex').slice(0, 16)
}

function addressOf(path: string): string {
  return pathToFileURL(join(PACKAGES, path)).href
}

async function write(folder: string, beside: Readonly<Record<string, string>>): Promise<void> {
  mkdirSync(join(folder, '..'), { recursive: true })
  const unfinished = mkdtempSync(`${folder}-unfinished-`)
  try {
    // Taken before the build, so that a change of the sources during the build makes the bundle stale.
    const stamp = stampOfSources(PACKAGES)
    const modules = await writeBundle({
      programs: { main: join(SERVER, 'src/main.ts') },
      dir: unfinished,
      isOthers: (id) => id.startsWith('node:') || isInstalledBeside(id),
      beside,
    })
    writeFileSync(join(unfinished, NOTICES), thirdPartyNotices(packagesOf(modules)))
    writeFileSync(join(unfinished, 'sources'), stamp)
    // A temporary folder is private, but the relay may run as another user than the builder. [OPS-12]
    chmodSync(unfinished, 0o755)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process may have written the same bundle meanwhile.
    if (!existsSync(folder)) throw error
  }
}

function removeOldBundles(): void {
  const bundles = readdirSync(CACHE)
    .filter((name) => !name.includes('unfinished'))
    .map((name) => ({ path: join(CACHE, name), madeMs: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of bundles.slice(KEPT)) rmSync(path, { recursive: true, force: true })
}

if (process.argv[1] === import.meta.filename) await buildRelay(join(SERVER, 'dist'))
