import { type ResourceLimits, type Transferable, Worker } from 'node:worker_threads'
import { type Clock, systemClock } from './clock.ts'
import { hadItsTime, SpentTime, threadCpuMs } from './processor-time.ts'

/** A task as the worker of a pool gets it; `transfer` moves buffers instead of copying them. */
export interface TaskCall<Task> {
  readonly task: Task
  readonly transfer?: readonly Transferable[]
  /** Time from hand-over to answer, of the clock or as `deadline` says. A task that is over it is ended together with its worker. [C4] */
  readonly deadlineMs: number
  /** Ends the thread after this task, so that the memory it took goes back to the system at once. */
  readonly endsThread?: boolean
}

/** `overdue`: the deadline passed. `failed`: the worker ended or the task threw; the detail is for logs, not for callers. */
export type TaskOutcome<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'overdue' }
  | { readonly kind: 'failed'; readonly detail: string }

/** Threads for stateless work that is too long for the main one. `run` never rejects. */
export interface TaskPool<Task, Result> {
  run(call: TaskCall<Task>): Promise<TaskOutcome<Result>>
  [Symbol.asyncDispose](): Promise<void>
}

interface Waiting<Task, Result> {
  readonly call: TaskCall<Task>
  readonly settle: (outcome: TaskOutcome<Result>) => void
}

interface Running<Task, Result> {
  readonly waiting: Waiting<Task, Result>
  readonly startedMs: number
  /** `null`: only the clock counts. */
  readonly spent: SpentTime | null
  timer: NodeJS.Timeout
}

interface Thread<Task, Result> {
  readonly worker: Worker
  running: Running<Task, Result> | null
}

const LOOK_AGAIN_MS = 50

/**
 * Opens a pool of at most `size` threads that run `entry`, a module that calls `serveTasks`. Threads start when they are needed, take one
 * task at a time in the order of the calls, and are replaced after a deadline or a crash.
 */
export function openTaskPool<Task, Result>(options: {
  readonly entry: URL
  readonly size: number
  readonly resourceLimits?: ResourceLimits
  /** `processor`: a task on a machine that hardly runs it is waited for, up to five times its deadline; for what must not fail by that. */
  readonly deadline?: 'clock' | 'processor'
  readonly clock?: Clock
}): TaskPool<Task, Result> {
  const threads = new Set<Thread<Task, Result>>()
  const queue: Waiting<Task, Result>[] = []
  const clock = options.clock ?? systemClock
  const byProcessor = options.deadline === 'processor'
  let closed = false

  function settleRunning(thread: Thread<Task, Result>, outcome: TaskOutcome<Result>): void {
    const running = thread.running
    thread.running = null
    if (running === null) return
    clearTimeout(running.timer)
    running.waiting.settle(outcome)
  }

  function endThread(thread: Thread<Task, Result>, outcome: TaskOutcome<Result>): void {
    threads.delete(thread)
    void thread.worker.terminate()
    settleRunning(thread, outcome)
    startWaiting()
  }

  function due(thread: Thread<Task, Result>, running: Running<Task, Result>): void {
    const { waiting, startedMs, spent } = running
    const { deadlineMs } = waiting.call
    // A timer may come a fraction early.
    const waitedMs = Math.max(deadlineMs, clock.monotonicMs() - startedMs)
    if (hadItsTime(deadlineMs, { waitedMs, usedMs: spent && spent.usedMs })) return endThread(thread, { kind: 'overdue' })
    void spent?.measure(() => threadCpuMs(thread.worker))
    running.timer = setTimeout(() => due(thread, running), LOOK_AGAIN_MS)
  }

  function openThread(): Thread<Task, Result> {
    const worker = new Worker(options.entry, { resourceLimits: options.resourceLimits ?? {} })
    const thread: Thread<Task, Result> = { worker, running: null }
    worker.on('message', (answer: TaskOutcome<Result>) => {
      if (thread.running?.waiting.call.endsThread === true) return endThread(thread, answer)
      settleRunning(thread, answer)
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
      const idle = [...threads].find((thread) => thread.running === null)
      const thread = idle ?? (threads.size < options.size ? openThread() : null)
      if (thread === null) return
      const waiting = queue.shift() as Waiting<Task, Result>
      const running: Running<Task, Result> = {
        waiting,
        startedMs: clock.monotonicMs(),
        spent: byProcessor ? new SpentTime(idle === undefined ? 0 : null) : null,
        timer: setTimeout(() => due(thread, running), waiting.call.deadlineMs),
      }
      thread.running = running
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
      await Promise.all([...threads].map((thread) => thread.worker.terminate()))
    },
  }
}
