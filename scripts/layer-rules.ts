import { dirname, join } from 'node:path/posix'

/** A row of layers.js. */
export interface Layer {
  /** A folder, a file, or a prefix of file names, relative to the repository. The longest match applies. */
  readonly part: string
  /** The parts that this part may import. */
  readonly ours: readonly string[]
  /** The parts of which this part may import only `*.port.ts` files. */
  readonly ports?: readonly string[]
  readonly libraries: readonly string[]
  readonly node: boolean
}

/** A row of the `suffixes` of layers.js: files by the end of their names. */
export interface SuffixRule {
  /** Other files may import these only where their part lists `*` and the suffix. */
  readonly suffix: string
  /** Parts that these files may import besides their own folder and its permissions. */
  readonly ours: readonly string[]
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

/** The name by which layers.js permits imports of a file: its part, or `*` and its suffix. */
function nameOf(path: string, layers: readonly Layer[], suffixes: readonly SuffixRule[]): string | undefined {
  const rule = ruleOf(path, suffixes)
  return rule === undefined ? layerOf(path, layers)?.part : `*${rule.suffix}`
}

function ruleOf(path: string, suffixes: readonly SuffixRule[]): SuffixRule | undefined {
  return suffixes.find(({ suffix }) => path.endsWith(suffix))
}

/** Returns the violations of one file, one line each. */
export function checkFile(file: SourceFile, layers: readonly Layer[], suffixes: readonly SuffixRule[] = []): readonly string[] {
  const problems = checkName(file.path)
  if (isTestFile(file.path)) return problems
  const layer = layerOf(file.path, layers)
  if (layer === null) return [...problems, `${file.path}: stands in no part of layers.js`]
  const own = { ...layer, ours: [...layer.ours, ...(ruleOf(file.path, suffixes)?.ours ?? [])] }
  for (const { specifier, target } of importsOf(file)) {
    const name = target === null ? undefined : nameOf(target, layers, suffixes)
    const refusal = refusedImport(file.path, specifier, target, own, name)
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
  name: string | undefined,
): string | null {
  if (target === null) {
    if (specifier.startsWith('node:')) return layer.node ? null : `may not import ${specifier}`
    return layer.libraries.includes(libraryOf(specifier)) ? null : `may not import ${specifier}`
  }
  if (isTestFile(target)) return `imports test code: ${target}`
  if (target.startsWith(`${DRIVERS}/`) && !path.startsWith(`${DRIVERS}/`) && !COMPOSITION.test(path))
    return `only compose imports drivers: ${target}`
  if (name === undefined || name === layer.part || layer.ours.includes(name)) return null
  if (target.endsWith('.port.ts') && layer.ports?.includes(name) === true) return null
  return `may not import ${target}`
}

/** Returns rows that name parts that do not exist, or that name a part twice. */
export function checkTable(layers: readonly Layer[], suffixes: readonly SuffixRule[] = []): readonly string[] {
  const parts = [...layers.map((layer) => layer.part), ...suffixes.map(({ suffix }) => `*${suffix}`)]
  const twice = parts.filter((part, index) => parts.indexOf(part) !== index).map((part) => `layers.js: ${part} stands twice`)
  const rows = [
    ...layers.map(({ part, ours, ports = [] }) => ({ part, names: [...ours, ...ports] })),
    ...suffixes.map(({ suffix, ours }) => ({ part: `*${suffix}`, names: ours })),
  ]
  const unknown = rows.flatMap(({ part, names }) =>
    names.filter((name) => !parts.includes(name)).map((name) => `layers.js: ${part} names ${name}, which is no part`),
  )
  return [...twice, ...unknown]
}

/** Returns permissions that no file uses: they would let a wrong import pass unnoticed. */
export function stalePermissions(
  files: readonly SourceFile[],
  layers: readonly Layer[],
  suffixes: readonly SuffixRule[] = [],
): readonly string[] {
  const used = new Map<Layer | SuffixRule, Set<string>>()
  for (const file of files) {
    const layer = layerOf(file.path, layers)
    if (layer === null || isTestFile(file.path)) continue
    const rule = ruleOf(file.path, suffixes)
    for (const row of rule === undefined ? [layer] : [layer, rule]) used.set(row, used.get(row) ?? new Set())
    for (const { specifier, target } of importsOf(file)) {
      const name = target === null ? outsideOf(specifier) : nameOf(target, layers, suffixes)
      if (name === undefined) continue
      const byPort = target?.endsWith('.port.ts') === true && layer.ports?.includes(name) === true
      used.get(rule?.ours.includes(name) === true ? rule : layer)?.add(byPort ? `port ${name}` : name)
    }
  }
  const granted = [
    ...layers.map((layer) => ({ row: layer, name: layer.part, permissions: permissionsOf(layer) })),
    ...suffixes.map((rule) => ({ row: rule, name: `*${rule.suffix}`, permissions: rule.ours })),
  ]
  return granted.flatMap(({ row, name, permissions }) => {
    const names = used.get(row)
    if (names === undefined) return [`layers.js: ${name} has no files`]
    return permissions.filter((one) => !names.has(one)).map((one) => `layers.js: ${name} does not use ${one}`)
  })
}

function permissionsOf({ ours, ports = [], libraries, node }: Layer): readonly string[] {
  return [...ours, ...ports.map((part) => `port ${part}`), ...libraries, ...(node ? ['node'] : [])]
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
    // An import of the bare package name is its public entry.
    return { specifier, target: own === null ? null : `packages/${own[1]}/src/${own[2] ?? 'public'}.ts` }
  })
}

/** Returns the name by which layers.js permits a library or the Node modules. */
function outsideOf(specifier: string): string {
  return specifier.startsWith('node:') ? 'node' : libraryOf(specifier)
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
