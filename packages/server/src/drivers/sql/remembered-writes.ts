import { sql } from 'kysely'
import type { DocumentWrite, OnceWrite, RememberedWrite } from '../../documents/document-store.port.ts'
import { DamagedRowError, isAsWritten, withChecksum } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Writer } from './tables.ts'

/** Requests remembered for one workspace; beyond that the oldest are dropped before they expire. */
export const MOST_REMEMBERED = 1000
/** Most rows that one write drops, in a store that was written with another limit. */
const MOST_DROPPED = 100

/** Returns the write that was done under a request later than `sinceMs`. [TOOL-22] */
export async function rememberedWrite(
  db: Connection,
  workspaceId: string,
  { request, sinceMs }: Pick<OnceWrite, 'request' | 'sinceMs'>,
): Promise<RememberedWrite | null> {
  const row = await db
    .selectFrom('remembered_writes')
    .selectAll()
    .where('workspace_id', '=', storedText(workspaceId))
    .where('request', '=', request)
    .where('at_ms', '>', sinceMs)
    .executeTakeFirst()
  if (row === undefined) return null
  if (!isAsWritten('remembered_writes', row)) throw new DamagedRowError('what a request id stands for')
  const { digest, answer, version } = row
  return { digest, answer, version }
}

/** Runs in the transaction of the write itself. An earlier write under the same request has expired. */
export async function rememberWrite(
  writer: Writer,
  { ref: { workspaceId }, nowMs }: DocumentWrite,
  { request, digest, answer }: OnceWrite,
  version: number,
): Promise<void> {
  const row = { workspace_id: storedText(workspaceId), request, digest, answer, version, at_ms: nowMs }
  const summed = withChecksum('remembered_writes', row)
  await writer
    .insertInto('remembered_writes')
    .values(summed)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'request']).doUpdateSet(summed))
    .execute()
  await writer
    .deleteFrom('remembered_writes')
    .where('workspace_id', '=', row.workspace_id)
    .where('request', 'in', (inner) =>
      inner
        .selectFrom('remembered_writes')
        .select('request')
        .where('workspace_id', '=', row.workspace_id)
        .orderBy('at_ms', 'desc')
        .orderBy('request')
        .limit(MOST_DROPPED)
        .offset(MOST_REMEMBERED),
    )
    .execute()
}

export async function purgeRemembered(writer: Writer, beforeMs: number, limit: number): Promise<number> {
  const result = await writer
    .deleteFrom('remembered_writes')
    .where(
      sql<boolean>`(workspace_id, request) in (select workspace_id, request from remembered_writes where at_ms < ${beforeMs} order by at_ms limit ${limit})`,
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
