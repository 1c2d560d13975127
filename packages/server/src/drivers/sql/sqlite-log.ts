import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { at } from '../../kernel/at.ts'
import type { Engine, UpdateColumns } from './engine.ts'

/**
 * Recent records are moved when there are this many. A larger number would make appends cheaper. But each read of a log scans all recent records, and
 * the commit that moves them would take longer.
 */
export const MOST_RECENT = 4096
/** Recent records are also moved when they belong to this many documents: a move writes about one page per document. [LIFE-30] */
const MOST_DOCUMENTS = 2048
/** A longer update goes to `updates_settled` at once: it fills much of a page anyway, and would be written twice. */
const SHORT_BYTES = 512

const COLUMNS = 'key, seq, actor, at_ms, crc32, bytes'

/**
 * Writes records of the log to `updates_recent`, which has no index, so that the edits of many documents in one commit share a
 * few pages. From time to time all recent records move to `updates_settled`, sorted by document, within the transaction of the
 * caller. Readers need not know where a record is: in every process the view `updates` shows the records of both tables. [LIFE-5,
 * LIFE-7]
 */
export class SqliteLog implements Pick<Engine, 'insertUpdates'> {
  readonly #db: DatabaseSync
  /** The statements are prepared on first use, because the migration creates the tables. */
  #statements: Statements | null = null
  /** The highest rowid of a recent record that could not be moved; 0 when there is none. */
  #stuckAt = 0
  /** Documents with records that this process has added since the last move, counted for `MOST_DOCUMENTS`. */
  readonly #documents = new Set<number>()

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  async insertUpdates(_writer: unknown, { keys, seqs, actors, timesMs, checksums, updates }: UpdateColumns): Promise<void> {
    const { recent, settled } = (this.#statements ??= prepared(this.#db))
    let lastPlace = 0
    for (const [i, update] of updates.entries()) {
      const row = [at(keys, i), at(seqs, i), at(actors, i), at(timesMs, i), at(checksums, i), update] as const
      if (update.byteLength > SHORT_BYTES) {
        settled.run(...row)
        continue
      }
      lastPlace = Number(recent.run(...row).lastInsertRowid)
      this.#documents.add(at(keys, i))
    }
    if (lastPlace - this.#stuckAt < MOST_RECENT && this.#documents.size < MOST_DOCUMENTS) return
    this.#stuckAt = settle(this.#statements)
    this.#documents.clear()
  }
}

interface Statements {
  readonly recent: StatementSync
  readonly settled: StatementSync
  readonly count: StatementSync
  readonly copy: StatementSync
  readonly clear: StatementSync
  readonly clearCopied: StatementSync
}

function prepared(db: DatabaseSync): Statements {
  return {
    recent: db.prepare(`insert into updates_recent (${COLUMNS}) values (?, ?, ?, ?, ?, ?)`),
    settled: db.prepare(`insert into updates_settled (${COLUMNS}) values (?, ?, ?, ?, ?, ?)`),
    count: db.prepare('select count(*) as count, coalesce(max(rowid), 0) as last from updates_recent'),
    copy: db.prepare(
      `insert or ignore into updates_settled (${COLUMNS}) select ${COLUMNS} from updates_recent order by key, seq`,
    ),
    // A delete without a condition frees the pages of the table without writing them.
    clear: db.prepare('delete from updates_recent'),
    clearCopied: db.prepare(`
      delete from updates_recent where exists (
        select 1 from updates_settled as settled
        where settled.key = updates_recent.key and settled.seq = updates_recent.seq and settled.crc32 = updates_recent.crc32)`),
  }
}

/**
 * Moves all recent records. Returns the highest rowid of the records that stay, 0 when none does. A record stays when its log has another record with
 * the same `seq`, which only damage can cause. That log is then read as damaged, and the other logs are not affected. [LIFE-5]
 */
function settle({ count, copy, clear, clearCopied }: Statements): number {
  if (copy.run().changes === count.get()?.['count']) {
    clear.run()
    return 0
  }
  clearCopied.run()
  return Number(count.get()?.['last'])
}
