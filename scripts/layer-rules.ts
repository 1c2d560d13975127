import { dirname, join } from 'node:path/posix'

/** A row of layers.js. */
export interface Layer {
  /** A folder, a file, or a prefix of file names, relative to the repository. The longest match applies. */
  readonly part: string
  /** Parts that it may import. */
  readonly ours: readonly string[]
  /** Parts of which it may import only `*.port.ts` files. */
  readonly ports?: readonly string[]
  readonly libraries: readonly string[]
  readonly node: boolean
}

export interface SourceFile {
  readonly path: string
  readonly text: string
}

const FORBIDDEN_FOLDERS = ['utils', 'helpers', 'common']
const FORBIDDEN_FILES = ['index.ts', 'types.ts']
const MAX_DEPTH = 3
const DRIVERS = 'packages/server/src/drivers'
const COMPOSITION = /^packages\/server\/src\/compose(?:(?:-[a-z-]+)?\.ts$|\/)/
/** The only files that may use the real clock and randomness: those of the server and of the client. */
const CLOCK_FILES = [
  'packages/server/src/kernel/clock.ts',
  'packages/server/src/kernel/ids.ts',
  'packages/client/src/environment.ts',
  'packages/console/src/main.tsx',
]
const CLOCKS: readonly { readonly pattern: RegExp; readonly name: string }[] = [
  { pattern: /\bDate\.now\b/, name: 'Date.now' },
  { pattern: /\bMath\.random\b/, name: 'Math.random' },
  { pattern: /\bperformance\.now\b/, name: 'performance.now' },
  { pattern: /\bnew Date\(\s*\)/, name: 'new Date()' },
]

/** Whether a file is a test, a contract suite or test support. Such files are checked for names and depth, but not against the table. */
export function isTestFile(path: string): boolean {
  return /\.(test|contract)\.ts$/.test(path) || /\/(test|testing)\//.test(path)
}

export function layerOf(path: string, layers: readonly Layer[]): Layer | null {
  let best: Layer | null = null
  for (const layer of layers) {
    const rest = path.startsWith(layer.part) ? path.slice(layer.part.length) : null
    const fits = rest !== null && (rest === '' || /^[/.-]/.test(rest))
    if (fits && layer.part.length > (best?.part.length ?? -1)) best = layer
  }
  return best
}

/** Returns the violations of one file, one line each. */
export function checkFile(file: SourceFile, layers: readonly Layer[]): readonly string[] {
  const problems = checkName(file.path)
  if (isTestFile(file.path)) return problems
  const layer = layerOf(file.path, layers)
  if (layer === null) return [...problems, `${file.path}: stands in no part of layers.js`]
  for (const { specifier, target } of importsOf(file)) {
    const refusal = refusedImport(file.path, specifier, target, layer, layers)
    if (refusal !== null) problems.push(`${file.path}: ${refusal}`)
  }
  const code = withoutComments(file.text)
  // The development issuer is a separate tool and may use the real clock.
  if (!CLOCK_FILES.includes(file.path) && !file.path.startsWith('packages/dev-issuer/')) {
    for (const { pattern, name } of CLOCKS)
      if (pattern.test(code)) problems.push(`${file.path}: uses ${name}; time and randomness are parameters`)
  }
  return problems
}

function checkName(path: string): string[] {
  const folders = path.slice(path.indexOf('/src/') + '/src/'.length).split('/')
  const name = folders.pop() ?? ''
  const problems: string[] = []
  if (FORBIDDEN_FILES.includes(name)) problems.push(`${path}: a file named ${name} says nothing`)
  for (const folder of folders)
    if (FORBIDDEN_FOLDERS.includes(folder)) problems.push(`${path}: a folder named ${folder} says nothing`)
  if (folders.length > MAX_DEPTH) problems.push(`${path}: more than ${MAX_DEPTH} folders below src`)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*\.tsx?$/.test(name)) problems.push(`${path}: not a kebab-case name`)
  return problems
}

