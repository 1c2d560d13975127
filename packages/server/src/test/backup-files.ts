import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from '../backup/manifest.ts'

export function manifestOf(backup: string): Manifest {
  return JSON.parse(readFileSync(join(backup, 'manifest.json'), 'utf8')) as Manifest
}

/** The rows of a backup, as hashes of its files. */
export function rowsOf(backup: string): Record<string, string> {
  const files = manifestOf(backup).files.filter(({ path }) => path.startsWith('tables/'))
  return Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]))
}
