import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, rolldown } from 'rolldown'
import { COMPILED_CODE } from '../packages/server/src/test/compiled-code.ts'

const ROOT = join(import.meta.dirname, '..')
const CACHE = join(ROOT, 'node_modules/.cache/docrelay-tests')
const MAIN = join(ROOT, 'packages/server/src/main.ts')
/** Earlier bundles stay for runs that still start them. */
const KEPT = 4
/** Loaded when they are needed, and not all of them are JavaScript. */
const LEFT_OUT = /^(?:node:|pg|@aws-sdk\/|@smithy\/|@resvg\/)/

/**
 * Writes the relay into a few files, unless it is there already, and returns the path of its `main`. A start that loads a thousand modules in
 * four threads takes three times the processor time of one that loads these.
 */
export async function bundledRelay(): Promise<string> {
  const folder = join(CACHE, `relay-${digestOfSources()}`)
  const main = join(folder, 'main.mjs')
  if (existsSync(folder)) return main
  await bundle(folder)
  await keepCompiled(main)
  return main
}

function digestOfSources(): string {
  const files = ['model', 'protocol', 'server'].flatMap((name) => {
    const src = join(ROOT, 'packages', name, 'src')
    const names = readdirSync(src, { recursive: true, encoding: 'utf8' })
    return names.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts')).map((file) => join(src, file))
  })
  const digest = createHash('sha256')
  for (const file of [import.meta.filename, join(ROOT, 'package-lock.json'), ...files.sort()])
    digest.update(file).update(readFileSync(file))
  return digest.digest('hex').slice(0, 16)
}

async function bundle(folder: string): Promise<void> {
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'))
  try {
    const relay = await rolldown({ input: { main: MAIN }, platform: 'node', external: LEFT_OUT, plugins: [addresses()] })
    await relay.write({
      dir: unfinished,
      entryFileNames: '[name].mjs',
      chunkFileNames: 'chunk-[name]-[hash].mjs',
      keepNames: true,
    })
    await relay.close()
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    // Another run may have written the same one meanwhile.
    if (!existsSync(folder)) throw error
  }
  removeOldBundles()
}

/**
 * Starts and stops the relay once, as Node keeps the compiled code of a process when it ends by itself. The tests kill most of theirs, so that
 * each would compile its code anew, which is a third of the processor time of a start.
 */
async function keepCompiled(main: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'docrelay-first-start-'))
  try {
    const issuer = 'http://127.0.0.1:9'
    const env = {
      ...COMPILED_CODE,
      PATH: process.env['PATH'],
      RELAY_HOST: '127.0.0.1',
      RELAY_PORT: '0',
      RELAY_MCP_PORT: '0',
      RELAY_DATA_DIR: dataDir,
      RELAY_JWT_ISSUER: issuer,
      RELAY_JWT_JWKS_URL: `${issuer}/jwks`,
    }
    const relay = spawn(process.execPath, [main, 'serve'], { cwd: dataDir, env, stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(relay, 'close')
    relay.stdout.once('data', () => relay.kill('SIGTERM'))
    await ended
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** The files of threads become files of the bundle; everything else that stands beside a module is found where the module was. */
function addresses(): Plugin {
  return {
    name: 'addresses',
    transform: {
      filter: { code: 'import.meta.url' },
      handler(code, id) {
        const withThreads = code.replace(/new URL\('(\.[^']+)\.ts', import\.meta\.url\)/g, (_, path: string) => {
          const name = basename(path)
          this.emitFile({ type: 'chunk', id: resolve(id, '..', `${path}.ts`), fileName: `${name}.mjs` })
          return `new URL('./${name}.mjs', globalThis.__bundle)`
        })
        return withThreads
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
          .replaceAll('globalThis.__bundle', 'import.meta.url')
      },
    },
  }
}

function removeOldBundles(): void {
  const bundles = readdirSync(CACHE)
    .filter((name) => name.startsWith('relay-'))
    .map((name) => ({ path: join(CACHE, name), madeMs: statSync(join(CACHE, name)).mtimeMs }))
    .sort((a, b) => b.madeMs - a.madeMs)
  for (const { path } of bundles.slice(KEPT)) rmSync(path, { recursive: true, force: true })
}
