import { expect, it } from 'vitest'
import { systemRandom } from '../../kernel/ids.ts'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { createDocument, openTestStorage, until } from '../testing/worker-harness.ts'
import type { FromWorker } from '../worker-messages.ts'
import { DocumentWorker } from './document-worker.ts'

/** Starts a worker in this thread, with its own store and a clock that the test advances. */
async function workerAtHand() {
  await using opened = new AsyncDisposableStack()
  const { documents, updates, recovery } = opened.use(await openTestStorage())
  const time = manualTime()
  const got: FromWorker[] = []
  const worker = opened.use(
    new DocumentWorker({
      ...{ documents, updates, recovery, clock: time.clock, timers: time.timers, random: systemRandom, log: silentLogger },
      post: (messages) => got.push(...messages),
    }),
  )
  const all = opened.move()
  return { worker, time, got, documents, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

it('[C2] a home reports twice a second while it has rooms, once after its last room has closed, and then sets no timer', async () => {
  await using at = await workerAtHand()
  const { worker, time, got, documents } = at
  const reports = () => got.filter(({ kind }) => kind === 'report').length
  expect(time.waiting()).toBe(0)
  const { workspaceId, id, key } = await createDocument(documents)
  worker.receive([{ kind: 'open', room: 1, ref: { workspaceId, id }, key }])
  await until(() => got.some(({ kind }) => kind === 'opened'))
  for (let beat = 0; beat < 6; beat++) await time.advance(500)
  expect(reports()).toBe(6)
  worker.receive([{ kind: 'job', job: 1, room: 1, task: { kind: 'drop' } }])
  await until(() => got.some(({ kind }) => kind === 'done'))
  for (let beat = 0; beat < 6; beat++) await time.advance(500)
  expect(reports()).toBe(7)
  expect(time.waiting()).toBe(0)
})

it('[LIFE-17] a report contains the bytes of each room and their sum', async () => {
  await using at = await workerAtHand()
  const { worker, time, got, documents } = at
  for (const room of [7, 9]) {
    const { workspaceId, id, key } = await createDocument(documents)
    worker.receive([{ kind: 'open', room, ref: { workspaceId, id }, key }])
    await until(() => got.some((message) => message.kind === 'opened' && message.room === room))
    // Reads the whole document, so that it is in memory.
    worker.receive([{ kind: 'job', job: room, room, task: { kind: 'encode' } }])
    await until(() => got.some((message) => message.kind === 'done' && message.job === room))
  }
  await time.advance(500)
  const report = got.find((message) => message.kind === 'report')
  const [first, bytes = 0, second, others = 0] = report?.roomBytes ?? []
  expect([first, second, report?.roomBytes.length]).toEqual([7, 9, 4])
  expect(Math.min(bytes, others)).toBeGreaterThan(0)
  expect(report?.cacheBytes).toBe(bytes + others)
})

it('[C6] a room that is dropped and opened again at once under the same number works', async () => {
  await using at = await workerAtHand()
  const { worker, got, documents } = at
  const { workspaceId, id, key } = await createDocument(documents)
  const open = { kind: 'open', room: 1, ref: { workspaceId, id }, key } as const
  const opened = () => got.filter(({ kind }) => kind === 'opened').length
  worker.receive([open])
  await until(() => opened() === 1)
  worker.receive([{ kind: 'job', job: 1, room: 1, task: { kind: 'drop' } }, open])
  await until(() => opened() === 2 && got.some((message) => message.kind === 'done' && message.job === 1))
  worker.receive([{ kind: 'job', job: 2, room: 1, task: { kind: 'encode' } }])
  await until(() => got.some((message) => message.kind === 'done' && message.job === 2))
  expect(got.find((message) => message.kind === 'done' && message.job === 2)).not.toMatchObject({ outcome: { kind: 'failed' } })
})
