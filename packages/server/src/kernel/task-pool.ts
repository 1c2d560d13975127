import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import { type Clock, systemClock } from './clock.ts'
import { hadItsTime, SpentTime, threadCpuMs } from './processor-time.ts'
import { systemTimers, type Timers, waitingTimers } from './timers.ts'

/** A task for a worker of a pool. Buffers in `transfer` are moved and not copied. */
export interface TaskCall<Task, Result = unknown> {
  readonly task: Task
  readonly transfer?: readonly Transferable[]
  /**
   * Time from hand-over to answer, measured as `deadline` says. A task that takes longer is ended together with its
   * worker. [C4]
   */
  readonly deadlineMs: number
  /** Ends the thread after this task, so that its memory goes back to the system at once. */
  readonly endsThread?: boolean | ((result: Result) => boolean)
  /**
   * Aborted when nobody waits for the result any more. A waiting task then never runs. A running task is ended with its thread, but not before it has
   * run for half a second.
   */
  readonly givenUp?: AbortSignal
}

/**
 * The outcome of a task. `overdue`: the deadline passed. `givenUp`: the task was aborted. `failed`: its thread ended or it threw; `detail` is for
 * logs and not for callers.
 */
export type TaskOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'givenUp' }
  | { readonly kind: 'failed'; readonly detail: string }

/** Threads for stateless work that takes too long for the main thread. `run` never rejects. */
export interface TaskPool<Task, Result> {
  run(call: TaskCall<Task, Result>): Promise<TaskOutcome<Result>>
  [Symbol.asyncDispose](): Promise<void>
}

interface Waiting<Task, Result> {
  readonly call: TaskCall<Task, Result>
  readonly settle: (outcome: TaskOutcome<Result>) => void
}

interface Running<Task, Result> {
  readonly waiting: Waiting<Task, Result>
  readonly onGivenUp: () => void
  readonly startedMs: number
  /** Processor time of the task; `null` when only wall time counts. */
  readonly spent: SpentTime | null
  /** Cancels the next check of the deadline. */
  cancel: () => void
}

interface Thread<Task, Result> {
  readonly worker: Worker
  running: Running<Task, Result> | null
  /** Cancels the timer that ends a thread without a task. */
  stay: () => void
}

const LOOK_AGAIN_MS = 50
/**
 * An aborted task that has run for less than this is not ended: a new thread would cost as much, and a caller that aborts again and again must not
 * make the relay start threads all the time.
 */
const WORTH_ENDING_MS = 500
/** A thread without a task for this long is ended, because it keeps the memory of its largest task. The next task starts a new one. */
const REST_MS = 30_000

/**
 * Opens a pool of at most `size` threads that run `entry`, a module that calls `serveTasks`. A thread starts when it is
 * needed, takes one task at a time in the order of the calls, is replaced after a deadline or a crash, and ends after 30 s
 * without a task. [C4]
 */
