import { sql } from 'kysely'
import type { DocumentRef } from '../../documents/document-store.port.ts'
import { clientsOfUpdate, clientsOfVector } from '../../sync/guard/update-clients.ts'
import { DamagedRowError, isAsWritten, withChecksum } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** Maximum number of remembered client ids per document id. [WS-62] */
const MAX_CLIENTS = 10_000
const KEPT_MS = 365 * 86_400_000
/** Yjs draws client ids of 32 bits. Seeds have ids of 53 bits from this number on, and may occur again with the same content. [YDOC-9] */
const SEEDS_FROM = 2 ** 32

/**
 * Stores the Y client ids that wrote in a document which is about to be removed, newest first, followed by those of earlier lineages of the id. Reads
 * the readable part of the log, so a damaged log does not prevent a deletion.
 */
export async function keepFormerClients(writer: Writer, ref: DocumentRef, key: number, nowMs: number): Promise<void> {
  const earlier = await readFormerClients(writer, ref, nowMs).catch((error: unknown) => {
    if (error instanceof DamagedRowError) return []
    throw error
  })
  const clients = new Set<number>()
  for (const client of [...(await clientsOfLog(writer, key)), ...earlier]) {
    if (clients.size === MAX_CLIENTS) break
    if (client < SEEDS_FROM) clients.add(client)
  }
  if (clients.size > 0) await writeClients(writer, ref, [...clients], nowMs)
}

/** Starts the retention of 365 days for the former clients of an id, when a new document takes that id. */
export async function keepFormerClientsOn(writer: Writer, ref: DocumentRef, nowMs: number): Promise<void> {
  const clients = await readFormerClients(writer, ref, Number.NEGATIVE_INFINITY)
  if (clients.length > 0) await writeClients(writer, ref, clients, nowMs)
}

/** Returns the remembered Y client ids of an id. @throws DamagedRowError */
export async function readFormerClients(db: Connection, ref: DocumentRef, nowMs: number): Promise<readonly number[]> {
  const row = await db
    .selectFrom('former_clients')
    .selectAll()
    .where('workspace_id', '=', storedText(ref.workspaceId))
    .where('id', '=', ref.id)
    .executeTakeFirst()
  if (row === undefined) return []
  if (!isAsWritten('former_clients', row)) throw new DamagedRowError(`what is kept of former lives of the document ${ref.id}`)
  return row.until_ms <= nowMs ? [] : (JSON.parse(row.clients) as number[])
}

/** Deletes at most `limit` expired rows. A row stays while its id has a tombstone. */
export async function purgeFormerClients(writer: Writer, beforeMs: number, limit: number): Promise<number> {
  const result = await writer
    .deleteFrom('former_clients')
    .where(
      sql<boolean>`(workspace_id, id) in (select f.workspace_id, f.id from former_clients f where f.until_ms < ${beforeMs} and not exists (
        select 1 from tombstones t where t.workspace_id = f.workspace_id and t.id = f.id) order by f.until_ms limit ${limit})`,
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}

async function writeClients(writer: Writer, ref: DocumentRef, clients: readonly number[], nowMs: number): Promise<void> {
  const row = withChecksum('former_clients', {
    workspace_id: storedText(ref.workspaceId),
    id: ref.id,
    until_ms: nowMs + KEPT_MS,
    clients: JSON.stringify(clients),
  })
  await writer
    .insertInto('former_clients')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'id']).doUpdateSet(row))
    .execute()
}

/** Returns the client ids of the records after the newest snapshot, newest first, followed by those of the snapshot. */
async function clientsOfLog(writer: Writer, key: number): Promise<readonly number[]> {
  const snapshot = await writer
    .selectFrom('snapshots')
    .select(['through_seq', 'state_vector'])
    .where('key', '=', key)
    .orderBy('through_seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  const records = await writer
    .selectFrom('updates')
    .select(['seq', 'bytes'])
    .where('key', '=', key)
    .where('seq', '>', snapshot?.through_seq ?? 0)
    .orderBy('seq', 'desc')
    .execute()
  const inRecords = records.flatMap(({ bytes }) => clientsOfUpdate(bytes))
  return snapshot === undefined ? inRecords : [...inRecords, ...clientsOfVector(snapshot.state_vector)]
}
