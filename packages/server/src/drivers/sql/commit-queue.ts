import type { Clock } from '../../kernel/clock.ts'
import { RelayError } from '../../kernel/errors.ts'
import { Load } from '../../kernel/load.ts'
import type { Logger } from '../../kernel/log.ts'
import { commitAtMs, LOAD_MEMORY_MS } from '../../kernel/schedule.ts'
import type { AppendOutcome, AppendRecord } from '../../sync/update-log.port.ts'
import { type BatchFailure, type BatchOptions, type BatchWork, OWN_FAULTS, runBatch } from './commit-batch.ts'
import type { Writer } from './tables.ts'

export interface CommitQueueOptions extends BatchOptions {
  readonly commitDelayMs: number
  readonly clock: Clock
  readonly log: Logger
  /** Called once, when this handle can no longer confirm anything. [D10] */
  readonly onFatal: (error: Error) => void
  /** Whether other nodes run the same jobs on this store. */
  readonly sharesJobs?: boolean
}

interface Job {
  readonly records: number
  readonly bytes: number
  readonly queuedAtMs: number
  readonly work: BatchWork
  resolve(value: unknown): void
  reject(error: Error): void
}

type Attempt = { readonly kind: 'committed' } | BatchFailure

export const COMMIT_AT_RECORDS = 256
export const COMMIT_AT_BYTES = 1 << 20
/** Limit of queued bytes. Above it new work is refused, so that a slow disk does not make the queue grow without bound. */
export const MAX_QUEUED_BYTES = 64 << 20
/** Maximum number of records in one transaction. A longer backlog is split into several commits. */
const MAX_COMMIT_RECORDS = 4096
const MAX_COMMIT_BYTES = 8 << 20
/** Shorter waits use `setImmediate`, because a timer waits at least 1 ms. */
const SHORTEST_WAIT_MS = 0.5
const RACE_RETRIES = 3
const WRITE_ERROR_WINDOW_MS = 60_000
const APPEND_SAMPLES = 1000

export interface CommitStats {
  /** Seconds from queueing to durable of the appends since the previous call, at most the last 1,000. */
  readonly appendSeconds: readonly number[]
  readonly queuedBytes: number
  readonly commits: number
  readonly records: number
  readonly failures: number
}

/**
 * Group commit: one transaction for everything queued, from all documents and ports. [LIFE-4, D6]
 *
 * When no commit is running and few records arrive, a commit starts at once. Under load the queue gathers records, and longer the more arrive: at
 * most `commitDelayMs` after the first record, less when no record arrives for a quarter of that time, and until 256 records or 1 MiB. When one call
 * fails, by its statement, an exception or damaged rows, only that call is rejected: the batch is rolled back and its calls run again one by one.
 * When the disk, the connection or the COMMIT fails, every call of the batch is rejected with NOT_PERSISTED, and later calls are tried again. After a
 * lost flush nothing is tried any more.
 */
export class CommitQueue {
  readonly #options: CommitQueueOptions
  #jobs: Job[] = []
  #records = 0
  #bytes = 0
  /** Number of queued jobs that are not appends. */
  #runs = 0
  #running: Promise<void> | null = null
  #wake: { readonly immediate: boolean; cancel(): void } | null = null
  readonly #load = new Load(LOAD_MEMORY_MS)
  #state: 'open' | 'closing' | 'broken' = 'open'
  #healthy = true
  #lastWriteErrorMs = Number.NEGATIVE_INFINITY
  #samples: number[] = []
  #commits = 0
  #committedRecords = 0
  #failures = 0

  constructor(options: CommitQueueOptions) {
    this.#options = options
  }

  append(records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    let bytes = 0
    for (const { update, removals = '' } of records) bytes += update.byteLength + removals.length
    return this.#submit<readonly AppendOutcome[]>({ kind: 'append', list: records }, records.length, bytes)
  }

  run<T>(bytes: number, run: (writer: Writer) => Promise<T>): Promise<T> {
    return this.#submit<T>({ kind: 'run', run }, 1, bytes)
  }

