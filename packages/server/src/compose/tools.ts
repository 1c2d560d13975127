import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { backup, type BackupDone } from '../backup/backup.ts'
import { restore, type RestoreDone } from '../backup/restore.ts'
import type { BlobStore } from '../blobs/blob-store.port.ts'
import type { Config } from '../config/config.ts'
import { openStoredContents } from '../drivers/sql/inspect-store.ts'
import { migrateAll, type PendingStep, planMigration } from '../drivers/sql/migrate-tool.ts'
import { openStoreSource } from '../drivers/sql/store-source.ts'
import { KNOWN_STORE, openStoreTarget } from '../drivers/sql/store-target.ts'
import { TOKEN_FILE } from '../kernel/token-file.ts'
import { readRelease } from '../operation/release.ts'
import { type Finding, verify, type VerifySummary } from '../verify/verify.ts'
import type { RelayOptions } from './base.ts'
import { openBlobStore } from './blobs.ts'

/** What the commands beside `serve` do, each with the drivers that the configuration names. All throw Error with a sentence for the operator. */

/** Blobs on the disk belong to every backup, those of an object store only when they are asked for. [OPS-9] */
export async function runBackup(options: RelayOptions, directory: string, withObjects: boolean): Promise<BackupDone> {
  const { config, clock, log } = options
  await using source = await openStoreSource(config.storage.url, log)
  const onDisk = config.blobs.url.startsWith('file:')
  return await backup({
    directory,
    source,
    blobs: onDisk || withObjects ? await blobsToRead(options) : null,
    tokenFile: tokenFileOf(config),
    program: readRelease().version,
    nowMs: clock.nowMs(),
  })
}

export function runRestore(options: RelayOptions, directory: string): Promise<RestoreDone> {
  const { config, log } = options
  return restore({
    directory,
    knows: KNOWN_STORE,
    async open() {
      await mkdir(dataDirOf(config), { recursive: true, mode: 0o700 })
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

export function runPlan({ config, log }: RelayOptions): Promise<readonly PendingStep[]> {
  return planMigration(config.storage.url, log)
}

/** Backs the database up before it changes anything; answers where to, and what was done. [CFG-11] */
export async function runMigrate(
  options: RelayOptions,
): Promise<{ readonly steps: readonly PendingStep[]; readonly backup: string | null }> {
  const { config, clock, log } = options
  const steps = await runPlan(options)
  if (steps.length === 0) return { steps, backup: null }
  const at = new Date(clock.nowMs()).toISOString().replaceAll(/[:.]/g, '-')
  const directory = join(dataDirOf(config), `backup-before-${steps.at(-1)?.name ?? ''}-${at}`)
  await using source = await openStoreSource(config.storage.url, log)
  // Steps change rows; blobs stay what they are.
  await backup({
    directory,
    source,
    blobs: null,
    tokenFile: tokenFileOf(config),
    program: readRelease().version,
    nowMs: clock.nowMs(),
  })
  await source[Symbol.asyncDispose]()
  await migrateAll(config.storage.url, log)
  return { steps, backup: directory }
}

/** Opening a store of files makes its folder; reading must not. */
async function blobsToRead(options: RelayOptions): Promise<Pick<BlobStore, 'read'>> {
  const { url } = options.config.blobs
  const isMissing = url.startsWith('file:') && !existsSync(resolve(url.slice('file:'.length)))
  return isMissing ? { read: () => Promise.resolve(null) } : (await openBlobStore(options)).store
}

function dataDirOf(config: Config): string {
  return config.storage.dataDir ?? 'data'
}

function tokenFileOf(config: Config): string {
  return join(dataDirOf(config), TOKEN_FILE)
}
