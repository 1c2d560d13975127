import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/** Returns the folders of the third-party packages to which these modules belong, each once. */
export function packagesOf(moduleIds: readonly string[]): readonly string[] {
  return [...new Set(moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []))]
}

/**
 * Returns the licence texts of packages whose code is part of ours, by package name.
 *
 * @throws Error when a package has no licence text
 */
export function thirdPartyNotices(folders: readonly string[]): string {
  const notices = folders.map((folder) => {
    const { name, version, license = '' } = manifestOf(folder)
    const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)(-[a-z0-9]+)?(\.(md|txt))?$/i.test(file))
    if (texts.length === 0) throw new Error(`${name} ${version} has no licence text, so it cannot be handed on`)
    return [`${name} ${version} (${license})`, ...texts.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())]
  })
  const sorted = notices.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  const heading = 'The code of these packages is part of this one. Their licences:'
  return [heading, ...sorted.map((parts) => parts.join('\n\n'))].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n'
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}
