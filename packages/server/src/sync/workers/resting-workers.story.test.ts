import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { untilAsync } from '../testing/room-fixture.ts'
import { createDocument, openTestStorage } from '../testing/worker-harness.ts'
import type { FromWorker } from '../worker-messages.ts'
import { openDocumentWorkers } from './document-workers.ts'

it('[C2] a worker ends 10 s after its last room has closed; the first worker starts again at once, the heavy worker when it is needed', async () => {
  await using storage = await openTestStorage()
  const time = manualTime()
  let starts = 0
  await using workers = openDocumentWorkers({
    count: 1,
    storagePort() {
      starts++
      return storage.workerPort()
    },
    log: silentLogger,
    options: { first: 1, ...time },
  })
  const got: { readonly worker: number; readonly message: FromWorker }[] = []
  workers.onMessage((worker, message) => got.push({ worker, message }))
  const ends: number[] = []
  workers.onEnded((worker) => ends.push(worker))
  let [rooms, jobs] = [0, 0]
  /** Waits until `holds` returns true. It advances the clock meanwhile, because messages to a worker may wait for the clock. */
  async function told(holds: () => boolean): Promise<void> {
    const holdsSoon = async (): Promise<boolean> => {
      await time.advance(1)
      return holds()
    }
    await untilAsync(holdsSoon, 10_000)
  }
  async function open(worker: number): Promise<() => Promise<void>> {
    const { key, workspaceId, id } = await createDocument(storage.documents)
    const room = ++rooms
    workers.post(worker, { kind: 'open', room, ref: { workspaceId, id }, key })
    await told(() => got.some(({ message }) => message.kind === 'opened' && message.room === room))
    return async () => {
      const job = ++jobs
      workers.post(worker, { kind: 'job', job, room, task: { kind: 'evict' } })
      const isEvicted = ({ message }: (typeof got)[number]): boolean =>
        message.kind === 'done' && message.job === job && message.outcome.kind === 'evicted'
      await told(() => got.some(isEvicted))
      // The worker reports once more after its last room has closed. After this report it has nothing left to do.
      const closedAt = got.findIndex(isEvicted)
      await told(() =>
        got.slice(closedAt).some((each) => each.worker === worker && each.message.kind === 'report' && each.message.rooms === 0),
      )
    }
  }

  // A worker that reports after a message without a room does not count as a worker that had rooms.
  workers.spentElsewhere([['w1', 5]])
  await told(() => got.some(({ message }) => message.kind === 'report'))
  await time.advance(60_000)
  expect(starts).toBe(1)
  const heavy = workers.count + 1
  const [closeFirst, closeHeavy] = [await open(0), await open(heavy)]
  expect(starts).toBe(2)
  await closeHeavy()
  const reports = () => got.filter(({ message }) => message.kind === 'report').length
  for (let i = 0; i < 6; i++) {
    const before = reports()
    workers.spentElsewhere([['w1', 5]])
    await time.advance(2_000)
    await told(() => reports() > before)
  }
  expect(starts).toBe(2)
  await (await open(heavy))()
  expect(starts).toBe(3)
  await closeFirst()
  await time.advance(9_000)
  expect(starts).toBe(3)
  await time.advance(2_000)
  expect(starts).toBe(4)
  await (await open(0))()
  expect(starts).toBe(4)
  expect(ends).toEqual([])
})
