import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { newId, type Random } from '../../kernel/ids.ts'
import type { Logger } from '../../kernel/log.ts'
import type { Timers } from '../../kernel/timers.ts'
import { hasFacts, STORE_ID, STORE_MARK, storedMark } from './sqlite-losses.ts'
import { writeMark } from './store-mark.ts'

/** Under load, a checkpoint runs after this many pages (16 MiB) of log. At SQLite's 4 MiB, the 99th percentile of append times was two to four times as long. */
const CHECKPOINT_PAGES = 4096
/** A checkpoint also runs after this long without a commit, when it delays no caller. */
const IDLE_MS = 2000

export interface CheckpointsOptions {
  readonly db: DatabaseSync
  readonly path: string
  readonly random: Random
  readonly timers: Timers
  readonly log: Logger
  /** Whether an error means that a flush was lost, so that nothing may be confirmed any more. [D10] */
  readonly isBroken: (error: unknown) => boolean
}

/**
 * Copies the write-ahead log into the main file, in place of SQLite's own automatic checkpoints, and writes the store's mark after each checkpoint.
 * The new mark is in the log and reaches the main file only at the next checkpoint, so a lost log is noticed. [LIFE-5]
 *
 * A checkpoint or a mark that fails delays and loses nothing. Only a lost flush is thrown, by the next `beforeCommit`.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  readonly #look: StatementSync
  readonly #copy: StatementSync
  #marks = false
  #dueAtPages = CHECKPOINT_PAGES
  #commits = 0
  #cancelIdle: (() => void) | null = null
  #lost: unknown = null

  constructor(options: CheckpointsOptions) {
    this.#options = options
    this.#look = options.db.prepare('pragma wal_checkpoint(noop)')
    this.#copy = options.db.prepare('pragma wal_checkpoint(passive)')
  }

  /** Marks the store from now on. Durable when it returns. @throws the error of the disk */
  start(): void {
    this.#mark()
    this.#marks = true
  }

  /** Called before each commit. @throws the error of a flush that was lost since the last commit */
  beforeCommit(): void {
    if (this.#lost !== null) throw this.#lost
  }

  afterCommit(): void {
    this.#commits++
    this.#attempt(() => {
      const pages = Number(this.#look.get()?.['log'] ?? 0)
      if (pages >= this.#dueAtPages) this.#checkpoint()
    })
    if (this.#marks) this.#cancelIdle ??= this.#whenIdle(this.#commits)
  }

  /** Writes the mark of a clean stop; the caller then closes the store. */
  end(): void {
    this.#cancelIdle?.()
    if (this.#marks) this.#attempt(() => this.#mark())
    this.#marks = false
  }

  #whenIdle(commits: number): () => void {
    return this.#options.timers.after(IDLE_MS, () => {
      this.#cancelIdle = null
      const { db } = this.#options
      if (this.#commits !== commits || db.isTransaction) this.#cancelIdle = this.#whenIdle(this.#commits)
      else this.#attempt(() => this.#checkpoint())
    })
  }

  #checkpoint(): void {
    const { log, checkpointed } = this.#copy.get() ?? {}
    const isWhole = log === checkpointed
    // A long-running reader keeps the rest of the log from being copied. Trying again at every commit would not change that.
    this.#dueAtPages = isWhole ? CHECKPOINT_PAGES : Number(log) + CHECKPOINT_PAGES / 4
    if (this.#marks) this.#mark()
  }

  #mark(): void {
    const { db, path, random } = this.#options
    if (!hasFacts(db)) return
    const found = storedMark(db)
    const mark = { store: found.store ?? newId('store-', 16, random), number: (found.number ?? 0) + 1 }
    const set = db.prepare(
      'insert into store_facts (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
    )
    db.exec('begin immediate')
    try {
      set.run(STORE_ID, mark.store)
      set.run(STORE_MARK, String(mark.number))
      db.exec('commit')
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      throw error
    }
    // The file is written only now, so that it never names a number that the store could still lose in a power cut.
    writeMark(path, mark)
  }

  #attempt(work: () => void): void {
    try {
      work()
    } catch (error) {
      if (this.#options.isBroken(error)) this.#lost = error
      this.#options.log.warn(
        'storage.checkpoint_failed',
        'A checkpoint or the mark of the store could not be written; it is tried again.',
        {
          error: error instanceof Error ? error.message : String(error),
        },
      )
    }
  }
}
