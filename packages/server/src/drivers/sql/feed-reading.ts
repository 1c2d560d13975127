import { boundedFacts } from '@docrelay/model/body-facts'
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import type { ChangeFeed, ChangeRow } from '../../feed/change-feed.port.ts'
import type { FeedBounds, FeedPlace, FeedRequest, FeedRow, FeedTable, IdRange } from '../../feed/feed-table.port.ts'
import type { RevocationFeed, RevocationRow } from '../../feed/revocation-feed.port.ts'
import type { Logger } from '../../kernel/log.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { Database, Engine, FeedTableName, IdentityMoment } from './engine.ts'
import { FeedTally } from './feed-tally.ts'
import type { ChangePayload, PayloadHead } from './feed-writing.ts'
import { readingWith } from './reading.ts'
import { originalText } from './stored-text.ts'
import type { Connection, Tables, Writer } from './tables.ts'

/** Maximum number of ranges in one statement; each range takes two parameters. */
const RANGES_PER_STATEMENT = 200
/** A starting node requests the missing ids of transactions that began up to this long ago, and of all open transactions. */
const LOOK_BACK_MS = 31_000
/** When no older row shows which ids are new, a starting node requests this many ids below the first row. */
const BELOW_THE_FIRST = 1_000
/** A starting node remembers this many rows, to notice when the database loses rows. */
const RECENT_AT_START = 100

/** Opens the change feed. `origin`: the value that identifies this process in the rows that it writes. */
export function sqlChangeFeed(database: Database, queue: CommitQueue, origin: string, log: Logger): ChangeFeed {
  const bytesOf = sql<number>`octet_length(payload) + length(workspace_id) + length(actor) + 120`
  return feedOn(database, queue, log, { table: 'change_feed', bytesOf, rowOf: (row) => changeOf(row, origin, log) })
}

export function sqlRevocationFeed(database: Database, queue: CommitQueue, log: Logger): RevocationFeed {
  return feedOn(database, queue, log, { table: 'revocation_feed', bytesOf: sql<number>`100`, rowOf: revocationOf })
}

interface FeedOn<Name extends FeedTableName, Row> {
  readonly table: Name
  /** Returns the approximate bytes of a row in the database. */
  readonly bytesOf: ReturnType<typeof sql<number>>
  readonly rowOf: (row: Selectable<Tables[Name]>) => Row
}

function feedOn<Name extends FeedTableName, Row extends FeedRow>(
  { engine, reader }: Database,
  queue: CommitQueue,
  log: Logger,
  { table, bytesOf, rowOf }: FeedOn<Name, Row>,
): FeedTable<Row> {
  const reading = readingWith(log)
  const tally = new FeedTally(reader, table, bytesOf)
  return {
    begin: () =>
      reading(async () => {
        const moment = await engine.identityMoment(reader, table, true)
        return placeAt(reader, table, moment)
      }),
    read: (request) =>
      reading(async () => {
        const moment = await engine.identityMoment(reader, table, request.asksOpen)
        const { rows, aboveAtMs } = await readRows(reader, table, request)
        const told = rows.map((row) => rowOf(row as Selectable<Tables[Name]>)).sort((a, b) => a.id - b.id)
        return { ...moment, rows: told, aboveAtMs }
      }),
    async purge(bounds) {
      const { through, hasMore } = await reading(() => tally.excess(bounds.mostBytes))
      return (await queue.job(table, false, (writer) => purge(writer, engine, table, bounds, through))) || hasMore
    },
  }
}

/**
 * Reads the new rows first and the missing ones afterwards: when a row is visible, all earlier commits of its document are
 * visible too, so the second read finds them. In the other order a later change could be returned without the earlier one.
 */
async function readRows(db: Connection, table: FeedTableName, { above, gaps, limit }: FeedRequest) {
  const from = await db
    .selectFrom(table)
    .selectAll()
    .where('id', '>=', above)
    .orderBy('id')
    .limit(limit + 1)
    .execute()
  const aboveAtMs = from[0]?.id === above ? from[0].at_ms : null
  const rows = from.filter(({ id }) => id > above).slice(0, limit)
  for (let at = 0; at < gaps.length; at += RANGES_PER_STATEMENT) {
    const ranges = gaps.slice(at, at + RANGES_PER_STATEMENT)
    rows.push(...(await db.selectFrom(table).selectAll().where(isInOneOf(ranges)).execute()))
  }
  return { rows, aboveAtMs }
}

function isInOneOf(ranges: readonly IdRange[]) {
  return (e: ExpressionBuilder<Tables, FeedTableName>) => e.or(ranges.map(({ from, to }) => e.between('id', from, to)))
}

