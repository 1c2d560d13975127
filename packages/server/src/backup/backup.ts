import { open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import { flushFolder } from '../kernel/durable-files.ts'
import { RelayError } from '../kernel/errors.ts'
import { makeFolder } from '../kernel/folders.ts'
import { TOKEN_FILE } from '../kernel/token-file.ts'
import { type HashedFile, readFileOf, writeHashed } from './hashed-files.ts'
import { BACKUP_FORMAT, BLOB_LIST_FILE, blobFileOf, MANIFEST_FILE, type Manifest, rowFileOf, writeManifest } from './manifest.ts'
import { decodeRows, encodeRow } from './row-file.ts'
import type { ArchivedTable, Cell, StoreLayout, StoreSource } from './store-archive.port.ts'

export interface BackupOptions {
  /** Folder for the backup; must be new or empty. */
  readonly directory: string
  readonly source: StoreSource
  /** The blob store from which bytes are read; `null` leaves the blobs out. */
  readonly blobs: Pick<BlobStore, 'read'> | null
  readonly tokenFile: string
  readonly program: string
  readonly nowMs: number
  /** Losses of acknowledged writes that the store shows now, a sentence each. */
  readonly losses: readonly string[]
}

export interface BackupDone {
  readonly rows: number
  readonly bytes: number
  readonly blobs: number
  /** Blobs that the store references and whose bytes are missing or wrong. */
  readonly lostBlobs: readonly string[]
  /** Names of tables of other programs in the same database; the backup leaves them out. */
  readonly others: readonly string[]
}

/**
 * Copies everything that was acknowledged before the call into a folder, while a relay may run. [OPS-9]
 *
 * The manifest is written last: a folder without one is no backup. When the promise resolves, everything is flushed.
 */
export async function backup(options: BackupOptions): Promise<BackupDone> {
  const { directory, source } = options
  await useEmptyFolder(directory)
  const files: HashedFile[] = []
  const rows: Record<string, number> = {}
  const { layout, others, acceptedLosses } = await source.atOneMoment(async (moment) => {
    for (const table of moment.layout.tables) {
      const counted = { rows: 0 }
      files.push(await writeHashed(directory, rowFileOf(table), encoded(moment.rows(table), counted)))
      rows[table.name] = counted.rows
    }
    return moment
  })
  const token = await readFile(options.tokenFile).catch(unlessMissing)
  if (token !== null) files.push(await writeHashed(directory, TOKEN_FILE, [token]))
  const copied = options.blobs === null ? null : await copyBlobs(directory, layout, source, options.blobs)
  if (copied !== null) files.push(copied.list)
  const losses = [...acceptedLosses, ...options.losses]
  const manifest: Manifest = {
    backupFormat: BACKUP_FORMAT,
    createdAt: new Date(options.nowMs).toISOString(),
    program: options.program,
    store: layout,
    rows,
    blobs: copied === null ? 'elsewhere' : 'included',
    lostBlobs: copied?.lost ?? [],
    ...(losses.length > 0 && { losses }),
    files,
  }
  await flushFolders(directory)
  await writeHashed(directory, MANIFEST_FILE, [Buffer.from(writeManifest(manifest))])
  await flushFolder(directory)
  return {
    rows: Object.values(rows).reduce((sum, count) => sum + count, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, copied?.bytes ?? 0),
    blobs: copied?.count ?? 0,
    lostBlobs: manifest.lostBlobs,
    others,
  }
}

async function useEmptyFolder(directory: string): Promise<void> {
  makeFolder(directory, 0o700)
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty; a backup needs a folder of its own`)
}

async function* encoded(rows: AsyncIterable<readonly Cell[]>, counted: { rows: number }): AsyncGenerator<Uint8Array> {
  for await (const row of rows) {
    counted.rows++
    yield* encodeRow(row)
  }
}

interface CopiedBlobs {
  readonly list: HashedFile
  readonly count: number
  readonly bytes: number
  readonly lost: readonly string[]
}

/**
 * Copies each blob that a workspace holds, once, and checks its hash while reading. Writes a list of the copied blobs that `sha256sum --check` can
 * read.
 */
async function copyBlobs(
  directory: string,
  layout: StoreLayout,
  source: Pick<StoreSource, 'objectOf'>,
  store: Pick<BlobStore, 'read'>,
): Promise<CopiedBlobs> {
  const lost = new Set<string>()
  let bytes = 0
  let count = 0
  const copy = async (hash: string): Promise<HashedFile | null> => {
    try {
      const content = await bytesOf(hash, source, store)
      if (content === null) return null
      const file = await writeHashed(directory, blobFileOf(hash), content)
      if (file.sha256 === hash) return file
    } catch (error) {
      // An unreadable blob, for example on a damaged sector, must not prevent the backup.
      if (!(error instanceof RelayError && error.code === 'UNAVAILABLE')) throw error
    }
    await rm(join(directory, blobFileOf(hash)), { force: true })
    return null
  }
  async function* lines(): AsyncGenerator<Uint8Array> {
    for await (const { hash } of grantedBlobs(directory, layout)) {
      if (lost.has(hash) || (await exists(join(directory, blobFileOf(hash))))) continue
      const file = await copy(hash)
      if (file === null) lost.add(hash)
      else {
        bytes += file.bytes
        count++
        yield Buffer.from(`${hash}  ${file.path}\n`)
      }
    }
  }
  const list = await writeHashed(directory, BLOB_LIST_FILE, lines())
  return { list, count, bytes, lost: [...lost].sort() }
}

/** Returns the bytes of a blob. Asks for the name of its object again when an upload has replaced the object meanwhile. */
async function bytesOf(
  hash: string,
  source: Pick<StoreSource, 'objectOf'>,
  store: Pick<BlobStore, 'read'>,
): Promise<AsyncIterable<Uint8Array> | null> {
  for (let object = await source.objectOf(hash); ; ) {
    const content = await store.read(object, null)
    const now = content === null ? await source.objectOf(hash) : object
    if (now === object) return content
    object = now
  }
}

/** Yields the blobs that workspaces hold, from the row file of the backup. A hash occurs once for each workspace that holds it. */
export async function* grantedBlobs(
  directory: string,
  layout: StoreLayout,
): AsyncGenerator<{ readonly hash: string; readonly mimeType: string }> {
  const table = layout.tables.find(({ name }) => name === 'blob_grants')
  if (table === undefined) return
  const hash = table.columns.indexOf('hash')
  const mimeType = table.columns.indexOf('mime_type')
  for await (const row of decodeRows(readFileOf(directory, rowFileOf(table)), binaryColumns(table))) {
    yield { hash: String(row[hash]), mimeType: String(row[mimeType]) }
  }
}

export function binaryColumns(table: ArchivedTable): readonly boolean[] {
  return table.columns.map((column) => table.binary.includes(column))
}

async function exists(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(unlessMissing)
  await file?.close()
  return file !== null
}

async function flushFolders(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await flushFolder(join(entry.parentPath, entry.name))
  }
  await flushFolder(directory)
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
