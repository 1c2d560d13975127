import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type OutputChunk, type Plugin, type RolldownOutput, rolldown } from 'rolldown'
import { sourceLines, TABLE } from './source-lines.ts'

const ROOT = join(import.meta.dirname, '..')
const PRELUDE = 'prelude'

export interface BundleOptions {
  /** The source files of programs, by their names in the bundle. */
  readonly programs: Readonly<Record<string, string>>
  /** The folder for the files, which must not exist yet. */
  readonly dir: string
  /** Whether an import is kept, because the package is installed beside the bundle. */
  readonly isOthers: (id: string) => boolean
  /** Files and folders outside the bundle that modules refer to: their addresses, by file name, relative to `dir` or absolute. */
  readonly beside: Readonly<Record<string, string>>
}

/**
 * Writes programs and the threads that they start into a few files, each with a line table for stack traces, and returns the modules in them. The
 * code keeps its names and lines, but has no comments and no characters above U+007F. V8 keeps the text of a module for each thread, and uses two
 * bytes per character when one is above U+00FF.
 */
export async function writeBundle({ programs, dir, isOthers, beside }: BundleOptions): Promise<readonly string[]> {
  const bundler = await rolldown({
    cwd: ROOT,
    input: { ...programs, [PRELUDE]: join(import.meta.dirname, 'bundle-prelude.ts') },
    platform: 'node',
    external: isOthers,
    plugins: [addresses(dir, beside)],
  })
  const { output } = await bundler.generate({
    dir,
    entryFileNames: '[name].mjs',
    chunkFileNames: 'chunk-[name]-[hash].mjs',
    keepNames: true,
    comments: false,
    minify: { mangle: false, compress: false, codegen: { removeWhitespace: false, asciiOnly: true } },
    sourcemap: 'hidden',
    banner: ({ isEntry, name }) => (isEntry && name !== PRELUDE ? `import './${PRELUDE}.mjs'` : ''),
  })
  await bundler.close()
  for (const part of output) if (part.type === 'chunk') write(part, dir)
  return modulesOf([{ output }])
}

/** Returns the modules in the output of a bundler. */
export function modulesOf(bundles: readonly Pick<RolldownOutput, 'output'>[]): readonly string[] {
  return bundles.flatMap(({ output }) => output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : [])))
}

function write({ fileName, code, map }: OutputChunk, dir: string): void {
  const file = join(dir, fileName)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, code)
  if (map === null) return
  const payload = { ...map, version: 3, sourcesContent: [], sourceRoot: '', file: fileName }
  const table = sourceLines(code, payload, (source) => relative(ROOT, resolve(dir, source)))
  writeFileSync(file + TABLE, JSON.stringify(table))
}

/** Gives programs and threads a file of their own, copies the assets of modules, and rewrites the addresses of both. */
function addresses(dir: string, beside: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'addresses',
    transform: {
      filter: { code: 'import.meta.url' },
      handler(code, id) {
        if (code.includes('./assets/')) cpSync(resolve(id, '../assets'), join(dir, 'assets'), { recursive: true })
        const withPlaces = code.replace(/new URL\('(\.[^']+)', import\.meta\.url\)/g, (address: string, path: string) => {
          const file = resolve(id, '..', path)
          const name = basename(path)
          if (/\.(?:ts|js)$/.test(name)) {
            // An address of `main.ts` is that of the relay. Its file is called `relay`, because the program that starts it may be called `main`
            // too.
            const stem = name === 'main.ts' ? 'relay' : name.slice(0, -'.ts'.length)
            this.emitFile({ type: 'chunk', id: file, fileName: `${stem}.mjs` })
            return `new URL('./${stem}.mjs', import.meta.url)`
          }
          // The bundle has all files in one folder, and the assets of all modules in one folder below it.
          if (path.startsWith('./assets/')) return address
          const place = beside[name]
          if (place !== undefined) return `new URL('${place}', import.meta.url)`
          throw new Error(`${id} names ${path}, which is not beside the bundle`)
        })
        // The change moves no code to another line, so it needs no source map.
        return { code: withPlaces, map: null }
      },
    },
  }
}
