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
  // A registry that was never written has no row to lock, and the ceiling is over all of them.
  await engine.lockWorkspace(writer, workspaceId)
  const current = await readRegistry(writer, workspaceId, kind)
  if (expectedVersion !== null && expectedVersion !== current.version) return { kind: 'conflict', current }
  const ownBytes = Buffer.byteLength(text)
  const before = await sizes(writer, workspaceId)
  const sizeBytes = sumOf(before.filter((row) => row.kind !== kind)) + ownBytes
  // A ceiling that was lowered must not keep anybody from cleaning up.
  if (sizeBytes > maxBytes && sizeBytes > sumOf(before)) return { kind: 'too-large', sizeBytes }
  const version = current.version + 1
  const columns = { version, size_bytes: ownBytes, value: storedText(text) }
  await writer
    .insertInto('registries')
    .values({ workspace_id: storedText(workspaceId), kind, ...columns })
    .onConflict((conflict) => conflict.columns(['workspace_id', 'kind']).doUpdateSet(columns))
    .execute()
  return { kind: 'replaced', version }
}

async function readRegistry(db: Connection, workspaceId: string, kind: RegistryKind): Promise<Registry> {
  const row = await db
    .selectFrom('registries')
    .select(['version', 'value'])
    .where('workspace_id', '=', storedText(workspaceId))
    .where('kind', '=', kind)
    .executeTakeFirst()
  return row === undefined ? NEVER_WRITTEN : { version: row.version, text: originalText(row.value) }
}

function sizes(db: Connection, workspaceId: string): Promise<{ kind: string; size_bytes: number }[]> {
  return db.selectFrom('registries').select(['kind', 'size_bytes']).where('workspace_id', '=', storedText(workspaceId)).execute()
}

function sumOf(rows: readonly { readonly size_bytes: number }[]): number {
  return rows.reduce((sum, row) => sum + row.size_bytes, 0)
}
