import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { builtConsole } from './built-console.ts'
import { modulesOf, writeBundle } from './bundle.ts'
import { isInstalledBeside, NOTICES } from './relay-bundle.ts'
import { packagesOf, thirdPartyNotices } from './third-party-notices.ts'

const ROOT = join(import.meta.dirname, '..')
/** Our packages in the bundle. Dependencies of `BUNDLED` are bundled unless `isInstalledBeside`; those of `OTHERS` are installed. */
const BUNDLED = ['server', 'client', 'model', 'protocol']
const OTHERS = ['docrelay', 'dev-issuer']
/** Files and folders outside the bundle that modules refer to, and their place in the package. */
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
 * Packs `docrelay`: the relay, the development issuer and the built console in one package, compiled to JavaScript. Only third-party packages are
 * its dependencies. Returns the path of the tarball.
 */
export async function packDocrelay(target: string): Promise<string> {
  const folder = join(ROOT, 'dist', `docrelay-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  mkdirSync(target, { recursive: true })
  try {
    const bundled = await writeBundle({
      programs: { docrelay: join(ROOT, 'packages/docrelay/bin/docrelay.js') },
      dir: join(folder, 'dist'),
      isOthers,
      beside: BESIDE,
    })
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

/** Returns the third-party packages that the bundle imports, with their versions. */
export function docrelayDependencies(): Readonly<Record<string, string>> {
  const installed = [
    ...BUNDLED.flatMap(dependenciesOf).filter(([name]) => isInstalledBeside(name)),
    ...OTHERS.flatMap(dependenciesOf).filter(([name]) => !name.startsWith('@docrelay/')),
  ]
  return Object.fromEntries(installed.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function dependenciesOf(name: string): readonly (readonly [string, string])[] {
  return Object.entries(manifestOf(name).dependencies ?? {})
}

function isOthers(id: string): boolean {
  const names = Object.keys(docrelayDependencies())
  return id.startsWith('node:') || names.some((name) => id === name || id.startsWith(`${name}/`))
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

/** Returns the modules of the console page, from a build that writes nothing. */
export function consoleModules(): Promise<readonly string[]> {
  modulesOfConsole ??= readConsoleModules()
  return modulesOfConsole
}

async function readConsoleModules(): Promise<readonly string[]> {
  const built = await build({ root: join(ROOT, 'packages/console'), logLevel: 'error', build: { write: false } })
  return modulesOf('output' in built ? [built] : Array.isArray(built) ? built : [])
}

if (process.argv[1] === import.meta.filename) console.log(await packDocrelay(join(ROOT, 'dist')))