/** Returns the position at which a node begins at the given moment, which was read before this call. */
async function placeAt(db: Connection, table: FeedTableName, { nowMs, openSinceMs }: IdentityMoment): Promise<FeedPlace> {
  const beforeMs = Math.min(nowMs - LOOK_BACK_MS, (openSinceMs ?? Number.POSITIVE_INFINITY) - LOOK_BACK_MS)
  const newest = await db.selectFrom(table).select(['id', 'at_ms']).orderBy('id', 'desc').limit(RECENT_AT_START).execute()
  const [top] = newest
  if (top === undefined) return { top: 0, gaps: [], recent: [] }
  const recent = newest.map(({ id, at_ms: atMs }) => ({ id, atMs })).reverse()
  const settled = await db
    .selectFrom(table)
    .select('id')
    .where('at_ms', '<', beforeMs)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const first = await db.selectFrom(table).select('id').orderBy('id').limit(1).executeTakeFirst()
  const mark = settled?.id ?? Math.max(0, (first?.id ?? top.id) - 1 - BELOW_THE_FIRST)
  const { rows } = await sql<{ id: number; before: number }>`
    select id, before from (
      select id, lag(id, 1, ${sql.lit(mark)}) over (order by id) as before from ${sql.table(table)} where id > ${mark} and id <= ${top.id}
    ) as listed where id > before + 1 order by id`.execute(db)
  return { top: top.id, recent, gaps: rows.map(({ id, before }) => ({ from: before + 1, to: id - 1 })) }
}

/** Removes a batch of old rows. Returns whether there may be more to remove. `through`: rows with ids up to this one exceed the limit of bytes. */
async function purge(
  writer: Writer,
  { nowMs }: Engine,
  table: FeedTableName,
  { keptMs, limit }: FeedBounds,
  through: number | null,
): Promise<boolean> {
  const oldest = await writer
    .selectFrom(table)
    .select(['id', 'at_ms', nowMs.as('now_ms')])
    .orderBy('id')
    .limit(limit)
    .execute()
  // The times are compared here, because a store cannot hold a number as large as the longest allowed time.
  const due = oldest.filter(({ id, at_ms, now_ms }) => now_ms - at_ms > keptMs || (through !== null && id <= through))
  // Rows are almost in the order of their times. An old row that is not removed now is removed with a later batch.
  const last = due.at(-1)?.id
  if (last === undefined) return false
  await writer
    .deleteFrom(table)
    .where(
      'id',
      'in',
      due.map(({ id }) => id),
    )
    .execute()
  return due.length === limit
}

function changeOf(row: Selectable<Tables['change_feed']>, origin: string, log: Logger): ChangeRow {
  const unknown = { kind: 'unknown', id: row.id, atMs: row.at_ms } as const
  try {
    return readChange(row, origin) ?? unknown
  } catch (error) {
    log.error('feed.row_damaged', 'A row of the change feed cannot be read; nothing is told of it.', {
      row: row.id,
      error: String(error),
    })
    return unknown
  }
}

function readChange(row: Selectable<Tables['change_feed']>, origin: string): ChangeRow | null {
  const payload = JSON.parse(new TextDecoder().decode(row.payload)) as ChangePayload
  const workspaceId = originalText(row.workspace_id)
  const named = { workspaceId, key: row.key }
  const told = {
    ...named,
    id: row.id,
    atMs: row.at_ms,
    docId: payload.docId,
    actor: originalText(row.actor),
    seq: row.seq,
    version: payload.version,
    isOwn: row.origin === origin,
  }
  // The owner may have changed since the row was written, so code that needs the owner asks the store.
  const headOf = (head: PayloadHead) => ({ ...head, ...named, facts: boundedFacts(head.facts), owner: null })
  switch (row.kind) {
    case 'created':
    case 'updated':
    case 'shared': {
      if (!('head' in payload)) return null
      const { head, isSharingChanged, restoredFrom } = payload
      return {
        ...told,
        kind: row.kind,
        head: headOf(head),
        isSharingChanged,
        ...(restoredFrom !== undefined && { restoredFrom }),
      }
    }
    case 'edited':
    case 'repaired':
      return { ...told, kind: row.kind }
    case 'deleted': {
      if (!('before' in payload)) return null
      const tombstone = { ...payload.tombstone, workspaceId, id: payload.docId }
      return { ...told, kind: 'deleted', before: headOf(payload.before), tombstone }
    }
    default:
      return null
  }
}

function revocationOf(row: Selectable<Tables['revocation_feed']>): RevocationRow {
  const { id, at_ms: atMs, jti, revoked_at_ms: revokedAtMs } = row
  if (jti === null || revokedAtMs === null) return { kind: 'heard', id, atMs }
  return { kind: 'revoked', id, atMs, jti: originalText(jti), revokedAtMs }
}
