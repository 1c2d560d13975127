import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const TSC = join(ROOT, 'node_modules/.bin/tsc')

interface PublishedPackage {
  readonly name: string
  /** The public modules: subpath of the package, and the file without its extension. */
  readonly exports: Readonly<Record<string, string>>
  /** Version ranges of dependencies, in place of the exact versions with which the repository is tested. */
  readonly ranges?: Readonly<Record<string, string>>
}

/** In build order: each package may import those before it. */
const PUBLISHED: readonly PublishedPackage[] = [
  {
    name: 'protocol',
    exports: Object.fromEntries(['codec', 'codes', 'frames', 'rest', 'rest-codes', 'version'].map((file) => [`./${file}`, file])),
  },
  {
    name: 'model',
    exports: Object.fromEntries(
      [
        ...['body', 'body-parse', 'body-write', 'json', 'prose/schema', 'prose/html', 'prose/node'],
        ...['render/page-svg', 'render/draw-shape', 'render/hit-shape'],
      ].map((file) => [`./${file}`, file]),
    ),
    ranges: { 'markdown-it': '^15.0.3', parse5: '^8.1.1' },
  },
  {
    name: 'client',
    exports: { '.': 'public', './indexeddb': 'indexeddb', './y-websocket': 'y-websocket' },
    ranges: { 'y-protocols': '^1.0.6' },
  },
  { name: 'prosemirror', exports: { '.': 'public' } },
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** Builds the packages that others install, and writes a tarball of each into `target`. Returns the paths of the tarballs by package name. */
export function packPackages(target: string): ReadonlyMap<string, string> {
  // The folder is inside the repository, so that the compiler finds third-party packages.
  const staging = join(ROOT, 'dist', `packages-${process.pid}`)
  rmSync(staging, { recursive: true, force: true })
  mkdirSync(join(staging, 'node_modules/@docrelay'), { recursive: true })
  mkdirSync(target, { recursive: true })
  try {
    for (const published of PUBLISHED) {
      const folder = join(staging, published.name)
      stage(published, folder)
      symlinkSync(folder, join(staging, 'node_modules/@docrelay', published.name), 'junction')
    }
    const folders = PUBLISHED.map(({ name }) => `./${name}`)
    const packed = execFileSync('npm', ['pack', ...folders, '--json', '--ignore-scripts', '--pack-destination', target], {
      cwd: staging,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return tarballsOf(packed, target)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Reads what `npm pack --json` prints: a list in some versions of npm, an object by name in others. */
function tarballsOf(printed: string, target: string): ReadonlyMap<string, string> {
  const packed = Object.values(JSON.parse(printed) as Record<string, { readonly name: string; readonly filename: string }>)
  return new Map(packed.map(({ name, filename }) => [name, join(target, filename)]))
}

/** Writes a package as it is published: JavaScript and declarations, and a package.json that names them. */
function stage({ name, exports, ranges = {} }: PublishedPackage, folder: string): void {
  const source = join(ROOT, 'packages', name)
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
  cpSync(join(source, 'src'), join(folder, 'src'), { recursive: true, filter: isPublished })
  compile(name, Object.values(exports), folder)
  rmSync(join(folder, 'src'), { recursive: true })
  rmSync(join(folder, 'tsconfig.json'))
  cpSync(join(source, 'README.md'), join(folder, 'README.md'))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  const imported = librariesOf(join(folder, 'dist'))
  const dependencies = Object.entries(manifest.dependencies ?? {})
    .filter(([each]) => imported.has(each))
    .map(([each, version]) => [each, ranges[each] ?? version])
  const published = {
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    license: manifest.license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    files: ['dist'],
    exports: Object.fromEntries(
      Object.entries(exports).map(([path, file]) => [path, { types: `./dist/${file}.d.ts`, default: `./dist/${file}.js` }]),
    ),
    ...(dependencies.length > 0 && { dependencies: Object.fromEntries(dependencies) }),
    ...(manifest.peerDependencies && { peerDependencies: manifest.peerDependencies }),
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
}

/** Returns the packages that the built files import. */
function librariesOf(dist: string): ReadonlySet<string> {
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.js'))
  const imports = files.flatMap((file) => [
    ...readFileSync(join(dist, file), 'utf8').matchAll(/\bfrom\s+['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/g),
  ])
  return new Set(imports.map(([, library = '']) => library))
}

function isPublished(path: string): boolean {
  return !/\.(?:test|contract)\.ts$|\/(?:testing|test|golden)(?:\/|$)/.test(path.slice(path.lastIndexOf('/src') + 4))
}

/** Compiles the public modules and everything that they import. */
function compile(name: string, entries: readonly string[], folder: string): void {
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'packages', name, 'tsconfig.json'), 'utf8')) as {
    readonly compilerOptions: object
  }
  const config = {
    extends: join(ROOT, 'tsconfig.base.json'),
    compilerOptions: {
      ...compilerOptions,
      noEmit: false,
      allowImportingTsExtensions: false,
      rewriteRelativeImportExtensions: true,
      declaration: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: [...entries.map((file) => `src/${file}.ts`), 'src/*.d.ts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  execFileSync(TSC, ['-p', folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  const dist = join(folder, 'dist')
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.d.ts'))) {
    const path = join(dist, file)
    const text = readFileSync(path, 'utf8')
    // The compiler rewrites file extensions only in JavaScript, so this rewrites them in the declarations.
    const rewritten = text.replaceAll(/(from\s+|import\()(['"])(\.[^'"]+)\.ts\2/g, '$1$2$3.js$2')
    if (rewritten !== text) writeFileSync(path, rewritten)
  }
}

if (process.argv[1] === import.meta.filename) {
  const target = join(ROOT, 'dist')
  for (const path of packPackages(target).values()) console.log(path)
}
