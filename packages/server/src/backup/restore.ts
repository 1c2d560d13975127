import { open as openFile, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import { flushFolder } from '../kernel/durable-files.ts'
import { makeFolder } from '../kernel/folders.ts'
import { TOKEN_FILE } from '../kernel/token-file.ts'
import { binaryColumns, grantedBlobs } from './backup.ts'
import { hashFile, readFileOf } from './hashed-files.ts'
import { BadBackupError, BLOB_LIST_FILE, blobFileOf, MANIFEST_FILE, type Manifest, readManifest, rowFileOf } from './manifest.ts'
import { decodeRows } from './row-file.ts'
import type { StoreTarget } from './store-archive.port.ts'

export interface RestoreOptions {
  readonly directory: string
  /** Formats that this program can restore. */
  readonly knows: { readonly format: number; readonly steps: readonly string[] }
  /** Opens the store and the blobs. Called once the backup is known to be complete; before that nothing is created. */
  readonly open: () => Promise<{ readonly target: StoreTarget; readonly blobs: RestoredBlobs }>
  readonly tokenFile: string
}

type RestoredBlobs = Pick<BlobStore, 'list' | 'receive' | 'size'>

export interface RestoreDone {
  readonly manifest: Manifest
  readonly rows: number
  readonly blobs: number
  /** Tables of other programs that a former release had copied into the backup; they were left out. */
  readonly others: readonly string[]
}

/**
 * Restores a backup into an empty store. [OPS-10]
 *
 * Before it writes anything it checks the manifest, the hash of every file, and that the store is empty. It marks the
 * store first, and the transaction that writes the rows removes the mark: after an interrupted restore no relay starts
 * on the store, and the restore may be run again.
 *
 * @throws BadBackupError for a problem of the backup, Error with a sentence for the operator for a problem of the store
 */
export async function restore({ directory, knows, open, tokenFile }: RestoreOptions): Promise<RestoreDone> {
  const manifest = await checkedManifest(directory, knows)
  await refuseOtherToken(directory, manifest, tokenFile)
  const opened = await open()
  await using target = opened.target
  const { blobs } = opened
  await refuseUsedStore(target, manifest, blobs)
  // Restored blobs are stored under their hash alone, so their objects need no listing.
  const objects = manifest.blobs === 'included' ? nothing() : await begun(blobs.list())
  await target.begin()
  const blobCount = manifest.blobs === 'included' ? await restoreBlobs(directory, manifest, blobs) : 0
  await restoreToken(directory, manifest, tokenFile)
  const written = await target.fill(
    manifest.store,
    (table) =>
      countedRows(
        decodeRows(readFileOf(directory, rowFileOf(table)), binaryColumns(table)),
        manifest.rows[table.name] ?? 0,
        table.name,
      ),
    objects,
  )
  const others = manifest.store.tables.map(({ name }) => name).filter((name) => !written.has(name))
  return { manifest, others, rows: [...written.values()].reduce((sum, count) => sum + count, 0), blobs: blobCount }
}

async function checkedManifest(directory: string, knows: RestoreOptions['knows']): Promise<Manifest> {
  const text = await readFile(join(directory, MANIFEST_FILE), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    throw new BadBackupError(`${directory} has no ${MANIFEST_FILE}: it is no backup, or one that was interrupted`)
  })
  const manifest = readManifest(text, knows)
  const problems = await checkFiles(directory, manifest)
  if (problems.length === 0) return manifest
  const more = problems.length > 5 ? ` and ${problems.length - 5} more` : ''
  throw new BadBackupError(`the backup is damaged: ${problems.slice(0, 5).join('; ')}${more}`)
}

/** Reads every file and returns the problems: every difference from the manifest. */
export async function checkFiles(directory: string, manifest: Manifest): Promise<readonly string[]> {
  const named = new Set(manifest.files.map(({ path }) => path))
  const needed = [...manifest.store.tables.map(rowFileOf), ...(manifest.blobs === 'included' ? [BLOB_LIST_FILE] : [])]
  const problems = needed.filter((path) => !named.has(path)).map((path) => `${path} has no hash`)
  for (const file of manifest.files) {
    const found = await hashFile(directory, file.path)
    if (found === null) problems.push(`${file.path} is missing`)
    else if (found.bytes !== file.bytes || found.sha256 !== file.sha256) problems.push(`${file.path} is not what was written`)
  }
  if (problems.length > 0 || manifest.blobs === 'elsewhere') return problems
  for await (const line of linesOf(readFileOf(directory, BLOB_LIST_FILE))) {
    const hash = line.slice(0, 64)
    const found = await hashFile(directory, blobFileOf(hash))
    if (found?.sha256 !== hash) problems.push(`${blobFileOf(hash)} is ${found === null ? 'missing' : 'not what was written'}`)
  }
  return problems
}

async function refuseUsedStore(target: StoreTarget, manifest: Manifest, blobs: RestoredBlobs): Promise<void> {
  if (target.state === 'in use') throw new Error('the database is not empty; a backup is restored into an empty store only')
  // Blobs of an interrupted restore may be there, since the name of a blob is the hash of its bytes.
  if (target.state === 'unfinished' || manifest.blobs === 'elsewhere') return
  for await (const { hash } of blobs.list()) {
    throw new Error(`the blob store is not empty (it has ${hash}); a backup is restored into an empty store only`)
  }
}

async function refuseOtherToken(directory: string, manifest: Manifest, tokenFile: string): Promise<void> {
  if (!hasToken(manifest)) return
  const there = await readFile(tokenFile).catch(unlessMissing)
  if (there === null || there.equals(await readFile(join(directory, TOKEN_FILE)))) return
  throw new Error(`${tokenFile} exists and is another one than that of the backup; remove it first`)
}

async function restoreBlobs(directory: string, manifest: Manifest, blobs: RestoredBlobs): Promise<number> {
  const lost = new Set(manifest.lostBlobs)
  let count = 0
  for await (const { hash, mimeType } of grantedBlobs(directory, manifest.store)) {
    if (lost.has(hash) || (await blobs.size(hash)) !== null) continue
    const received = await blobs.receive(readFileOf(directory, blobFileOf(hash)), () => undefined)
    if (received.hash !== hash) {
      await received.discard()
      throw new BadBackupError(`${blobFileOf(hash)} changed while it was restored`)
    }
    await received.keep(hash, mimeType)
    count++
  }
  return count
}

async function restoreToken(directory: string, manifest: Manifest, tokenFile: string): Promise<void> {
  if (!hasToken(manifest)) return
  makeFolder(dirname(tokenFile), 0o700)
  const file = await openFile(tokenFile, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(await readFile(join(directory, TOKEN_FILE)))
    await file.sync()
  } finally {
    await file.close()
  }
  await flushFolder(dirname(tokenFile))
}

function hasToken(manifest: Manifest): boolean {
  return manifest.files.some(({ path }) => path === TOKEN_FILE)
}

/** Resolves when the first entry of a list has arrived, so that a store that does not answer is noticed before anything is written. */
async function begun<T>(entries: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = entries[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* (): AsyncGenerator<T> {
    for (let entry = first; entry.done !== true; entry = await iterator.next()) yield entry.value
  })()
}

async function* nothing(): AsyncGenerator<never> {}

async function* countedRows<R>(rows: AsyncIterable<R>, expected: number, table: string): AsyncGenerator<R> {
  let count = 0
  for await (const row of rows) {
    count++
    yield row
  }
  if (count !== expected) throw new BadBackupError(`${table} has ${count} rows where the manifest says ${expected}`)
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
