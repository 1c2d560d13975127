import { sql } from 'kysely'
import type { DocumentWrite, OnceWrite, RememberedWrite } from '../../documents/document-store.port.ts'
import { compiledOnce } from './compiled-query.ts'
import { DamagedRowError, isAsWritten, withChecksum } from './row-checksums.ts'
import { storedText } from './stored-text.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** Maximum number of remembered requests of one workspace. Above it the oldest ones are dropped before they expire. */
export const MOST_REMEMBERED = 1000
/** Maximum number of rows that one write drops, for a store that was written with another limit. */
const MOST_DROPPED = 100

const rowOfRequest = compiledOnce(
  (db, given: { readonly workspace: string; readonly request: string; readonly sinceMs: number }) =>
    db
      .selectFrom('remembered_writes')
      .selectAll()
      .where('workspace_id', '=', given.workspace)
      .where('request', '=', given.request)
      .where('at_ms', '>', given.sinceMs),
)
const insertRow = compiledOnce((db, given: Tables['remembered_writes']) => {
  const { workspace_id, request, digest, answer, version, at_ms, crc32 } = given
  const row = { workspace_id, request, digest, answer, version, at_ms, crc32 }
  return db
    .insertInto('remembered_writes')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspace_id', 'request']).doUpdateSet(row))
})
const dropBeyond = compiledOnce((db, { workspace_id }: { readonly workspace_id: string }) =>
  db
    .deleteFrom('remembered_writes')
    .where('workspace_id', '=', workspace_id)
    .where('request', 'in', (inner) =>
      inner
        .selectFrom('remembered_writes')
        .select('request')
        .where('workspace_id', '=', workspace_id)
        .orderBy('at_ms', 'desc')
        .orderBy('request')
        .limit(MOST_DROPPED)
        .offset(MOST_REMEMBERED),
    ),
)

/** Returns the write that a request made later than `sinceMs`; `null` when there is none. [TOOL-22] */
export async function rememberedWrite(
  db: Connection,
  workspaceId: string,
  { request, sinceMs }: Pick<OnceWrite, 'request' | 'sinceMs'>,
): Promise<RememberedWrite | null> {
  const [row] = await rowOfRequest(db, { workspace: storedText(workspaceId), request, sinceMs })
  if (row === undefined) return null
  if (!isAsWritten('remembered_writes', row)) throw new DamagedRowError('what a request id stands for')
  const { digest, answer, version } = row
  return { digest, answer, version }
}

/** Remembers a write under its request, in the transaction of the write. An earlier write under the same request has expired and is replaced. */
export async function rememberWrite(
  writer: Writer,
  { ref: { workspaceId }, nowMs }: DocumentWrite,
  { request, digest, answer }: OnceWrite,
  version: number,
): Promise<void> {
  const row = { workspace_id: storedText(workspaceId), request, digest, answer, version, at_ms: nowMs }
  const summed = withChecksum('remembered_writes', row)
  await insertRow(writer, summed)
  await dropBeyond(writer, row)
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
