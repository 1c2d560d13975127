import { sql } from 'kysely'
import { isAsWritten, type SummedTable } from './row-checksums.ts'
import type { Connection, Tables } from './tables.ts'

const PAGE_ROWS = 500

/**
 * For each table, the columns that order its rows, and the column whose value a finding shows. `registries` and call records are missing here: they
 * are long and are read one by one elsewhere.
 */
const READ: {
  readonly [T in Exclude<SummedTable, 'registries' | 'call_records'>]: { readonly by: readonly string[]; readonly named: string }
} = {
  tombstones: { by: ['workspace_id', 'id'], named: 'id' },
  // A jti is a part of a token, so a finding does not show it. [OPS-6]
  revocations: { by: ['jti'], named: 'revoked_at_ms' },
  share_links: { by: ['id'], named: 'id' },
  blob_grants: { by: ['workspace_id', 'hash'], named: 'hash' },
  blob_uploaders: { by: ['workspace_id', 'hash', 'sub'], named: 'hash' },
  blob_uploads: { by: ['id'], named: 'workspace_id' },
  removals: { by: ['key', 'seq'], named: 'key' },
  former_clients: { by: ['workspace_id', 'id'], named: 'id' },
  remembered_writes: { by: ['workspace_id', 'request'], named: 'request' },
}

/** Yields a sentence for each row of the tables in `READ` that fails its checksum. [OPS-11] */
export async function* changedRows(db: Connection): AsyncGenerator<string> {
  for (const table of Object.keys(READ) as (keyof typeof READ)[]) {
    for await (const row of rowsOf(db, table)) {
      if (isAsWritten(table, row as unknown as Tables[typeof table])) continue
      const { named } = READ[table]
      yield `a row of ${table} (${named} ${JSON.stringify(row[named])}) does not have its checksum`
    }
  }
}

async function* rowsOf(db: Connection, table: keyof typeof READ): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const { by } = READ[table]
  const columns = sql.join(by.map((column) => sql.ref(column)))
  let after = sql``
  for (;;) {
    const { rows } = await sql<Record<string, unknown>>`
      select * from ${sql.table(table)} ${after} order by ${columns} limit ${PAGE_ROWS}`.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE_ROWS) return
    after = sql`where (${columns}) > (${sql.join(by.map((column) => last[column]))})`
  }
}
