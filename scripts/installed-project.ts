import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const MODULES = join(import.meta.dirname, '../node_modules')
const run = promisify(execFile)

export interface InstalledProject extends Disposable {
  readonly folder: string
  write(file: string, text: string): void
  /** Runs a program in the folder and returns its output. Rejects with the output when the program fails. */
  run(program: string, args: readonly string[]): Promise<string>
}

/**
 * Makes a project outside the repository and installs the tarballs into it with `npm install`. Third-party packages are copied from our
 * node_modules, so no network is needed; of `@docrelay` only the tarballs are available.
 */
export async function installedProject(
  tarballs: ReadonlyMap<string, string>,
  thirdParty: readonly string[],
): Promise<InstalledProject> {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-installed-'))
  const project: InstalledProject = {
    folder,
    write: (file, text) => writeFileSync(join(folder, file), text),
    async run(program, args) {
      try {
        return (await run(program, [...args], { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } })).stdout
      } catch (error) {
        const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
        throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error })
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
  const dependencies: Record<string, string> = {}
  for (const [name, path] of tarballs) dependencies[name] = `file:${path}`
  for (const name of closureOf(thirdParty)) {
    const copy = join(folder, 'third-party', name)
    mkdirSync(copy, { recursive: true })
    cpSync(join(MODULES, name), copy, { recursive: true, dereference: true })
    dependencies[name] = `file:${copy}`
  }
  project.write(
    'package.json',
    JSON.stringify({ name: 'stranger', version: '1.0.0', private: true, type: 'module', dependencies }),
  )
  project.write('.npmrc', 'registry=http://127.0.0.1:9/\n@docrelay:registry=http://127.0.0.1:9/\nfund=false\naudit=false\n')
  await project.run('npm', ['install', '--offline', '--install-links', '--ignore-scripts', '--no-update-notifier'])
  return project
}

/** Returns packages with all their dependencies. */
function closureOf(names: readonly string[], found = new Set<string>()): ReadonlySet<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} } = JSON.parse(readFileSync(join(MODULES, name, 'package.json'), 'utf8')) as {
      readonly dependencies?: Readonly<Record<string, string>>
    }
    closureOf(Object.keys(dependencies), found)
  }
  return found
}
