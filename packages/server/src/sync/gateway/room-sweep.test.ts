import { expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { headOf, startBench, TestStore } from '../testing/gateway-bench.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { openRooms } from './rooms.ts'

const MIB = 1_048_576

function openAlone(cacheMaxBytes: number | null) {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  const rooms = openRooms({ workers, store: new TestStore(), ...time, log: silentLogger, cacheMaxBytes })
  const heads = new Map<string, ReturnType<typeof headOf>>()
  const enter = async (id: string) => {
    const head = heads.get(id) ?? headOf(id)
    heads.set(id, head)
    const entered = await rooms.enter(head)
    if (entered.kind !== 'open') throw new Error(entered.kind)
    return entered.room
  }
  const resident = (...ids: string[]) => ids.filter((id) => rooms.isResident(headOf(id)))
  return { time, workers, rooms, enter, resident }
}

function report(workers: ScriptedWorkers, bytes: readonly (readonly [room: number, bytes: number])[]): void {
  const cacheBytes = bytes.reduce((sum, [, own]) => sum + own, 0)
  const roomBytes = Float64Array.from(bytes.flat())
  workers.emit({
    kind: 'report',
    rooms: bytes.length,
    cacheBytes,
    roomBytes,
    oldestUnsavedMs: 0,
    counters: {},
    appendSeconds: [],
  })
}

it('[LIFE-17] [CFG-10] above doc_cache_max_bytes the documents that nobody has joined are evicted, the longest idle first, until the rest fits', async () => {
  const { time, workers, enter, resident } = openAlone(10 * MIB)
  const numbers: number[] = []
  for (const id of ['a', 'b', 'c', 'd']) {
    numbers.push((await enter(id)).number)
    await time.advance(1_500)
  }
  // Document `a` is entered again, so it has been idle for less time than the others.
  await enter('a')
  await time.advance(1_500)
  report(
    workers,
    numbers.map((number) => [number, 4 * MIB]),
  )
  await time.advance(1_100)
  expect(workers.of('job').map(({ task }) => task.kind)).toEqual(['evict', 'evict'])
  expect(resident('a', 'b', 'c', 'd')).toEqual(['a', 'd'])
})

it('[LIFE-17] documents within doc_cache_max_bytes stay for 30 s, and without that limit documents of any size do', async () => {
  for (const limit of [10 * MIB, null]) {
    const { time, workers, enter, resident } = openAlone(limit)
    const numbers = [(await enter('a')).number, (await enter('b')).number]
    report(
      workers,
      numbers.map((number) => [number, limit === null ? 900 * MIB : 5 * MIB]),
    )
    await time.advance(28_000)
    expect(resident('a', 'b')).toEqual(['a', 'b'])
  }
})

it('[LIFE-17] a document of any size is not evicted within a second of its opening', async () => {
  const { time, workers, enter, resident } = openAlone(MIB)
  await time.advance(500)
  const { number } = await enter('big')
  report(workers, [[number, 100 * MIB]])
  await time.advance(600)
  expect(resident('big')).toEqual(['big'])
  await time.advance(1_000)
  expect(resident('big')).toEqual([])
})

it('[LIFE-17] a joined document of any size is not evicted and does not count', async () => {
  await using bench = await startBench({ rooms: { cacheMaxBytes: MIB } })
  bench.store.put(headOf('joined'))
  await bench.joined('joined')
  const room = bench.workers.of('open')[0]?.room ?? 0
  report(bench.workers, [[room, 100 * MIB]])
  await new Promise((resolve) => setTimeout(resolve, 2_200))
  expect(bench.workers.of('job')).toEqual([])
})
