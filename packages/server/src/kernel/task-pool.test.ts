import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTaskPool } from './task-pool.ts'
import { manualTime } from './testing/manual-time.ts'

type Task = {
  readonly do: 'echo' | 'spin' | 'sleep' | 'throw' | 'exit' | 'thread' | 'deaf' | 'count'
  readonly value?: Uint8Array | SharedArrayBuffer | number
}

let directory: string
let entry: URL
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'task-pool-'))
  const worker = new URL('./task-worker.ts', import.meta.url).href
  const source = `import { serveTasks } from '${worker}'
import { pbkdf2Sync } from 'node:crypto'
import { threadId } from 'node:worker_threads'
serveTasks((task) => {
  switch (task.do) {
    case 'echo': return { result: task.value }
    case 'thread': return { result: threadId }
    case 'throw': throw new Error('bad task')
    case 'exit': process.exit(3)
    case 'spin': for (;;);
    case 'count': for (;;) Atomics.add(new Int32Array(task.value), 0, 1)
    case 'deaf': {
      pbkdf2Sync('p', 's', 2_000_000, 64, 'sha512')
      task.value[0] = 1
      return { result: 'told' }
    }
    case 'sleep': return { result: Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task.value) }
  }
})`
  await writeFile(join(directory, 'worker.mjs'), source)
  entry = pathToFileURL(join(directory, 'worker.mjs'))
})
afterAll(() => rm(directory, { recursive: true }))

const DEADLINE_MS = 20_000