  /**
   * Runs one batch of a maintenance job. When several nodes have the job, one node at a time runs a batch, and `job` returns `idle` at once on the
   * others. Two simultaneous batches would be wasteful but not wrong. [LIFE-30]
   */
  job<T>(name: string, idle: T, run: (writer: Writer) => Promise<T>): Promise<T> {
    const { sharesJobs = false, database } = this.#options
    if (!sharesJobs) return this.run(0, run)
    return this.run(0, async (writer) => ((await database.engine.tryJob(writer, name)) ? run(writer) : idle))
  }

  /** False after a failed commit or a call that met damage, until a commit succeeds. [LIFE-6] */
  get healthy(): boolean {
    return this.#healthy && this.#state !== 'broken'
  }

  stats(): CommitStats {
    const appendSeconds = this.#samples
    this.#samples = []
    return {
      appendSeconds,
      queuedBytes: this.#bytes,
      commits: this.#commits,
      records: this.#committedRecords,
      failures: this.#failures,
    }
  }

  /** Commits the queue and refuses later calls. */
  async close(): Promise<void> {
    if (this.#state === 'open') this.#state = 'closing'
    while (this.#jobs.length > 0 || this.#running !== null) await (this.#running ?? this.#start())
  }

  #submit<T>(work: BatchWork, records: number, bytes: number): Promise<T> {
    if (this.#state !== 'open') {
      return Promise.reject(this.#state === 'broken' ? brokenError() : new RelayError('UNAVAILABLE', 'the store is closing'))
    }
    if (this.#bytes > 0 && this.#bytes + bytes > MAX_QUEUED_BYTES) {
      return Promise.reject(new RelayError('UNAVAILABLE', `the store has ${this.#bytes} bytes waiting and takes no more`))
    }
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({
        records,
        bytes,
        work,
        queuedAtMs: this.#options.clock.monotonicMs(),
        resolve: resolve as Job['resolve'],
        reject,
      })
      this.#records += records
      this.#bytes += bytes
      if (work.kind === 'run') this.#runs++
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#running !== null) return
    const first = this.#jobs[0]
    if (first === undefined) return
    const full = this.#records >= COMMIT_AT_RECORDS || this.#bytes >= COMMIT_AT_BYTES
    // The caller of a job that is not an append waits for the answer before it continues, so gathering would only delay it.
    const dueInMs = full || this.#runs > 0 ? 0 : this.#commitAtMs(first) - this.#options.clock.monotonicMs()
    if (this.#wake !== null) {
      if (dueInMs >= SHORTEST_WAIT_MS || this.#wake.immediate) return
      this.#wake.cancel()
    }
    const wake = (next: () => unknown) => () => {
      this.#wake = null
      next()
    }
    if (dueInMs >= SHORTEST_WAIT_MS) {
      const cancel = this.#options.timers.after(
        dueInMs,
        wake(() => this.#schedule()),
      )
      this.#wake = { immediate: false, cancel }
    } else {
      // Starts in a later turn, so that messages that have already arrived share the commit.
      const immediate = setImmediate(wake(() => this.#start()))
      this.#wake = { immediate: true, cancel: () => clearImmediate(immediate) }
    }
  }

  #commitAtMs(first: Job): number {
    const newest = this.#jobs[this.#jobs.length - 1] ?? first
    const perSecond = this.#load.perSecond(first.queuedAtMs)
    return commitAtMs({ firstMs: first.queuedAtMs, newestMs: newest.queuedAtMs }, perSecond, this.#options.commitDelayMs)
  }

  #start(): Promise<void> {
    this.#wake?.cancel()
    this.#wake = null
    this.#running ??= this.#commitNext().finally(() => {
      this.#running = null
      this.#schedule()
    })
    return this.#running
  }

  async #commitNext(): Promise<void> {
    const batch = this.#take()
    if (batch.length === 0) return
    const nowMs = this.#options.clock.monotonicMs()
    this.#load.add(
      batch.reduce((records, job) => records + job.records, 0),
      nowMs,
    )
    const attempt = await this.#attempt(batch)
    if (attempt.kind === 'committed') return
    if (batch.length === 1 || !ownFault(attempt)) return this.#reject(batch, attempt)
    for (const job of batch) await this.#alone(job)
  }

