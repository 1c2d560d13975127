import { RelayError } from '../../kernel/errors.ts'
import type { Timers } from '../../kernel/timers.ts'
import type { AppendOutcome, AppendRecord } from '../../sync/update-log.port.ts'
import type { Database, Fault } from './engine.ts'
import type { Writer } from './tables.ts'

/** The work of one call in the group commit. */
export type BatchWork =
  | { readonly kind: 'append'; readonly list: readonly AppendRecord[] }
  | { readonly kind: 'run'; run(writer: Writer): Promise<unknown> }

export interface BatchOptions {
  readonly database: Database
  /** Timers that keep the process alive, because a caller waits for each commit. */
  readonly timers: Timers
  /** Runs several consecutive appends of the queue as one. */
  readonly appendAll: (writer: Writer, records: readonly AppendRecord[]) => Promise<readonly AppendOutcome[]>
  /**
   * Returns a function that appends these records in a transaction of one statement. Returns `null` when the engine cannot do that, or when the
   * records need several statements.
   */
  readonly appendingAtOnce: (records: readonly AppendRecord[]) => (() => Promise<readonly AppendOutcome[]>) | null
  /** For tests: answers calls before the commit, and pauses before and after each commit. */
  readonly ackBeforeCommit: boolean
  readonly commitHoldMs: number
  /** Checked before each commit, and again every 5 ms until it returns false. */
  readonly isCommitHeld?: () => boolean
  readonly answerHoldMs: number
}

/** The transaction has committed; `results` has one result for each call. */
interface Ran {
  readonly kind: 'ran'
  readonly results: readonly unknown[]
}

export type BatchFailure =
  /** The transaction was rolled back, and no COMMIT can have reached the server. */
  | { readonly kind: 'undone'; readonly error: Error; readonly fault: Fault }
  | { readonly kind: 'unknown'; readonly error: Error; readonly fault: Fault }

/** The faults that a single call causes, while the disk, the connection and the server work. */
export const OWN_FAULTS: ReadonlySet<Fault> = new Set(['operation', 'lost-race', 'busy', 'damage'])
/** Interval at which a held commit checks whether the test still holds commits. */
const HOLD_LOOK_MS = 5

/**
 * Runs the calls in one transaction, in their order. Everything is durable when it resolves with `ran`. `answerEarly` gets the results before the
 * commit, only in a test with `ackBeforeCommit`. [LIFE-2, LIFE-4]
 */
export function runBatch(
  batch: readonly BatchWork[],
  options: BatchOptions,
  answerEarly: (results: readonly unknown[]) => void,
): Promise<Ran | BatchFailure> {
  return inOneStatement(batch, options) ?? inTransaction(batch, options, answerEarly)
}

/** Runs the batch with one statement. Returns `null` when the batch needs a transaction of several statements. */
function inOneStatement(batch: readonly BatchWork[], options: BatchOptions): Promise<Ran | BatchFailure> | null {
  const { database, appendingAtOnce, ackBeforeCommit, commitHoldMs, isCommitHeld } = options
  if (database.appendAtOnce === null) return null
  // Nothing can be held between a single statement and its commit, so a test that holds commits needs a transaction.
  if (ackBeforeCommit || commitHoldMs > 0 || isCommitHeld?.() === true) return null
  const lists = batch.flatMap((work) => (work.kind === 'append' ? [work.list] : []))
  const append = lists.length < batch.length ? null : appendingAtOnce(lists.flat())
  return append && appendedAtOnce(lists, append, options)
}

async function appendedAtOnce(
  lists: readonly (readonly AppendRecord[])[],
  append: () => Promise<readonly AppendOutcome[]>,
  { database, timers, answerHoldMs }: BatchOptions,
): Promise<Ran | BatchFailure> {
  try {
    const outcomes = await append()
    if (answerHoldMs > 0) await pause(timers, answerHoldMs)
    return { kind: 'ran', results: dividedAs(lists, outcomes) }
  } catch (thrown) {
    const error = asError(thrown)
    const fault = database.engine.faultOf(error)
    // The server undoes a statement before it answers with an error. Without an answer nobody knows whether the statement has committed.
    if (OWN_FAULTS.has(fault)) return { kind: 'undone', error, fault }
    return { kind: 'unknown', error, fault: fault === 'unsaid' ? 'storage' : fault }
  }
}

async function inTransaction(
  batch: readonly BatchWork[],
  options: BatchOptions,
  answerEarly: (results: readonly unknown[]) => void,
): Promise<Ran | BatchFailure> {
  const { database, timers, ackBeforeCommit, commitHoldMs, isCommitHeld, answerHoldMs } = options
  let committing = false
  let rolledBack = false
  try {
    const transaction = await database.begin()
    try {
      const results = await runAll(transaction.writer, batch, options)
      if (ackBeforeCommit) answerEarly(results)
      if (commitHoldMs > 0) await pause(timers, commitHoldMs)
      while (isCommitHeld?.() === true) await pause(timers, HOLD_LOOK_MS)
      committing = true
      await transaction.commit()
      if (answerHoldMs > 0) await pause(timers, answerHoldMs)
      return { kind: 'ran', results }
    } catch (error) {
      // SQLite has already rolled back by itself after some faults.
      rolledBack = await transaction.rollback().then(
        () => true,
        () => false,
      )
      throw error
    }
  } catch (thrown) {
    const error = asError(thrown)
    const said = error instanceof RelayError ? 'operation' : database.engine.faultOf(error)
    // When the rollback fails, the connection is lost.
    const fault = said === 'unsaid' ? (rolledBack ? 'operation' : 'storage') : said
    return committing ? { kind: 'unknown', error, fault } : { kind: 'undone', error, fault }
  }
}

async function runAll(writer: Writer, batch: readonly BatchWork[], { appendAll }: BatchOptions): Promise<unknown[]> {
  const results: unknown[] = []
  for (let i = 0; i < batch.length; ) {
    const work = batch[i]
    if (work === undefined) break
    if (work.kind === 'run') {
      results.push(await work.run(writer))
      i++
      continue
    }
    const lists: (readonly AppendRecord[])[] = []
    for (let next = batch[i]; next?.kind === 'append'; next = batch[++i]) lists.push(next.list)
    results.push(...dividedAs(lists, await appendAll(writer, lists.length === 1 ? work.list : lists.flat())))
  }
  return results
}

/** Divides the outcomes of all records into one list of outcomes for each list of records. */
function dividedAs(
  lists: readonly (readonly AppendRecord[])[],
  outcomes: readonly AppendOutcome[],
): readonly (readonly AppendOutcome[])[] {
  let from = 0
  return lists.map((list) => outcomes.slice(from, (from += list.length)))
}

function pause(timers: Timers, ms: number): Promise<void> {
  return new Promise((resolve) => timers.after(ms, resolve))
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
