import pg from 'pg'

/** Returns how many bytes the search index takes on a database server, including the indexes of its tables. */
export async function searchIndexBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ bytes: string }>(
      `select sum(pg_total_relation_size(oid)) as bytes from pg_class where relkind = 'r' and relname like 'search\\_%'`,
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}