  #take(): Job[] {
    let records = 0
    let bytes = 0
    let count = 0
    for (const job of this.#jobs) {
      if (count > 0 && (records + job.records > MAX_COMMIT_RECORDS || bytes + job.bytes > MAX_COMMIT_BYTES)) break
      records += job.records
      bytes += job.bytes
      count++
      if (job.work.kind === 'run') this.#runs--
    }
    this.#records -= records
    this.#bytes -= bytes
    return this.#jobs.splice(0, count)
  }

  async #alone(job: Job): Promise<void> {
    if (this.#state === 'broken') return job.reject(brokenError())
    const attempt = await this.#attempt([job])
    if (attempt.kind !== 'committed') this.#reject([job], attempt)
  }

  /** Runs the batch in one transaction and answers its calls only after the commit. */
  async #attempt(batch: readonly Job[]): Promise<Attempt> {
    for (let retry = 0; ; retry++) {
      const attempt = await this.#transact(batch)
      if (attempt.kind !== 'undone' || attempt.fault !== 'lost-race' || retry === RACE_RETRIES) return attempt
    }
  }

  async #transact(batch: readonly Job[]): Promise<Attempt> {
    const works = batch.map(({ work }) => work)
    const ran = await runBatch(works, this.#options, (results) => settle(batch, results))
    if (ran.kind !== 'ran') return ran
    this.#healthy = true
    this.#commits++
    const now = this.#options.clock.monotonicMs()
    for (const job of batch) {
      this.#committedRecords += job.records
      if (job.work.kind === 'append' && this.#samples.length < APPEND_SAMPLES) this.#samples.push((now - job.queuedAtMs) / 1000)
    }
    settle(batch, ran.results)
    return { kind: 'committed' }
  }

  #reject(batch: readonly Job[], attempt: BatchFailure): void {
    const { log } = this.#options
    const { error } = attempt
    this.#failures += batch.length
    if (!ownFault(attempt)) {
      this.#healthy = false
      log.error('storage.commit-failed', 'a commit failed; nothing of it is acknowledged', {
        error: error.message,
        calls: batch.length,
      })
      for (const job of batch) job.reject(new RelayError('NOT_PERSISTED', 'the write could not be confirmed durable'))
      return this.#countFault(attempt)
    }
    // The whole store may be damaged, so the queue counts as unhealthy until a commit succeeds.
    if (attempt.fault === 'damage') this.#healthy = false
    if (!(error instanceof RelayError)) log.error('storage.call-failed', 'a call failed and was undone', { error: error.message })
    for (const job of batch) job.reject(ownError(attempt))
  }

  /** Ends all writing when a flush was lost, or when the disk refused bytes twice within a minute. */
  #countFault({ error, fault }: BatchFailure): void {
    const now = this.#options.clock.monotonicMs()
    const again = fault === 'write-error' && now - this.#lastWriteErrorMs < WRITE_ERROR_WINDOW_MS
    if (fault === 'write-error') this.#lastWriteErrorMs = now
    if ((fault !== 'broken' && !again) || this.#state === 'broken') return
    this.#state = 'broken'
    for (const job of this.#jobs.splice(0)) job.reject(brokenError())
    this.#records = 0
    this.#bytes = 0
    this.#options.onFatal(error)
  }
}

/** Whether a call caused the rollback, not the disk or the server. */
function ownFault({ kind, fault }: BatchFailure): boolean {
  return kind === 'undone' && OWN_FAULTS.has(fault)
}

function ownError({ error, fault }: BatchFailure): Error {
  if (error instanceof RelayError) return error
  if (fault === 'lost-race') return new RelayError('UNAVAILABLE', 'too many writers met on the same rows; nothing was written')
  if (fault === 'busy') return new RelayError('UNAVAILABLE', 'another process holds the rows too long; nothing was written')
  return new RelayError('INTERNAL', 'the store could not do this call; nothing was written')
}

function brokenError(): RelayError {
  return new RelayError('UNAVAILABLE', 'the store failed and takes no writes')
}

function settle(batch: readonly Job[], results: readonly unknown[]): void {
  for (const [i, job] of batch.entries()) job.resolve(results[i])
}
