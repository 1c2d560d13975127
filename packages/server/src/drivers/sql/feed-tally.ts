import { type RawBuilder, sql } from 'kysely'
import type { FeedTableName } from './engine.ts'
import type { Connection } from './tables.ts'

/** Rows that one statement counts. */
const CHUNK_ROWS = 10_000

interface Chunk {
  /** The last id of the chunk. */
  readonly through: number
  readonly bytes: number
}

export interface Excess {
  /** Rows with ids up to this one exceed the limit of bytes; `null` when no row does. */
  readonly through: number | null
  /** Whether rows are left that were not counted. */
  readonly hasMore: boolean
}

const NOTHING: Excess = { through: null, hasMore: false }

/**
 * Counts the bytes of the rows of a feed, each row once and a chunk at a time, so that no statement scans the whole table. Other
 * nodes remove rows too, so chunks below the first remaining row are dropped from the count. [FEED-3, LIFE-30]
 */
export class FeedTally {
  readonly #db: Connection
  readonly #table: FeedTableName
  readonly #bytesOf: RawBuilder<number>
  #chunks: Chunk[] = []

  constructor(db: Connection, table: FeedTableName, bytesOf: RawBuilder<number>) {
    this.#db = db
    this.#table = table
    this.#bytesOf = bytesOf
  }

  /** Counts one more chunk and returns which of the counted rows exceed `mostBytes`. */
  async excess(mostBytes: number | null): Promise<Excess> {
    if (mostBytes === null) return NOTHING
    const first = await this.#db.selectFrom(this.#table).select('id').orderBy('id').limit(1).executeTakeFirst()
    if (first === undefined) {
      this.#chunks = []
      return NOTHING
    }
    this.#chunks = this.#chunks.filter(({ through }) => through >= first.id)
    const hasMore = await this.#countNext()
    let bytes = this.#chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
    let through: number | null = null
    for (const chunk of this.#chunks) {
      if (bytes <= mostBytes) break
      bytes -= chunk.bytes
      through = chunk.through
    }
    return { through, hasMore }
  }

  /** Counts the next chunk. Returns whether rows are left to count. */
  async #countNext(): Promise<boolean> {
    const counted = this.#chunks.at(-1)?.through ?? 0
    const { rows } = await sql<{ through: number | null; bytes: number | null; count: number }>`
      select max(id) as through, sum(bytes) as bytes, count(*) as count from (
        select id, ${this.#bytesOf} as bytes from ${sql.table(this.#table)} where id > ${counted} order by id limit ${sql.lit(CHUNK_ROWS)}
      ) as next`.execute(this.#db)
    const [next] = rows
    if (next?.through == null || next.bytes === null) return false
    this.#chunks.push({ through: next.through, bytes: next.bytes })
    return next.count === CHUNK_ROWS
  }
}
