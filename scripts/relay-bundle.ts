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
/** What the bundle is made with. */
const TOOLS = ['bundle.ts', 'bundle-prelude.ts', 'source-lines.ts', 'relay-bundle.ts'].map((name) =>
  join(import.meta.dirname, name),
)
/** Earlier bundles stay for relays that were started with them. */
const KEPT = 4
/** Packages that stay beside the bundle: they are loaded when they are needed, and not all of them are JavaScript. */
const INSTALLED = /^(?:pg|@redis\/client|@aws-sdk\/client-s3|@smithy\/[^/]+|@resvg\/resvg-js|dejavu-fonts-ttf)(?:\/|$)/
/** The file with the licences of the packages that are in a bundle. */
export const NOTICES = 'THIRD-PARTY-NOTICES'

/** Whether the relay needs this package installed beside its bundle. */
export function isInstalledBeside(name: string): boolean {
  return INSTALLED.test(name)
}

/**
 * Returns the program of the bundle of the present sources, and makes it first when there is none. Several may call it at the same time: a
 * bundle gets its place when it is complete.
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
 * Writes the bundle that `relay` runs, in the place of an earlier one.
 *
 * @param dist the folder `dist` beside the manifest of the server; the built console is found from there, as in the repository
 */
export async function buildRelay(dist: string): Promise<void> {
  rmSync(dist, { recursive: true, force: true })
  await write(dist, { 'package.json': '../package.json', dist: '../../console/dist' })
}

/**
 * Returns a text that changes with the names and contents of files, and with the packages that the lockfile names.
 *
 * @param files whole paths
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
    // Taken first: sources that change meanwhile make the bundle stale.
    const stamp = stampOfSources(PACKAGES)
    const modules = await writeBundle({
      programs: { main: join(SERVER, 'src/main.ts') },
      dir: unfinished,
      isOthers: (id) => id.startsWith('node:') || isInstalledBeside(id),
      beside,
    })
    writeFileSync(join(unfinished, NOTICES), thirdPartyNotices(packagesOf(modules)))
    writeFileSync(join(unfinished, 'sources'), stamp)
    // A temporary folder is private, but the relay runs as another user than who builds it. [OPS-12]
    chmodSync(unfinished, 0o755)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another run may have written the same one meanwhile.
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
