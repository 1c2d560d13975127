import { crc32 } from 'node:zlib'
import type { Random } from '../../kernel/ids.ts'
import type { Connection, Tables, Writer } from './tables.ts'

type LineageColumns = Pick<Tables['documents'], 'lineage' | 'lineage_crc32'>
type Named = Pick<Tables['documents'], 'workspace_id' | 'id'>

/** Returns 16 URL-safe characters, which stand for 96 random bits. [WS-61] */
export function newLineage(random: Random): string {
  return Buffer.from(random.bytes(12)).toString('base64url')
}

/** Returns the columns with a document's lineage, which have a checksum of their own. */
export function lineageColumns({ workspace_id, id }: Named, lineage: string): LineageColumns {
  return { lineage, lineage_crc32: lineageChecksum(workspace_id, id, lineage) }
}

/** Whether the lineage matches its checksum; true also for a row without a lineage. */
export function isLineageIntact({ workspace_id, id, lineage, lineage_crc32 }: Named & LineageColumns): boolean {
  return lineage === null || lineageChecksum(workspace_id, id, lineage) === lineage_crc32
}

function lineageChecksum(workspaceId: string, id: string, lineage: string): number {
  return crc32(JSON.stringify(['lineage', workspaceId, id, lineage]))
}

/** Gives a lineage to each of these documents that has none; an existing lineage stays. */
export async function giveLineages(writer: Writer, keys: readonly number[], random: Random): Promise<void> {
  if (keys.length === 0) return
  const rows = await writer
    .selectFrom('documents')
    .select(['key', 'workspace_id', 'id'])
    .where('key', 'in', keys)
    .where('lineage', 'is', null)
    .orderBy('key')
    .execute()
  for (const row of rows) {
    await writer
      .updateTable('documents')
      .set(lineageColumns(row, newLineage(random)))
      .where('key', '=', row.key)
      .where('lineage', 'is', null)
      .execute()
  }
}

/** Of the next `limit` documents by key, returns those without a lineage, and the key to continue with. */
export async function withoutLineage(
  db: Connection,
  afterKey: number,
  limit: number,
): Promise<{ readonly keys: readonly number[]; readonly lastKey: number; readonly more: boolean }> {
  const looked = await db
    .selectFrom('documents')
    .select(['key', 'lineage'])
    .where('key', '>', afterKey)
    .orderBy('key')
    .limit(limit)
    .execute()
  return {
    keys: looked.filter(({ lineage }) => lineage === null).map(({ key }) => key),
    lastKey: looked.at(-1)?.key ?? afterKey,
    more: looked.length === limit,
  }
}
