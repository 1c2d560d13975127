import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore, ReceivedBlob } from '../blobs/blob-store.port.ts'
import { flushFolder, writeAll } from '../kernel/durable-files.ts'
import { RelayError } from '../kernel/errors.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import { fileBytes } from './fs-bytes.ts'

export interface FsBlobsOptions {
  /** Absolute path; made when it is not there. */
  readonly root: string
  /** Bytes of all uploads under way together. [X34] */
  readonly maxTempBytes: number
  readonly random: Random
  readonly log: Logger
}

export interface FsBlobs extends BlobStore {
  /** Of the volume that the blobs lie on, as far as this process may use it. [X34] */
  space(): Promise<{ readonly availableBytes: number; readonly totalBytes: number }>
}

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const FAN_OUT = /^[0-9a-f]{2}$/
const REST_OF_HASH = /^[0-9a-f]{62}$/

/**
 * Blobs as files `<root>/<2 hex>/<62 hex>`; uploads arrive in `<root>/tmp/` and are renamed once they are whole and flushed. [BLOB-3]
 * Rejects with UNAVAILABLE when the disk does; only a file that does not exist is absent. [BLOB-19]
 *
 * @throws Error with a sentence for the operator when the folder cannot be made
 */
export async function openFsBlobs({ root, maxTempBytes, random, log }: FsBlobsOptions): Promise<FsBlobs> {
  const temp = join(root, 'tmp')
  await makeFolders(temp)
  const folders = new Map<string, Promise<string>>()
  let tempBytes = 0

  const pathOf = (hash: string): string => join(root, hash.slice(0, 2), hash.slice(2))
  const guarded = <T>(what: string, action: () => Promise<T>): Promise<T> => onDisk(what, action, log)

  /** The folder of a hash, whose own entry is durable: another upload may have made it and not flushed it yet. */
  function folderOf(hash: string): Promise<string> {
    const name = hash.slice(0, 2)
    const made = folders.get(name) ?? makeFolder(join(root, name), root)
    folders.set(name, made)
    made.catch(() => folders.delete(name))
    return made
  }

  function hold(bytes: number): void {
    if (tempBytes + bytes > maxTempBytes) {
      throw new RelayError('UNAVAILABLE', `Uploads under way hold ${tempBytes} bytes and may hold ${maxTempBytes}.`)
    }
    tempBytes += bytes
  }

  async function receive(
    source: AsyncIterable<Uint8Array>,
    onBytes: (totalBytes: number) => Promise<void> | void,
  ): Promise<ReceivedBlob> {
    const path = join(temp, newId('', 32, random))
    const file = await guarded('create', () => open(path, 'wx', FILE_MODE))
    const sha256 = createHash('sha256')
    let sizeBytes = 0
    const forget = async (): Promise<void> => {
      tempBytes -= sizeBytes
      await removeFile(path)
    }
    try {
      for await (const piece of source) {
        await onBytes(sizeBytes + piece.byteLength)
        hold(piece.byteLength)
        sizeBytes += piece.byteLength
        sha256.update(piece)
        await guarded('write', () => writeAll(file, piece))
      }
      await guarded('flush', () => file.sync())
    } catch (error) {
      await file.close().catch(() => undefined)
      await forget().catch((left: unknown) =>
        log.warn('blobs.left', 'An upload that failed left a file.', { detail: String(left) }),
      )
      throw error
    }
    await guarded('close', () => file.close())
    return ended({ hash: sha256.digest('hex'), sizeBytes }, keepAs(path), forget)
  }

  /** Renames over what is there: equal bytes, or the damaged ones that a new upload heals. */
  const keepAs = (path: string) => async (hash: string, sizeBytes: number) => {
    try {
      const folder = await folderOf(hash)
      await rename(path, pathOf(hash))
      await flushFolder(folder)
    } catch (error) {
      // Somebody may have removed the folder: the next upload makes it again.
      folders.delete(hash.slice(0, 2))
      await removeFile(path).catch(() => undefined)
      throw error
    } finally {
      tempBytes -= sizeBytes
    }
  }

  function ended(
    received: { readonly hash: string; readonly sizeBytes: number },
    keep: (hash: string, sizeBytes: number) => Promise<void>,
    forget: () => Promise<void>,
  ): ReceivedBlob {
    let over = false
    return {
      ...received,
      async keep() {
        if (over) throw new RelayError('INTERNAL', 'The received bytes were kept or discarded already.')
        over = true
        await guarded('keep', () => keep(received.hash, received.sizeBytes))
      },
      async discard() {
        if (over) return
        over = true
        await guarded('discard', forget)
      },
    }
  }

  return {
    direct: null,
    receive,
    size: (hash) => guarded('look', () => unlessMissing(async () => (await stat(pathOf(hash))).size)),
    async read(hash, range) {
      const file = await guarded('open', () => unlessMissing(() => open(pathOf(hash), 'r')))
      return file === null ? null : fileBytes(file, range, (action) => guarded('read', action))
    },
    async remove(hash) {
      await guarded('remove', async () => {
        await removeFile(pathOf(hash))
        await unlessMissing(() => flushFolder(join(root, hash.slice(0, 2))))
      })
    },
    async *list() {
      for (const folder of (await guarded('list', () => readdir(root))).filter((name) => FAN_OUT.test(name))) {
        const names = await guarded('list', () => readdir(join(root, folder)))
        for (const name of names.filter((rest) => REST_OF_HASH.test(rest))) {
          const found = await guarded('list', () => unlessMissing(() => stat(join(root, folder, name))))
          if (found !== null) yield { hash: folder + name, sizeBytes: found.size }
        }
      }
    },
    async clearAbandoned() {
      await guarded('clear', async () => {
        for (const name of await readdir(temp)) await removeFile(join(temp, name))
      })
    },
    async check() {
      const path = join(temp, `check-${newId('', 16, random)}`)
      await guarded('check', async () => {
        await (await open(path, 'wx', FILE_MODE)).close()
        await removeFile(path)
      })
    },
    async space() {
      const { bavail, blocks, bsize } = await guarded('measure', () => statfs(root))
      return { availableBytes: bavail * bsize, totalBytes: blocks * bsize }
    },
  }
}

/** Every failure of the disk is UNAVAILABLE to a caller; the log has its code. A refusal goes through as it is. */
async function onDisk<T>(what: string, action: () => Promise<T>, log: Logger): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (error instanceof RelayError) throw error
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    log.error('blobs.disk_failed', 'The disk of the blobs refused an operation.', { action: what, code })
    throw new RelayError('UNAVAILABLE', 'The blob store cannot answer; try again.')
  }
}

async function unlessMissing<T>(action: () => Promise<T>): Promise<T | null> {
  try {
    return await action()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

function removeFile(path: string): Promise<void> {
  return rm(path, { force: true })
}

/** Makes a folder and those above it, each durable. */
async function makeFolders(path: string): Promise<void> {
  try {
    const first = await mkdir(path, { recursive: true, mode: FOLDER_MODE })
    if (first === undefined) return
    for (let folder = dirname(path); folder.length >= dirname(first).length; folder = dirname(folder)) {
      await flushFolder(folder)
      if (folder === dirname(folder)) return
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Error(`the folder of the blobs cannot be made at ${path}: ${code}`, { cause: error })
  }
}

async function makeFolder(path: string, parent: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: FOLDER_MODE })
  await flushFolder(parent)
  return path
}
