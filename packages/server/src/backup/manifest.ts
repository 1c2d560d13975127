import { createHash } from 'node:crypto'
import type { HashedFile } from './hashed-files.ts'
import type { ArchivedTable, StoreLayout } from './store-archive.port.ts'

/** Version of the backup format; raised when older programs cannot read new backups. */
export const BACKUP_FORMAT = 1
export const MANIFEST_FILE = 'manifest.json'
export const BLOB_LIST_FILE = 'blobs.sha256'

export interface Manifest {
  readonly backupFormat: number
  readonly createdAt: string
  /** Version of the program that wrote the backup. */
  readonly program: string
  readonly store: StoreLayout
  /** Number of rows by table. */
  readonly rows: Readonly<Record<string, number>>
  /** `elsewhere`: the blobs stay in the object store, outside the backup. */
  readonly blobs: 'included' | 'elsewhere'
  /** Blobs that the store references and whose bytes were unreadable or wrong. */
  readonly lostBlobs: readonly string[]
  /**
   * Acknowledged writes that the store had lost before the backup, a sentence each: accepted with `--accept-loss`, or seen by the backup. Absent:
   * none.
   */
  readonly losses?: readonly string[]
  /** Every file of the backup except the manifest and the blobs. `blobs.sha256` lists the blobs. */
  readonly files: readonly HashedFile[]
}

/** Says why a backup cannot be used, in a sentence for the operator. */
export class BadBackupError extends Error {
  override readonly name = 'BadBackupError'
}

/** Writes the manifest with a hash of its own content, so that a changed byte in the manifest is found too. */
export function writeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: hashOf(manifest) }, null, 1)}\n`
}

/**
 * Reads the manifest of a backup that this program can restore.
 *
 * @throws BadBackupError when it is damaged or from a newer program
 */
export function readManifest(text: string, knows: { readonly format: number; readonly steps: readonly string[] }): Manifest {
  const manifest = parseManifest(text)
  if (manifest.backupFormat > BACKUP_FORMAT)
    throw new BadBackupError(
      `the backup has format ${manifest.backupFormat}, newer than the ${BACKUP_FORMAT} this program knows: restore it with a newer program`,
    )
  const { sha256, ...rest } = manifest
  if (sha256 !== hashOf(rest)) throw damaged('it does not have its own hash')
  const unknown = manifest.store.steps.filter((step) => !knows.steps.includes(step))
  if (manifest.store.format > knows.format || unknown.length > 0)
    throw new BadBackupError(
      `the backup is of a newer store (format ${manifest.store.format}${unknown.length > 0 ? `, steps ${unknown.join(', ')}` : ''}): restore it with a newer program`,
    )
  return rest
}

function parseManifest(text: string): Manifest & { readonly sha256: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged('it is no JSON')
  }
  const manifest = value as Manifest & { readonly sha256: string }
  if (typeof value !== 'object' || value === null || !Number.isSafeInteger(manifest.backupFormat))
    throw damaged('it names no format')
  return manifest
}

/** The hash of the manifest's own content. The content includes the hashes of all other files. */
function hashOf(manifest: Manifest): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
}

function damaged(why: string): BadBackupError {
  return new BadBackupError(`${MANIFEST_FILE} is damaged: ${why}`)
}

export function rowFileOf(table: Pick<ArchivedTable, 'name'>): string {
  return `tables/${table.name}.rows`
}

export function blobFileOf(hash: string): string {
  return `blobs/${hash.slice(0, 2)}/${hash}`
}