function refusedImport(
  path: string,
  specifier: string,
  target: string | null,
  layer: Layer,
  layers: readonly Layer[],
): string | null {
  if (target === null) {
    if (specifier.startsWith('node:')) return layer.node ? null : `may not import ${specifier}`
    return layer.libraries.includes(libraryOf(specifier)) ? null : `may not import ${specifier}`
  }
  if (isTestFile(target)) return `imports test code: ${target}`
  if (target.startsWith(`${DRIVERS}/`) && !path.startsWith(`${DRIVERS}/`) && !COMPOSITION.test(path))
    return `only compose imports drivers: ${target}`
  const part = layerOf(target, layers)?.part
  if (part === undefined || part === layer.part || layer.ours.includes(part)) return null
  if (target.endsWith('.port.ts') && layer.ports?.includes(part) === true) return null
  return `may not import ${target}`
}

/** Returns rows that name parts that do not exist, or that name a part twice. */
export function checkTable(layers: readonly Layer[]): readonly string[] {
  const parts = layers.map((layer) => layer.part)
  const twice = parts.filter((part, index) => parts.indexOf(part) !== index).map((part) => `layers.js: ${part} stands twice`)
  const unknown = layers.flatMap((layer) =>
    [...layer.ours, ...(layer.ports ?? [])]
      .filter((name) => !parts.includes(name))
      .map((name) => `layers.js: ${layer.part} names ${name}, which is no part`),
  )
  return [...twice, ...unknown]
}

/** Returns permissions that no file uses: they would let a wrong import pass unnoticed. */
export function stalePermissions(files: readonly SourceFile[], layers: readonly Layer[]): readonly string[] {
  const used = new Map<Layer, Set<string>>()
  const seen = new Set<Layer>()
  for (const file of files) {
    const layer = layerOf(file.path, layers)
    if (layer === null || isTestFile(file.path)) continue
    seen.add(layer)
    const names = used.get(layer) ?? new Set()
    used.set(layer, names)
    for (const { specifier, target } of importsOf(file)) {
      if (target === null) names.add(specifier.startsWith('node:') ? 'node' : libraryOf(specifier))
      else {
        const part = layerOf(target, layers)?.part
        const byPort = part !== undefined && layer.ports?.includes(part) === true && target.endsWith('.port.ts')
        if (part !== undefined) names.add(byPort ? `port ${part}` : part)
      }
    }
  }
  return layers.flatMap((layer) => {
    if (!seen.has(layer)) return [`layers.js: ${layer.part} has no files`]
    const names = used.get(layer) ?? new Set()
    const granted = [
      ...layer.ours,
      ...(layer.ports ?? []).map((part) => `port ${part}`),
      ...layer.libraries,
      ...(layer.node ? ['node'] : []),
    ]
    return granted.filter((name) => !names.has(name)).map((name) => `layers.js: ${layer.part} does not use ${name}`)
  })
}

/** Returns static and dynamic imports. `target` is the file within the repository; `null` for a library or a Node module. */
export function importsOf(file: SourceFile): readonly { readonly specifier: string; readonly target: string | null }[] {
  const code = withoutComments(file.text)
  const found = [
    ...code.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/g),
    ...code.matchAll(/(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g),
    ...code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g),
  ]
  return found.map((match) => {
    const specifier = match[1] ?? ''
    if (specifier.startsWith('.')) return { specifier, target: join(dirname(file.path), specifier) }
    const own = /^@docrelay\/([a-z-]+)(?:\/(.+))?$/.exec(specifier)
    // Without a path it is what the package gives to applications.
    return { specifier, target: own === null ? null : `packages/${own[1]}/src/${own[2] ?? 'public'}.ts` }
  })
}

function libraryOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Replaces comments by spaces. A comment sign inside a one-line string is left alone when a quote precedes it. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;{}(),])\/\/[^\n]*/g, '$1')
}
