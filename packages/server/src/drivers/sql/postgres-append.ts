import { type RawBuilder, sql } from 'kysely'
import type { Database, Engine, LogAdvance, OwnNode, UpdateColumns } from './engine.ts'
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

/** `Database.appendAtOnce` of one of several nodes. */
export function appendsAtOnce(db: Connection, node: OwnNode): NonNullable<Database['appendAtOnce']> {
  return async (advances, rows) => {
    const { rows: moved } = await sql<{ key: number }>`
      with moved as (${advancing(node, advances)}),
        stored as (${INSERT_UPDATES} ${rowsOf(rows)} join moved on moved.key = r.key)
      select key from moved`.execute(db)
    return keysOf({ rows: moved })
  }
}

const keysOf = ({ rows }: { readonly rows: readonly { readonly key: number }[] }): ReadonlySet<number> =>
  new Set(rows.map(({ key }) => key))

function advancing(node: OwnNode, advances: readonly LogAdvance[]): RawBuilder<{ key: number }> {
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
          and (added.epoch is null or (log_heads.owner = ${node.inc} and log_heads.epoch = added.epoch)) returning log_heads.key`
    : sql`
        update log_heads set last_seq = last_seq + added.n
        from unnest(${keys}::bigint[], ${after}::bigint[], ${counts}::bigint[]) as added (key, after_seq, n)
        where log_heads.key = added.key and log_heads.last_seq = added.after_seq returning log_heads.key`
}

/** A query whose rows are those of the records; its source is named `r`. */
function rowsOf({ keys, seqs, actors, timesMs, checksums, updates }: UpdateColumns): RawBuilder<unknown> {
  // One binary parameter, which the server cuts into parts: an array of bytea would be sent as hexadecimal text.
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
