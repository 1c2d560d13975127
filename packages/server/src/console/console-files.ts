import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { RefusedStart } from '../kernel/refused-start.ts'

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Encodings in which a file can be sent, the preferred one first. */
export type Encoding = 'br' | 'gzip' | 'identity'

/** A file of the console, ready to be sent. */
export interface ConsoleFile {
  readonly mediaType: string
  /** The ETag with quotes. It names the content, whatever the encoding. */
  readonly etag: string
  /** True when the name has a hash of the content, so that the file behind the name never changes. */
  readonly isImmutable: boolean
  readonly bytes: Readonly<Partial<Record<Encoding, Uint8Array>>> & { readonly identity: Uint8Array }
}

/** Files by their path below the console's own: `index.html`, `assets/index-Byl6mmfz.js`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

export const START_FILE = 'index.html'
/** The only folder of a build. */
export const ASSETS = 'assets'
const HASHED = /-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}
const COMPRESSIBLE = ['.html', '.js', '.css', '.json', '.txt', '.svg']
/** Compresses nearly as well as the highest quality, in a tenth of the processor time. */
const BROTLI_QUALITY = 9

/**
 * Reads a built console into memory and compresses it. No request reads the disk, so a request cannot name a file that is not in the table. [CON-3,
 * CON-4]
 *
 * @throws RefusedStart when the folder holds no built console
 */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles> {
  const names = await namesIn(folder)
  if (!names.includes(START_FILE)) {
    throw new RefusedStart(
      `[console].enabled is true, but there is no built console: ${join(folder, START_FILE)} is missing`,
      'Run `npm run build:console` in the repository, name the folder of a built console in [console].dir, or set [console].enabled to false.',
    )
  }
  const files = await Promise.all(names.map(async (name) => [name, await readConsoleFile(folder, name)] as const))
  return new Map(files)
}

async function namesIn(folder: string): Promise<readonly string[]> {
  const filesOf = async (path: string): Promise<readonly string[]> => {
    const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
    return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
  }
  const assets = await filesOf(join(folder, ASSETS))
  return [...(await filesOf(folder)), ...assets.map((name) => `${ASSETS}/${name}`)]
}

async function readConsoleFile(folder: string, name: string): Promise<ConsoleFile> {
  const identity = await readFile(join(folder, name))
  const extension = extname(name)
  return {
    mediaType: MEDIA_TYPES[extension] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}"`,
    isImmutable: name.startsWith(`${ASSETS}/`) && HASHED.test(name),
    bytes: { identity, ...(COMPRESSIBLE.includes(extension) && (await compressed(identity))) },
  }
}

async function compressed(bytes: Uint8Array): Promise<{ readonly br: Uint8Array; readonly gzip: Uint8Array }> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  const [br, gzipped] = await Promise.all([brotli(bytes, { params }), zip(bytes, { level: constants.Z_BEST_COMPRESSION })])
  return { br, gzip: gzipped }
}

/** Chooses an encoding that the client accepts and the file has. `header`: Accept-Encoding; without one the file is sent uncompressed. */
export function chooseEncoding(header: string | undefined, file: ConsoleFile): Encoding {
  const taken = (header ?? '').split(',').flatMap((part) => {
    const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase())
    return params.some((param) => /^q=0(?:\.0{0,3})?$/.test(param)) ? [] : [name]
  })
  return (['br', 'gzip'] as const).find((each) => taken.includes(each) && file.bytes[each] !== undefined) ?? 'identity'
}