export function openTaskPool<Task, Result>(options: {
  readonly entry: URL
  readonly size: number
  readonly resourceLimits?: ResourceLimits
  /**
   * `processor`: the deadline counts processor time; a task on a starved thread gets up to five times as long. For
   * tasks that must not fail because the machine is busy.
   */
  readonly deadline?: 'clock' | 'processor'
  readonly clock?: Clock
  readonly timers?: Timers
}): TaskPool<Task, Result> {
  const threads = new Set<Thread<Task, Result>>()
  const queue: Waiting<Task, Result>[] = []
  const { clock = systemClock, timers = waitingTimers } = options
  // Timers for idle threads must not keep the process alive.
  const { timers: restTimers = systemTimers } = options
  const byProcessor = options.deadline === 'processor'
  let closed = false

  function settleRunning(thread: Thread<Task, Result>, outcome: TaskOutcome<Result>): void {
    const running = thread.running
    thread.running = null
    if (running === null) return
    running.cancel()
    running.waiting.call.givenUp?.removeEventListener('abort', running.onGivenUp)
    running.waiting.settle(outcome)
  }

  function endLater(thread: Thread<Task, Result>): void {
    thread.stay()
    thread.stay = restTimers.after(REST_MS, () => {
      threads.delete(thread)
      void thread.worker.terminate()
    })
  }

  function endThread(thread: Thread<Task, Result>, outcome: TaskOutcome<Result>): void {
    threads.delete(thread)
    thread.stay()
    void thread.worker.terminate()
    settleRunning(thread, outcome)
    startWaiting()
  }

  function due(thread: Thread<Task, Result>, running: Running<Task, Result>): void {
    const { waiting, startedMs, spent } = running
    const { deadlineMs } = waiting.call
    // A timer may fire a fraction of a millisecond early.
    const waitedMs = Math.max(deadlineMs, clock.monotonicMs() - startedMs)
    const usedMs = spent && spent.usedMs
    if (hadItsTime(deadlineMs, { waitedMs, usedMs })) return endThread(thread, { kind: 'overdue' })
    void spent?.measure(() => threadCpuMs(thread.worker))
    running.cancel = timers.after(LOOK_AGAIN_MS, () => due(thread, running))
  }

  /** Ends an aborted task once that saves more than a new thread costs. */
  function endSoon(thread: Thread<Task, Result>, running: Running<Task, Result>): void {
    running.cancel()
    const leftMs = WORTH_ENDING_MS - (clock.monotonicMs() - running.startedMs)
    running.cancel = timers.after(Math.max(0, leftMs), () => endThread(thread, { kind: 'givenUp' }))
  }

  function openThread(): Thread<Task, Result> {
    const worker = new Worker(options.entry, { resourceLimits: options.resourceLimits ?? {} })
    const thread: Thread<Task, Result> = { worker, running: null, stay: () => undefined }
    worker.on('message', (answer: TaskOutcome<Result>) => {
      if (thread.running !== null && endsThread(thread.running.waiting.call, answer)) return endThread(thread, answer)
      settleRunning(thread, answer)
      endLater(thread)
      startWaiting()
    })
    worker.on('error', (error) =>
      endThread(thread, { kind: 'failed', detail: error instanceof Error ? error.message : String(error) }),
    )
    worker.on('exit', () => endThread(thread, { kind: 'failed', detail: 'the worker ended' }))
    worker.unref()
    threads.add(thread)
    return thread
  }

  function startWaiting(): void {
    while (queue.length > 0 && !closed) {
      if (queue[0]?.call.givenUp?.aborted) {
        queue.shift()?.settle({ kind: 'givenUp' })
        continue
      }
      const idle = [...threads].find((thread) => thread.running === null)
      const thread = idle ?? (threads.size < options.size ? openThread() : null)
      if (thread === null) return
      const waiting = queue.shift() as Waiting<Task, Result>
      const { givenUp } = waiting.call
      const running: Running<Task, Result> = {
        waiting,
        onGivenUp: () => endSoon(thread, running),
        startedMs: clock.monotonicMs(),
        spent: byProcessor ? new SpentTime(idle === undefined ? 0 : null) : null,
        cancel: timers.after(waiting.call.deadlineMs, () => due(thread, running)),
      }
      thread.running = running
      thread.stay()
      givenUp?.addEventListener('abort', running.onGivenUp, { once: true })
      void running.spent?.measure(() => threadCpuMs(thread.worker))
      thread.worker.postMessage(waiting.call.task, waiting.call.transfer ?? [])
    }
  }

  return {
    run(call) {
      if (closed) return Promise.resolve({ kind: 'failed', detail: 'the pool is closed' })
      return new Promise((settle) => {
        queue.push({ call, settle })
        startWaiting()
      })
    },
    async [Symbol.asyncDispose]() {
      closed = true
      for (const waiting of queue.splice(0)) waiting.settle({ kind: 'failed', detail: 'the pool is closed' })
      for (const thread of threads) thread.stay()
      await Promise.all([...threads].map((thread) => thread.worker.terminate()))
    },
  }
}

function endsThread<Task, Result>({ endsThread: ends = false }: TaskCall<Task, Result>, answer: TaskOutcome<Result>): boolean {
  if (typeof ends === 'boolean') return ends
  return answer.kind === 'done' && ends(answer.result)
}
