import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeAll } from '../kernel/durable-files.ts'
import { makeFolder } from '../kernel/folders.ts'

/** A file of a backup, as the manifest lists it. */
export interface HashedFile {
  /** Path relative to the folder of the backup, with `/`. */
  readonly path: string
  readonly bytes: number
  /** SHA-256 as 64 hex digits. */
  readonly sha256: string
}

const GATHER_BYTES = 1 << 20

/** Writes a new file that only its owner may read. The file is flushed when the promise resolves. */
export async function writeHashed(
  root: string,
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<HashedFile> {
  const target = join(root, ...path.split('/'))
  makeFolder(dirname(target), 0o700)
  const file = await open(target, 'wx', 0o600)
  try {
    const sha256 = createHash('sha256')
    let bytes = 0
    for await (const piece of gathered(chunks)) {
      sha256.update(piece)
      bytes += piece.byteLength
      await writeAll(file, piece)
    }
    await file.sync()
    return { path, bytes, sha256: sha256.digest('hex') }
  } finally {
    await file.close()
  }
}

/** Returns the present size and hash of a file; `null` when the file does not exist. */
export async function hashFile(root: string, path: string): Promise<HashedFile | null> {
  const sha256 = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of readFileOf(root, path)) {
      sha256.update(piece)
      bytes += piece.byteLength
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return { path, bytes, sha256: sha256.digest('hex') }
}

export function readFileOf(root: string, path: string): AsyncIterable<Uint8Array> {
  return createReadStream(join(root, ...path.split('/')), { highWaterMark: GATHER_BYTES })
}

/** Joins many small pieces into few larger ones, because writing each piece is a system call. */
async function* gathered(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = []
  let held = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    held += chunk.byteLength
    if (held < GATHER_BYTES) continue
    yield Buffer.concat(parts, held)
    parts = []
    held = 0
  }
  if (held > 0) yield Buffer.concat(parts, held)
}
