import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { ColumnTypes } from './0001-initial.ts'

/** The sizes of share lists, which count into the size of a document, in an index of their own: most documents have no list. */
export async function up(db: Kysely<unknown>, _types: ColumnTypes): Promise<void> {
  const statement: RawBuilder<unknown> = sql`
    create index documents_by_shared on documents (workspace_id, octet_length(shared_with)) where octet_length(shared_with) > 2`
  await statement.execute(db)
}
