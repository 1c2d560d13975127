import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache/docrelay-tests')
const CONSOLE = join(ROOT, 'packages/console')
/** Earlier builds stay for runs that still serve them. */
const KEPT = 4

/** Builds the console for tests, unless its sources have not changed since, and returns the folder of the built page. */
export async function builtConsole(): Promise<string> {
  const folder = join(CACHE, `console-${digestOfSources()}`)
  if (!existsSync(folder)) await build(folder)
  return folder
}

function digestOfSources(): string {
  const files = ['model', 'protocol', 'client', 'prosemirror', 'console'].flatMap((name) => {
    const src = join(ROOT, 'packages', name, 'src')
    const names = readdirSync(src, { recursive: true, encoding: 'utf8' })
    return names.filter((file) => /\.(tsx?|css)$/.test(file) && !file.endsWith('.test.ts')).map((file) => join(src, file))
  })
  const others = [join(CONSOLE, 'index.html'), join(CONSOLE, 'vite.config.ts'), join(ROOT, 'package-lock.json')]
  const digest = createHash('sha256')
  for (const file of [import.meta.filename, ...others, ...files.sort()]) digest.update(file).update(readFileSync(file))
  return digest.digest('hex').slice(0, 16)
}

/** Runs the bundler in a process of its own: in that of the tests it would make a page for development. */
async function build(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'))
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js')
  const child = spawn(process.execPath, [vite, 'build', CONSOLE, '--outDir', unfinished, '--emptyOutDir'], {
    cwd: ROOT,
    env: { ...process.env, NODE_ENV: 'production', VITEST: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) {
    rmSync(unfinished, { recursive: true, force: true })
    throw new Error(`the console was not built:\n${output}`)
  }
  // Another run may have put the same build there meanwhile.
  if (existsSync(folder)) rmSync(unfinished, { recursive: true, force: true })
  else renameSync(unfinished, folder)
  removeOldBuilds()
}

function removeOldBuilds(): void {
  const builds = readdirSync(CACHE)
    .filter((name) => name.startsWith('console-'))
    .map((name) => ({ path: join(CACHE, name), madeMs: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of builds.slice(KEPT)) rmSync(path, { recursive: true, force: true })
}
