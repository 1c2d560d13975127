import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../../../../..')
/** The scope of this repository's packages, which must come from the same commit. */
const OWN_SCOPE = '@docrelay'

/** The relay of an earlier commit of this repository, in a folder of its own. */
export interface FormerProgram extends Disposable {
  /** The path of its main module. */
  readonly path: string
}

/** Unpacks the sources of a commit. All third-party packages are the installed ones. */
export function openFormerProgram(commit: string): FormerProgram {
  const folder = mkdtempSync(join(tmpdir(), 'docrelay-former-'))
  const archive = spawnSync('git', ['archive', '--format=tar', commit, 'packages', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 1 << 30,
  })
  if (archive.status !== 0) throw new Error(`the commit ${commit} cannot be read: ${archive.stderr.toString()}`)
  const unpacked = spawnSync('tar', ['-x', '-C', folder], { input: archive.stdout })
  if (unpacked.status !== 0) throw new Error(`the sources of ${commit} cannot be unpacked: ${unpacked.stderr.toString()}`)
  const packages = join(folder, 'node_modules')
  mkdirSync(join(packages, OWN_SCOPE), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== OWN_SCOPE && !name.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(packages, OWN_SCOPE, name))
  return {
    path: join(folder, 'packages/server/src/main.ts'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
