import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache/docrelay-console')
const VITE = join(ROOT, 'node_modules/vite/bin/vite.js')
/** The packages from which the page is built. */
const PACKAGES = ['console', 'client', 'prosemirror', 'model', 'protocol']
/** How many builds are kept, because running relays may still use earlier ones. */
const KEPT = 3

/**
 * Returns the folder of the console built from the present sources, and builds it first when needed. May be called by several processes at the
 * same time: a build is moved to its place when it is complete.
 *
 * @throws Error with the message of the bundler
 */
export function builtConsole(): string {
  const folder = join(CACHE, digestOfSources())
  if (!existsSync(folder)) build(folder)
  return folder
}

/** Returns a hash of everything that the built page depends on. */
function digestOfSources(): string {
  const files = PACKAGES.flatMap((name) => {
    const src = join(ROOT, 'packages', name, 'src')
    const names = readdirSync(src, { recursive: true, encoding: 'utf8' })
    return names.filter((file) => /\.[a-z]+$/.test(file) && !/\.test\.tsx?$/.test(file)).map((file) => join(src, file))
  })
  const others = ['index.html', 'vite.config.ts', 'lean-libraries.ts', 'package.json'].map((name) =>
    join(ROOT, 'packages/console', name),
  )
  const digest = createHash('sha256')
  for (const file of [join(ROOT, 'package-lock.json'), ...others, ...files.sort()]) digest.update(file).update(readFileSync(file))
  return digest.digest('hex').slice(0, 16)
}

function build(folder: string): void {
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'))
  try {
    const args = [VITE, 'build', 'packages/console', '--outDir', unfinished, '--emptyOutDir', '--logLevel', 'error']
    // With the variables of the test runner set, the bundler would make a development build.
    const env = { ...process.env, NODE_ENV: 'production', VITEST: '' }
    execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another process may have built the same sources meanwhile.
    if (existsSync(folder)) return
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`The console cannot be built:\n${stdout}${stderr}`, { cause: error })
  }
  removeOldBuilds()
}

function removeOldBuilds(): void {
  const builds = readdirSync(CACHE)
    .filter((name) => !name.startsWith('unfinished-'))
    .map((name) => ({ path: join(CACHE, name), madeMs: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of builds.slice(KEPT)) rmSync(path, { recursive: true, force: true })
}
