import { sql } from 'kysely'
import type { Logger } from '../../kernel/log.ts'
import type { ShareLinkStore } from '../../share-links/share-link-store.port.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine } from './engine.ts'
import { readingWith } from './reading.ts'
import { DamagedRowError, isAsWritten, withChecksum } from './row-checksums.ts'
import { originalText, storedText } from './stored-text.ts'
import type { Writer } from './tables.ts'

export function sqlShareLinks({ engine, reader }: Database, queue: CommitQueue, log: Logger): ShareLinkStore {
  const reading = readingWith(log)
  return {
    issue: (link) => queue.run(0, (writer) => issue(writer, engine, link)),
    list: (key, nowMs) =>
      reading(async () => {
        const rows = await reader
          .selectFrom('share_links')
          .select(['id', 'created_at_ms', 'created_by', 'expires_at_ms'])
          .where('key', '=', key)
          .where('expires_at_ms', '>', nowMs)
          .orderBy('created_at_ms', 'desc')
          .orderBy('id', 'desc')
          .execute()
        return rows.map((row) => ({
          id: row.id,
          createdAtMs: row.created_at_ms,
          createdBy: originalText(row.created_by),
          expiresAtMs: row.expires_at_ms,
        }))
      }),
    revoke: (key, linkId, nowMs) =>
      queue.run(0, async (writer) => {
        const result = await writer
          .deleteFrom('share_links')
          .where('id', '=', storedText(linkId))
          .where('key', '=', key)
          .where('expires_at_ms', '>', nowMs)
          .executeTakeFirst()
        return Number(result.numDeletedRows) === 0 ? 'unknown' : 'revoked'
      }),
    find: (workspaceId, tokenHash, nowMs) =>
      reading(async () => {
        const row = await reader
          .selectFrom('share_links')
          .innerJoin('documents', 'documents.key', 'share_links.key')
          .select('documents.id as document_id')
          .selectAll('share_links')
          .where('share_links.token_hash', '=', tokenHash)
          .where('share_links.expires_at_ms', '>', nowMs)
          .where('documents.workspace_id', '=', storedText(workspaceId))
          .executeTakeFirst()
        if (row === undefined) return null
        if (!isAsWritten('share_links', row)) throw new DamagedRowError('this share link')
        return { ref: { workspaceId, id: row.document_id }, key: row.key, linkId: row.id }
      }),
    purgeExpired: (nowMs, limit) =>
      queue.job('share links', 0, async (writer) => {
        const result = await writer
          .deleteFrom('share_links')
          .where(
            sql<boolean>`id in (select id from share_links where expires_at_ms <= ${nowMs} order by expires_at_ms limit ${limit})`,
          )
          .executeTakeFirst()
        return Number(result.numDeletedRows)
      }),
  }
}

/** Issues a link. Locks the document until the commit, so that no removal and no other link comes between counting and writing. */
async function issue(
  writer: Writer,
  engine: Engine,
  link: Parameters<ShareLinkStore['issue']>[0],
): ReturnType<ShareLinkStore['issue']> {
  const { key, createdAtMs } = link
  await engine.lockDocument(writer, { key })
  const document = await writer.selectFrom('documents').select('key').where('key', '=', key).executeTakeFirst()
  if (document === undefined) return 'gone'
  const live = await writer
    .selectFrom('share_links')
    .select((e) => e.fn.countAll<number>().as('count'))
    .where('key', '=', key)
    .where('expires_at_ms', '>', createdAtMs)
    .executeTakeFirstOrThrow()
  if (live.count >= link.maxLive) return 'full'
  await writer
    .insertInto('share_links')
    .values(
      withChecksum('share_links', {
        id: link.id,
        token_hash: link.tokenHash,
        key,
        created_at_ms: createdAtMs,
        created_by: storedText(link.createdBy),
        expires_at_ms: link.expiresAtMs,
      }),
    )
    .execute()
  return 'issued'
}