describe('task pool', () => {
  it('[C4] every task is answered, also with more tasks than threads, and transferred buffers are moved', async () => {
    await using pool = openTaskPool<Task, unknown>({ entry, size: 2 })
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, value) => pool.run({ task: { do: 'echo', value }, deadlineMs: DEADLINE_MS })),
    )
    expect(outcomes).toEqual(Array.from({ length: 10 }, (_, result) => ({ kind: 'done', result })))
    const bytes = new Uint8Array(new ArrayBuffer(1000)).fill(7)
    const moved = pool.run({ task: { do: 'echo', value: bytes }, transfer: [bytes.buffer], deadlineMs: DEADLINE_MS })
    expect(bytes.byteLength).toBe(0)
    expect(await moved).toEqual({ kind: 'done', result: new Uint8Array(1000).fill(7) })
  })

  it('[C4] a task over its deadline ends its worker, and the next task gets a new one', async () => {
    const time = manualTime()
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1, ...time })
    const before = await pool.run({ task: { do: 'thread' }, deadlineMs: DEADLINE_MS })
    const spinning = pool.run({ task: { do: 'spin' }, deadlineMs: 50 })
    await time.advance(49)
    expect(time.waiting()).toBe(1)
    await time.advance(1)
    expect(await spinning).toEqual({ kind: 'overdue' })
    const after = await pool.run({ task: { do: 'thread' }, deadlineMs: DEADLINE_MS })
    expect(after.kind).toBe('done')
    expect(after).not.toEqual(before)
  })

  it('[C4] a thread without a task for 30 s ends, and one with a task in the meantime stays', async () => {
    const time = manualTime()
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1, ...time })
    const thread = () => pool.run({ task: { do: 'thread' }, deadlineMs: DEADLINE_MS })
    const first = await thread()
    await time.advance(29_999)
    expect(await thread()).toEqual(first)
    await time.advance(29_999)
    expect(await thread()).toEqual(first)
    await time.advance(30_000)
    const next = await thread()
    expect(next).toMatchObject({ kind: 'done' })
    expect(next).not.toEqual(first)
  })

  it('[C4] with a deadline in processor time a starved thread gets more time, and with wall time it does not', async () => {
    const sleep = { task: { do: 'sleep', value: 60_000 }, deadlineMs: 300 } as const
    const time = manualTime()
    await using byClock = openTaskPool<Task, unknown>({ entry, size: 1, ...time })
    const slept = byClock.run(sleep)
    await time.advance(300)
    expect(await slept).toEqual({ kind: 'overdue' })
    await using byProcessor = openTaskPool<Task, unknown>({ entry, size: 1, deadline: 'processor', ...time })
    // A thread reports its processor time only after it has started.
    await byProcessor.run({ task: { do: 'echo' }, deadlineMs: DEADLINE_MS })
    const starved = byProcessor.run(sleep)
    await time.advance(4 * 300)
    expect(time.waiting()).toBe(1)
    await time.advance(300)
    expect(await starved).toEqual({ kind: 'overdue' })
    await using real = openTaskPool<Task, unknown>({ entry, size: 1, deadline: 'processor' })
    expect(await real.run({ task: { do: 'spin' }, deadlineMs: 50 })).toEqual({ kind: 'overdue' })
    // A thread in native code reports nothing, not even that it is busy, so the pool must not wait for its report.
    const value = new Uint8Array(new SharedArrayBuffer(1))
    const deaf = byProcessor.run({ task: { do: 'deaf', value }, deadlineMs: 50 })
    await time.advance(5 * 50)
    expect(await deaf).toEqual({ kind: 'overdue' })
    expect(value[0]).toBe(0)
  })

  it('[C11] a task aborted while it runs is stopped, and one aborted while it waits never begins', async () => {
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1 })
    const [first, second] = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)]
    const client = new AbortController()
    const call = { deadlineMs: DEADLINE_MS, givenUp: client.signal }
    const running = pool.run({ task: { do: 'count', value: first }, ...call })
    const waiting = pool.run({ task: { do: 'count', value: second }, ...call })
    const worked = (memory: SharedArrayBuffer) => Atomics.load(new Int32Array(memory), 0)
    await vi.waitUntil(() => worked(first) > 0, { timeout: DEADLINE_MS })
    client.abort()
    expect([await running, await waiting]).toEqual([{ kind: 'givenUp' }, { kind: 'givenUp' }])
    // The thread ends a moment after the answer.
    let before = -1
    await vi.waitUntil(() => before === (before = worked(first)), { timeout: DEADLINE_MS })
    expect(worked(second)).toBe(0)
    expect(await pool.run({ task: { do: 'echo', value: 1 }, deadlineMs: DEADLINE_MS })).toEqual({ kind: 'done', result: 1 })
  })

  it('[C11] aborting a task just before it finishes does not end its thread', async () => {
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1 })
    const call = { task: { do: 'thread' }, deadlineMs: DEADLINE_MS } as const
    const before = await pool.run(call)
    const client = new AbortController()
    const givenUp = pool.run({ ...call, givenUp: client.signal })
    client.abort()
    expect([await givenUp, await pool.run(call)]).toEqual([before, before])
  })

  it('[C4] a task that ends its thread is answered first, and the next task gets a new thread', async () => {
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1 })
    const call = { task: { do: 'thread' }, deadlineMs: DEADLINE_MS } as const
    const [first, second, third] = [await pool.run({ ...call, endsThread: true }), await pool.run(call), await pool.run(call)]
    expect([first.kind, second.kind]).toEqual(['done', 'done'])
    expect(first).not.toEqual(second)
    expect(third).toEqual(second)
  })

  it('[OPS-8] a task that throws or ends its worker fails alone', async () => {
    await using pool = openTaskPool<Task, unknown>({ entry, size: 1 })
    expect(await pool.run({ task: { do: 'throw' }, deadlineMs: DEADLINE_MS })).toEqual({ kind: 'failed', detail: 'bad task' })
    expect((await pool.run({ task: { do: 'exit' }, deadlineMs: DEADLINE_MS })).kind).toBe('failed')
    expect(await pool.run({ task: { do: 'echo', value: 1 }, deadlineMs: DEADLINE_MS })).toEqual({ kind: 'done', result: 1 })
  })

  it('[C4] a closed pool answers the waiting tasks and refuses new ones', async () => {
    const pool = openTaskPool<Task, unknown>({ entry, size: 1 })
    const running = pool.run({ task: { do: 'spin' }, deadlineMs: DEADLINE_MS })
    const waiting = pool.run({ task: { do: 'echo' }, deadlineMs: DEADLINE_MS })
    await pool[Symbol.asyncDispose]()
    expect([(await running).kind, (await waiting).kind]).toEqual(['failed', 'failed'])
    expect((await pool.run({ task: { do: 'echo' }, deadlineMs: DEADLINE_MS })).kind).toBe('failed')
  })
})
