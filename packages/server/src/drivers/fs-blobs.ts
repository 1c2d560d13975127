import { createHash } from 'node:crypto'
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type BlobStore, hashOfObject, type ReceivedBlob } from '../blobs/blob-store.port.ts'
import { flushFolder, writeAll } from '../kernel/durable-files.ts'
import { RelayError } from '../kernel/errors.ts'
import { makeFolder } from '../kernel/folders.ts'
import { newId, type Random } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import { fileBytes } from './fs-bytes.ts'

export interface FsBlobsOptions {
  /** Absolute path of the folder for blobs; created when it is missing. */
  readonly root: string
  /** Bytes that all running uploads together may keep in temporary files. [X34] */
  readonly maxTempBytes: number
  readonly random: Random
  readonly log: Logger
}

export interface FsBlobs extends BlobStore {
  readonly aside: DamagedFiles
  /** Returns the total space of the volume with the blobs, and the part that this process may still use. [X34] */
  space(): Promise<{ readonly availableBytes: number; readonly totalBytes: number }>
}

/** Access to files whose bytes do not match their hash. Such a file is kept beside the blobs as `<name>.damaged` until its object is removed. */
export interface DamagedFiles {
  /** Returns a text that changes with every change of the file; `null` when there is no file. */
  identity(object: string): Promise<string | null>
  /** Moves the file aside, durably, if it still has this identity. Returns whether it was moved. */
  put(object: string, identity: string): Promise<boolean>
  has(object: string): Promise<boolean>
  /** Removes the file that was moved aside; a missing file is no error. */
  remove(object: string): Promise<void>
}

const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const FAN_OUT = /^[0-9a-f]{2}$/

/**
 * Keeps blobs as files `<root>/<2 hex>/<rest of the object's name>`. Uploads arrive in `<root>/tmp/` and are renamed once they are complete and
 * flushed. [BLOB-3] Rejects with UNAVAILABLE when the disk fails; only a file that does not exist counts as absent. [BLOB-19]
 *
 * @throws Error with a sentence for the operator when the folder cannot be created
 */
export async function openFsBlobs({ root, maxTempBytes, random, log }: FsBlobsOptions): Promise<FsBlobs> {
  const temp = join(root, 'tmp')
  await makeFolders(temp)
  const folders = new Map<string, Promise<string>>()
  let tempBytes = 0

  const pathOf = (object: string): string => join(root, object.slice(0, 2), object.slice(2))
  const guarded = <T>(what: string, action: () => Promise<T>): Promise<T> => onDisk(what, action, log)

  /** Returns the folder of an object and flushes its entry, because a simultaneous upload may have created the folder without flushing it yet. */
  function folderOf(object: string): Promise<string> {
    const name = object.slice(0, 2)
    const made = folders.get(name) ?? makeDurable(join(root, name), root)
    folders.set(name, made)
    made.catch(() => folders.delete(name))
    return made
  }

  function hold(bytes: number): void {
    if (tempBytes + bytes > maxTempBytes) {
      throw new RelayError(
        'UNAVAILABLE',
        `Running uploads hold ${tempBytes} bytes of temporary files; the limit is ${maxTempBytes}. Try again later.`,
      )
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
        log.warn('blobs.left', 'A failed upload left a temporary file behind.', { detail: String(left) }),
      )
      throw error
    }
    await guarded('close', () => file.close())
    return ended({ hash: sha256.digest('hex'), sizeBytes }, keepAs(path), forget)
  }

  const keepAs = (path: string) => async (object: string, sizeBytes: number) => {
    try {
      const folder = await folderOf(object)
      await rename(path, pathOf(object))
      await flushFolder(folder)
    } catch (error) {
      // Forgets the folder, which somebody may have removed, so that the next upload creates it again.
      folders.delete(object.slice(0, 2))
      await removeFile(path).catch(() => undefined)
      throw error
    } finally {
      tempBytes -= sizeBytes
    }
  }

  function ended(
    received: { readonly hash: string; readonly sizeBytes: number },
    keep: (object: string, sizeBytes: number) => Promise<void>,
    forget: () => Promise<void>,
  ): ReceivedBlob {
    let over = false
    return {
      ...received,
      async keep(object) {
        if (over) throw new RelayError('INTERNAL', 'The received bytes were kept or discarded already.')
        over = true
        await guarded('keep', () => keep(object, received.sizeBytes))
      },
      async discard() {
        if (over) return
        over = true
        await guarded('discard', forget)
      },
    }
  }

  return {
    aside: damagedFiles(root, pathOf, guarded),
    direct: null,
    receive,
    size: (object) => guarded('look', () => unlessMissing(async () => (await stat(pathOf(object))).size)),
    async read(object, range) {
      const file = await guarded('open', () => unlessMissing(() => open(pathOf(object), 'r')))
      return file === null ? null : fileBytes(file, range, (action) => guarded('read', action))
    },
    async remove(object) {
      await guarded('remove', async () => {
        await removeFile(pathOf(object))
        await unlessMissing(() => flushFolder(join(root, object.slice(0, 2))))
      })
    },
    async *list() {
      for (const folder of (await guarded('list', () => readdir(root))).filter((name) => FAN_OUT.test(name))) {
        const names = await guarded('list', () => readdir(join(root, folder)))
        for (const name of names) {
          const object = folder + name
          const hash = hashOfObject(object)
          if (hash === null) continue
          const found = await guarded('list', () => unlessMissing(() => stat(join(root, folder, name))))
          if (found !== null) yield { object, hash, sizeBytes: found.size }
        }
      }
    },
    async clearAbandoned() {
      await guarded('clear', async () => {
        const removals = (await readdir(temp)).map((name) => removeFile(join(temp, name)))
        for (const each of await Promise.allSettled(removals)) if (each.status === 'rejected') throw each.reason
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

function damagedFiles(
  root: string,
  pathOf: (object: string) => string,
  guarded: <T>(what: string, action: () => Promise<T>) => Promise<T>,
): DamagedFiles {
  const asideOf = (object: string): string => `${pathOf(object)}.damaged`
  const identityOf = async (object: string): Promise<string | null> => {
    const found = await unlessMissing(() => stat(pathOf(object), { bigint: true }))
    return found === null ? null : [found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(':')
  }
  return {
    identity: (object) => guarded('look', () => identityOf(object)),
    put: (object, identity) =>
      guarded('put aside', async () => {
        if ((await identityOf(object)) !== identity) return false
        await rename(pathOf(object), asideOf(object))
        await flushFolder(join(root, object.slice(0, 2)))
        return true
      }),
    has: (object) => guarded('look', async () => (await unlessMissing(() => stat(asideOf(object)))) !== null),
    remove: (object) => guarded('remove', () => removeFile(asideOf(object))),
  }
}

/** Runs disk work. Every failure of the disk becomes UNAVAILABLE, and its code is logged. A RelayError passes unchanged. */
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

/** Creates a folder and its parents, each durably. */
async function makeFolders(path: string): Promise<void> {
  try {
    const first = makeFolder(path, FOLDER_MODE)
    if (first === null) return
    for (let folder = dirname(path); folder.length >= dirname(first).length; folder = dirname(folder)) {
      await flushFolder(folder)
      if (folder === dirname(folder)) return
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    throw new Error(`the folder of the blobs cannot be made at ${path}: ${code}`, { cause: error })
  }
}

async function makeDurable(path: string, parent: string): Promise<string> {
  makeFolder(path, FOLDER_MODE)
  await flushFolder(parent)
  return path
}
