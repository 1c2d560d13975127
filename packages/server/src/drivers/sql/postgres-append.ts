import { type RawBuilder, sql } from 'kysely'
import type { Database, Engine, LogAdvance, OwnNode, UpdateColumns } from './engine.ts'
import type { Place } from './postgres-place.ts'
import type { Connection } from './tables.ts'

const INSERT_UPDATES = sql`insert into updates (key, seq, actor, at_ms, crc32, bytes)`

/** The statements that append records to the logs of a PostgreSQL store. */
export function postgresAppends(node: OwnNode): Pick<Engine, 'advanceLogs' | 'insertUpdates'> {
  return {
    advanceLogs: async (writer, advances) => keysOf(await advancing(node, advances).execute(writer)),
    async insertUpdates(writer, rows) {
      await sql`${INSERT_UPDATES} ${rowsOf(rows)}`.execute(writer)
    },
  }
}

/** Makes `Database.appendAtOnce`. `place` is `null` for one of several nodes; a relay that uses the store alone has a place. */
export function appendsAtOnce(db: Connection, node: OwnNode, place: (() => Place) | null): NonNullable<Database['appendAtOnce']> {
  if (place === null)
    return async (advances, rows) => {
      const moved = advancing(node, advances)
      return keysOf(
        await sql<{ key: number }>`
          with moved as (${moved}), stored as (${storing(rows)}) select key from moved`.execute(db),
      )
    }
  return async (advances, rows) => {
    const own = place()
    const moved = advancing(node, advances, sql`and exists (select from held)`)
    // PostgreSQL decides once whether the place is held, after it has locked the place and before it looks at a log.
    const { rows: found } = await sql<{ key: number | null }>`
      with held as materialized (${own.holding()}), moved as (${moved}), stored as (${storing(rows)})
      select key from moved union all select null where not exists (select from held)`.execute(db)
    const keys = found.map(({ key }) => key).filter((key) => key !== null)
    if (keys.length < found.length) throw own.lost()
    return new Set(keys)
  }
}

/** Makes the statement that stores the records whose logs have moved. */
const storing = (rows: UpdateColumns): RawBuilder<unknown> =>
  sql`${INSERT_UPDATES} ${rowsOf(rows)} join moved on moved.key = r.key`

const keysOf = ({ rows }: { readonly rows: readonly { readonly key: number }[] }): ReadonlySet<number> =>
  new Set(rows.map(({ key }) => key))

/** Makes the update that moves the ends of the logs. `condition` is added to its conditions and begins with AND. */
function advancing(node: OwnNode, advances: readonly LogAdvance[], condition = sql``): RawBuilder<{ key: number }> {
  const [keys, after, counts] = [
    advances.map(({ key }) => key),
    advances.map(({ afterSeq }) => afterSeq),
    advances.map(({ count }) => count),
  ]
  return advances.some(({ epoch }) => epoch !== undefined)
    ? sql`
        update log_heads set last_seq = last_seq + added.n
        from unnest(${keys}::bigint[], ${after}::bigint[], ${counts}::bigint[], ${advances.map(({ epoch = null }) => epoch)}::bigint[])
          as added (key, after_seq, n, epoch)
        where log_heads.key = added.key and log_heads.last_seq = added.after_seq
          and (added.epoch is null or (log_heads.owner = ${node.inc} and log_heads.epoch = added.epoch)) ${condition}
        returning log_heads.key`
    : sql`
        update log_heads set last_seq = last_seq + added.n
        from unnest(${keys}::bigint[], ${after}::bigint[], ${counts}::bigint[]) as added (key, after_seq, n)
        where log_heads.key = added.key and log_heads.last_seq = added.after_seq ${condition}
        returning log_heads.key`
}

/** Makes a query that returns a row for each record. The source of the rows has the name `r`. */
function rowsOf({ keys, seqs, actors, timesMs, checksums, updates }: UpdateColumns): RawBuilder<unknown> {
  // The bytes of all records are one binary parameter, which the server cuts into parts: an array of bytea would be sent as hexadecimal text.
  const starts: number[] = []
  let end = 0
  for (const update of updates) {
    starts.push(end + 1)
    end += update.byteLength
  }
  const lengths = updates.map((update) => update.byteLength)
  const all = Buffer.concat(updates, end)
  return sql`
    select r.key, r.seq, r.actor, r.at_ms, r.crc32, substring(${all}::bytea from r.start for r.length)
    from unnest(${keys}::bigint[], ${seqs}::bigint[], ${actors}::text[], ${timesMs}::bigint[],
      ${checksums}::bigint[], ${starts}::int[], ${lengths}::int[]) as r (key, seq, actor, at_ms, crc32, start, length)`
}
