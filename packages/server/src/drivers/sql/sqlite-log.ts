import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { at } from '../../kernel/at.ts'
import type { Engine, UpdateColumns } from './engine.ts'

/**
 * Recent records are moved when there are this many. With more, a record would cost less; but each read of a log passes over all recent
 * records, and the commit that moves them takes longer.
 */
export const MOST_RECENT = 4096
/** They are also moved when they are of this many documents: a move writes about a page for each, in some 10 µs. [LIFE-30] */
const MOST_DOCUMENTS = 2048
/** A longer update is stored in its place at once: it takes much of a page anyway, and would be written twice. */
const SHORT_BYTES = 512

const COLUMNS = 'key, seq, actor, at_ms, crc32, bytes'

/**
 * Writes records of the log to `updates_recent`, which has no index, so that the edits of many documents in one commit share a few pages. Once
 * in a while all recent records move to `updates_settled` in one go, sorted by document, within the transaction of the caller. No memory says
 * where a record is: every reader, in every process, finds the records of a document in the view `updates`. [LIFE-5, LIFE-7]
 */
export class SqliteLog implements Pick<Engine, 'insertUpdates'> {
  readonly #db: DatabaseSync
  /** Prepared on first use, because the migration creates the tables. */
  #statements: Statements | null = null
  /** The highest place of a recent record that could not be moved. */
  #stuckAt = 0
  /** Documents of the records that this process has added since the last move; only for `MOST_DOCUMENTS`. */
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
    // Without a condition SQLite frees the pages and does not write them.
    clear: db.prepare('delete from updates_recent'),
    clearCopied: db.prepare(`
      delete from updates_recent where exists (
        select 1 from updates_settled as settled
        where settled.key = updates_recent.key and settled.seq = updates_recent.seq and settled.crc32 = updates_recent.crc32)`),
  }
}

/**
 * Moves all recent records and returns the highest place of those that stay, 0 when none does. A record stays when another one has its
 * sequence, which only damage can cause: that log is then read as damaged, and the other logs go on. [LIFE-5]
 */
function settle({ count, copy, clear, clearCopied }: Statements): number {
  if (copy.run().changes === count.get()?.['count']) {
    clear.run()
    return 0
  }
  clearCopied.run()
  return Number(count.get()?.['last'])
}
