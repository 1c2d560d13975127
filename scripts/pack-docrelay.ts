import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Plugin, type RolldownOutput, rolldown } from 'rolldown'
import { build } from 'vite'
import { builtConsole } from './built-console.ts'
import { packagesOf, thirdPartyNotices } from './third-party-notices.ts'

const ROOT = join(import.meta.dirname, '..')
const OURS = ['docrelay', 'server', 'dev-issuer', 'client', 'model', 'protocol']
const NOTICES = 'THIRD-PARTY-NOTICES'
/** Files and folders that stand beside modules, and where they are in the package. */
const BESIDE: Readonly<Record<string, string>> = {
  'package.json': '../package.json',
  dist: '../console',
  examples: '../examples',
}

interface Manifest {
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/**
 * Packs `docrelay`: the relay, the issuer for trying out and the built console in one package, compiled to JavaScript. Only packages of
 * others are its dependencies. Returns the path of the tarball.
 */
export async function packDocrelay(target: string): Promise<string> {
  const folder = join(ROOT, 'dist', `docrelay-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  mkdirSync(target, { recursive: true })
  try {
    const bundled = await bundle(folder)
    writeFileSync(join(folder, NOTICES), thirdPartyNotices(packagesOf([...bundled, ...(await consoleModules())])))
    cpSync(builtConsole(), join(folder, 'console'), { recursive: true })
    for (const name of ['workspace', 'collections.json'])
      cpSync(join(ROOT, 'examples', name), join(folder, 'examples', name), { recursive: true })
    cpSync(join(ROOT, 'packages/docrelay/README.md'), join(folder, 'README.md'))
    for (const name of ['LICENSE', 'NOTICE']) cpSync(join(ROOT, name), join(folder, name))
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published(), null, 2)}\n`)
    const args = ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', target]
    const printed = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    const [packed] = Object.values(JSON.parse(printed) as Record<string, { readonly filename: string }>)
    return join(target, packed?.filename ?? '')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The packages of others that the bundle imports, with their versions. */
export function docrelayDependencies(): Readonly<Record<string, string>> {
  const all = OURS.flatMap((name) => Object.entries(manifestOf(name).dependencies ?? {}))
  return Object.fromEntries(all.filter(([name]) => !name.startsWith('@docrelay/')).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function manifestOf(name: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8')) as Manifest
}

function published(): object {
  const { version, description, license } = manifestOf('docrelay')
  return {
    name: 'docrelay',
    version,
    description,
    license,
    type: 'module',
    engines: { node: '>=22.18' },
    bin: { docrelay: 'dist/docrelay.mjs' },
    files: ['dist', 'console', 'examples', 'NOTICE', NOTICES],
    dependencies: docrelayDependencies(),
  }
}

let modulesOfConsole: Promise<readonly string[]> | null = null

/** The modules of which the page is made, by a build that writes nothing. */
export function consoleModules(): Promise<readonly string[]> {
  modulesOfConsole ??= readConsoleModules()
  return modulesOfConsole
}

async function readConsoleModules(): Promise<readonly string[]> {
  const built = await build({ root: join(ROOT, 'packages/console'), logLevel: 'error', build: { write: false } })
  return modulesOf('output' in built ? [built] : Array.isArray(built) ? built : [])
}

function modulesOf(bundles: readonly Pick<RolldownOutput, 'output'>[]): readonly string[] {
  return bundles.flatMap(({ output }) => output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])))
}

/** Returns the modules that are in the bundle. */
async function bundle(folder: string): Promise<readonly string[]> {
  const names = Object.keys(docrelayDependencies())
  const isOthers = (id: string): boolean =>
    id.startsWith('node:') || names.some((name) => id === name || id.startsWith(`${name}/`))
  const bundler = await rolldown({
    input: { docrelay: join(ROOT, 'packages/docrelay/bin/docrelay.js') },
    platform: 'node',
    external: isOthers,
    plugins: [addresses(join(folder, 'dist'))],
  })
  const written = await bundler.write({
    dir: join(folder, 'dist'),
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunk-[name]-[hash].mjs',
    keepNames: true,
  })
  await bundler.close()
  return modulesOf([written])
}

/** Gives programs and threads a file of their own, copies what stands beside modules, and points addresses at both. */
function addresses(dist: string): Plugin {
  return {
    name: 'addresses',
    transform: {
      filter: { code: 'import.meta.url' },
      handler(code, id) {
        if (code.includes('./assets/')) cpSync(resolve(id, '../assets'), join(dist, 'assets'), { recursive: true })
        return code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (address: string, path: string) => {
          const file = resolve(id, '..', path)
          const name = basename(path)
          if (name.endsWith('.ts')) {
            // Two programs are called `main`.
            const stem = name === 'main.ts' ? 'relay' : name.slice(0, -'.ts'.length)
            this.emitFile({ type: 'chunk', id: file, fileName: `${stem}.mjs` })
            return `new URL('./${stem}.mjs', import.meta.url)`
          }
          // All files are in one folder, and so are the assets of all modules.
          if (path.startsWith('./assets/')) return address
          const place = BESIDE[name]
          if (place !== undefined) return `new URL('${place}', import.meta.url)`
          throw new Error(`${id} names ${path}, which is not in the package`)
        })
      },
    },
  }
}

if (process.argv[1] === import.meta.filename) console.log(await packDocrelay(join(ROOT, 'dist')))
