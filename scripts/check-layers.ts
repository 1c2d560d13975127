// Refuses imports that layers.js does not list, unused permissions, and names and clocks that the repository forbids.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkFile, checkTable, type Layer, type SourceFile, stalePermissions, type SuffixRule } from './layer-rules.ts'

const ROOT = join(import.meta.dirname, '..')

async function sources(): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = []
  for (const name of await readdir(join(ROOT, 'packages'))) {
    const base = `packages/${name}/src`
    const entries = await readdir(join(ROOT, base), { recursive: true }).catch(() => [])
    for (const entry of entries.sort((a, b) => a.localeCompare(b))) {
      if (/\.tsx?$/.test(entry)) files.push({ path: `${base}/${entry}`, text: await readFile(join(ROOT, base, entry), 'utf8') })
    }
  }
  return files
}

// The table is plain JavaScript, so that a linter can read it too.
const { layers, suffixes } = (await import(new URL('../layers.js', import.meta.url).href)) as {
  readonly layers: readonly Layer[]
  readonly suffixes: readonly SuffixRule[]
}
const files = await sources()
const problems = [
  ...checkTable(layers, suffixes),
  ...files.flatMap((file) => checkFile(file, layers, suffixes)),
  ...stalePermissions(files, layers, suffixes),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
