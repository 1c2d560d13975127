import { CompiledQuery } from 'kysely'
import type pg from 'pg'
import type { Database, Engine, LogAdvance, OwnNode, UpdateColumns } from './engine.ts'
import { heldPlace, type Place } from './postgres-place.ts'

/** Values of the parameters `$1` to `$5`. */
const ADVANCE_PARAMETERS = 5
/** Moves the ends of logs. `condition` is added to its conditions and begins with AND. */
const advanceSql = (condition: string): string => `
  update log_heads set last_seq = last_seq + added.n
  from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) as added (key, after_seq, n, epoch)
  where log_heads.key = added.key and log_heads.last_seq = added.after_seq
    and (added.epoch is null or (log_heads.owner = $5 and log_heads.epoch = added.epoch)) ${condition}
  returning log_heads.key`

const INSERT_PARAMETERS = 8
/** Stores records. Its parameters follow the first `before` ones. `join` is added behind the source of the rows, whose name is `r`. */
const insertSql = (before: number, join: string): string => {
  const [keys, seqs, actors, times, checksums, starts, lengths, bytes] = Array.from(
    { length: INSERT_PARAMETERS },
    (_, i) => `$${before + i + 1}`,
  )
  return `
  insert into updates (key, seq, actor, at_ms, crc32, bytes)
  select r.key, r.seq, r.actor, r.at_ms, r.crc32, substring(${bytes}::bytea from r.start for r.length)
  from unnest(${keys}::bigint[], ${seqs}::bigint[], ${actors}::text[], ${times}::bigint[], ${checksums}::bigint[],
    ${starts}::int[], ${lengths}::int[]) as r (key, seq, actor, at_ms, crc32, start, length) ${join}`
}

const ADVANCE = advanceSql('')
const INSERT = insertSql(0, '')
const INSERT_MOVED = insertSql(ADVANCE_PARAMETERS, 'join moved on moved.key = r.key')
/** Statements with a name are parsed and planned once for each connection. */
const APPEND_OF_NODE = {
  name: 'append-of-node',
  text: `with moved as (${ADVANCE}), stored as (${INSERT_MOVED}) select key from moved`,
}
/** PostgreSQL decides once whether the place is held, after it has locked the place and before it looks at a log. */
const APPEND_WITH_PLACE = {
  name: 'append-with-place',
  text: `
    with held as materialized (${heldPlace(`$${ADVANCE_PARAMETERS + INSERT_PARAMETERS + 1}`)}),
      moved as (${advanceSql('and exists (select from held)')}), stored as (${INSERT_MOVED})
    select key from moved union all select null where not exists (select from held)`,
}

/** The statements that append records to the logs of a PostgreSQL store. */
export function postgresAppends(node: OwnNode): Pick<Engine, 'advanceLogs' | 'insertUpdates'> {
  return {
    async advanceLogs(writer, advances) {
      const { rows } = await writer.executeQuery<{ key: number }>(CompiledQuery.raw(ADVANCE, advanceValues(node, advances)))
      return new Set(rows.map(({ key }) => key))
    },
    async insertUpdates(writer, rows) {
      await writer.executeQuery(CompiledQuery.raw(INSERT, insertValues(rows)))
    },
  }
}

/** Makes `Database.appendAtOnce`. `place` is `null` for one of several nodes; a relay that uses the store alone has a place. */
export function appendsAtOnce(pool: pg.Pool, node: OwnNode, place: (() => Place) | null): NonNullable<Database['appendAtOnce']> {
  const keysOf = async (statement: typeof APPEND_OF_NODE, values: unknown[]): Promise<readonly (number | null)[]> => {
    const { rows } = await pool.query<[number | null]>({ ...statement, values, rowMode: 'array' })
    return rows.map(([key]) => key)
  }
  return async (advances, rows) => {
    const values = [...advanceValues(node, advances), ...insertValues(rows)]
    if (place === null) return new Set((await keysOf(APPEND_OF_NODE, values)) as readonly number[])
    const own = place()
    const found = await keysOf(APPEND_WITH_PLACE, [...values, own.holder])
    const keys = found.filter((key) => key !== null)
    if (keys.length < found.length) throw own.lost()
    return new Set(keys)
  }
}

function advanceValues({ inc }: OwnNode, advances: readonly LogAdvance[]): unknown[] {
  return [
    arrayOf(advances.map(({ key }) => key)),
    arrayOf(advances.map(({ afterSeq }) => afterSeq)),
    arrayOf(advances.map(({ count }) => count)),
    arrayOf(advances.map(({ epoch = null }) => epoch)),
    inc,
  ]
}

function insertValues({ keys, seqs, actors, timesMs, checksums, updates }: UpdateColumns): unknown[] {
  // The bytes of all records are one binary parameter, which the server cuts into parts: an array of bytea would be sent as hexadecimal text.
  const starts: number[] = []
  let end = 0
  for (const update of updates) {
    starts.push(end + 1)
    end += update.byteLength
  }
  const lengths = updates.map((update) => update.byteLength)
  const numbers = [timesMs, checksums, starts, lengths].map(arrayOf)
  return [arrayOf(keys), arrayOf(seqs), actors, ...numbers, Buffer.concat(updates, end)]
}

/** An array as PostgreSQL reads it. The driver would quote each number. */
function arrayOf(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`
}
