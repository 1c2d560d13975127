import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { backup, type BackupDone } from '../backup/backup.ts'
import { restore, type RestoreDone } from '../backup/restore.ts'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import type { Config } from '../config/config.ts'
import { dropSearchIndex } from '../drivers/sql/search/drop-index.ts'
import { openStoredContents } from '../drivers/sql/inspect-store.ts'
import { migrateAll, type MigrationPlan, type PendingStep, planMigration } from '../drivers/sql/migrate-tool.ts'
import { openRepairStore } from '../drivers/sql/repair-store.ts'
import { StoreInUseError } from '../drivers/sql/store-in-use.ts'
import type { StoreLoss } from '../drivers/sql/store-loss.ts'
import { lossesOf, openStoreSource, refuseLosses } from '../drivers/sql/store-source.ts'
import { KNOWN_STORE, openStoreTarget } from '../drivers/sql/store-target.ts'
import { makeFolder } from '../kernel/folders.ts'
import { TOKEN_FILE } from '../kernel/token-file.ts'
import { readRelease } from '../operation/release.ts'
import { repair, type RepairReport } from '../repair/repair.ts'
import { type Finding, verify, type VerifySummary } from '../verify/verify.ts'
import type { RelayOptions } from './base.ts'
import { openBlobStore } from './blobs.ts'

export type { PendingStep }

/** The commands other than `serve`, with the drivers that the configuration names. All throw Error with a sentence for the operator. */

/**
 * Backs the store up. Blobs on the disk are always included, those of an object store only on request. A store that has
 * lost acknowledged writes is copied as far as it can be read, and `losses` says what is missing. [OPS-9, LIFE-5]
 */
export async function runBackup(
  options: RelayOptions,
  directory: string,
  withObjects: boolean,
): Promise<BackupDone & { readonly losses: readonly StoreLoss[] }> {
  const { config, clock, log } = options
  await using source = await openStoreSource(config.storage.url, log)
  const losses = lossesOf(config.storage.url)
  const onDisk = config.blobs.url.startsWith('file:')
  const done = await backup({
    directory,
    source,
    blobs: onDisk || withObjects ? await blobsToRead(options) : null,
    tokenFile: tokenFileOf(config),
    program: readRelease().version,
    nowMs: clock.nowMs(),
    losses: losses.map(({ detail }) => detail),
  })
  return { ...done, losses }
}

export function runRestore(options: RelayOptions, directory: string): Promise<RestoreDone> {
  const { config, log } = options
  return restore({
    directory,
    knows: KNOWN_STORE,
    async open() {
      makeFolder(dataDirOf(config), 0o700)
      const target = await openStoreTarget(config.storage.url, log)
      return { target, blobs: (await openBlobStore(options)).store }
    },
    tokenFile: tokenFileOf(config),
  })
}

export async function runVerify(options: RelayOptions, report: (finding: Finding) => void): Promise<VerifySummary> {
  await using store = await openStoredContents(options.config.storage.url, options.log)
  return await verify({ store, blobs: await blobsToRead(options), random: options.random, report })
}

/**
 * Repairs one document. The workspace must be named when several workspaces have the id. [CFG-11]
 *
 * @throws Error with a sentence for the operator
 */
export async function runRepair(
  { config, clock, random, log }: RelayOptions,
  id: string,
  workspace: string | null,
): Promise<RepairReport> {
  await using store = await openRepairStore(config.storage.url, random, log)
  const { stored, deleted } = await store.find(id)
  const found = workspace === null ? stored : stored.filter((one) => one === workspace)
  const name = JSON.stringify(id)
  if (found.length > 1)
    throw new Error(`several workspaces have a document ${name}: add --workspace with one of ${found.join(', ')}`)
  const [workspaceId] = found
  if (workspaceId !== undefined) return await repair({ store, clock, random }, { workspaceId, id })
  const isDeleted = deleted.some((one) => workspace === null || one === workspace)
  throw new Error(
    isDeleted ? `document ${name} was deleted; there is nothing to repair` : `there is no document ${name} in this store`,
  )
}

/** Removes the search index, which the relay builds again in the background. [AG-64] */
export function runReindex({ config, log }: RelayOptions): Promise<void> {
  return dropSearchIndex(config.storage.url, log)
}

export function runPlan({ config, log }: RelayOptions): Promise<MigrationPlan> {
  return planMigration(config.storage.url, log)
}

/**
 * Backs the database up before it changes anything; returns the folder of the backup and the steps that were done.
 * [CFG-11]
 */
export async function runMigrate(
  options: RelayOptions,
): Promise<{ readonly steps: readonly PendingStep[]; readonly backup: string | null }> {
  const { config, clock, log } = options
  refuseLosses(config.storage.url)
  const { steps } = await runPlan(options)
  if (steps.length === 0) return { steps, backup: null }
  const at = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')
  const directory = join(dataDirOf(config), `backup-before-${steps.at(-1)?.name ?? ''}-${at}`)
  await using source = await openStoreSource(config.storage.url, log)
  // Steps change rows and never blobs, so the backup leaves the blobs out.
  await backup({
    directory,
    source,
    blobs: null,
    tokenFile: tokenFileOf(config),
    program: readRelease().version,
    nowMs: clock.nowMs(),
    losses: [],
  })
  await source[Symbol.asyncDispose]()
  try {
    await migrateAll(config.storage.url, log)
  } catch (error) {
    // Nothing was changed, so the backup is not needed.
    if (error instanceof StoreInUseError) await rm(directory, { recursive: true })
    throw error
  }
  return { steps, backup: directory }
}

const NO_FILES: Pick<BlobStore, 'read' | 'list'> = { read: () => Promise.resolve(null), async *list() {} }

/** Opens the blob store for reading; an empty one when its folder is missing. Opening the store itself would create the folder. */
async function blobsToRead(options: RelayOptions): Promise<Pick<BlobStore, 'read' | 'list'>> {
  const { url } = options.config.blobs
  const isMissing = url.startsWith('file:') && !existsSync(resolve(url.slice('file:'.length)))
  return isMissing ? NO_FILES : (await openBlobStore(options)).store
}

function dataDirOf(config: Config): string {
  return config.storage.dataDir ?? 'data'
}

function tokenFileOf(config: Config): string {
  return join(dataDirOf(config), TOKEN_FILE)
}
