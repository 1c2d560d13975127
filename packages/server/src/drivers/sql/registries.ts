import type {
  Registry,
  RegistryKind,
  RegistryOutcome,
  RegistryStore,
  RegistryWrite,
} from '../../collections/registry-store.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine } from './engine.ts'
import { readingWith } from './reading.ts'
import { DamagedRowError, isAsWritten, withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

const NEVER_WRITTEN: Registry = { version: 0, text: '[]' }

export function sqlRegistries({ engine, reader }: Database, queue: CommitQueue, log: Logger): RegistryStore {
  const reading = readingWith(log)
  return {
    read: (workspaceId, kind) => reading(() => readRegistry(reader, workspaceId, kind)),
    replace: (write) => queue.run(Buffer.byteLength(write.text), (writer) => replace(writer, engine, write)),
    configBytes: (workspaceId) => reading(async () => sumOf(await sizes(reader, workspaceId))),
  }
}

async function replace(writer: Writer, engine: Engine, write: RegistryWrite): Promise<RegistryOutcome> {
  const { workspaceId, kind, text, expectedVersion, maxBytes } = write
  // Locks the workspace: a registry that was never written has no row to lock, and the limit is for all registries together.
  await engine.lockWorkspace(writer, workspaceId)
  // Without `expectedVersion` the current registry is not read, so a write can replace a damaged one.
  const current = expectedVersion === null ? null : await readRegistry(writer, workspaceId, kind)
  if (current !== null && expectedVersion !== current.version) return { kind: 'conflict', current }
  const ownBytes = Buffer.byteLength(text)
  const before = await sizes(writer, workspaceId)
  const sizeBytes = sumOf(before.filter((row) => row.kind !== kind)) + ownBytes
  // A lowered limit must not prevent a write that makes the registry smaller.
  if (sizeBytes > maxBytes && sizeBytes > sumOf(before)) return { kind: 'too-large', sizeBytes }
  const version = (current ?? (await rowOf(writer, workspaceId, kind)) ?? NEVER_WRITTEN).version + 1
  const row = { workspace_id: storedText(workspaceId), kind, version, size_bytes: ownBytes, value: storedText(text) }
  const columns = withChecksum('registries', row)
  await writer
    .insertInto('registries')
    .values(columns)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'kind']).doUpdateSet(columns))
    .execute()
  return { kind: 'replaced', version }
}

/** Reads a registry. @throws DamagedRowError */
async function readRegistry(db: Connection, workspaceId: string, kind: RegistryKind): Promise<Registry> {
  const row = await rowOf(db, workspaceId, kind)
  if (row === undefined) return NEVER_WRITTEN
  if (!isAsWritten('registries', row)) throw new DamagedRowError(`the list ${JSON.stringify(kind)} of this workspace`)
  return { version: row.version, text: originalText(row.value) }
}

function rowOf(db: Connection, workspaceId: string, kind: RegistryKind) {
  return db
    .selectFrom('registries')
    .selectAll()
    .where('workspace_id', '=', storedText(workspaceId))
    .where('kind', '=', kind)
    .executeTakeFirst()
}

function sizes(db: Connection, workspaceId: string): Promise<{ kind: string; size_bytes: number }[]> {
  return db.selectFrom('registries').select(['kind', 'size_bytes']).where('workspace_id', '=', storedText(workspaceId)).execute()
}

function sumOf(rows: readonly { readonly size_bytes: number }[]): number {
  return rows.reduce((sum, row) => sum + row.size_bytes, 0)
}
