import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { expect, it } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import { headOf, startBench } from '../testing/gateway-bench.ts'
import { ByteBuckets } from './byte-buckets.ts'

it('[W4] [WS-28] with an empty bucket of bytes, only the first step1 after a JOIN_DOC is answered', async () => {
  const byteBuckets = new ByteBuckets()
  byteBuckets.take('default', 2 ** 40, systemClock.monotonicMs())
  await using bench = await startBench({ deps: { byteBuckets } })
  bench.store.put(headOf('doc'))
  const client = await bench.joined('doc')
  const askState = async () => {
    client.send(syncFrame(0, Uint8Array.of(0)))
    await client.settled()
    return { asked: bench.workers.of('sync').length, refused: client.of(TAG.error).length }
  }
  expect(await askState()).toEqual({ asked: 1, refused: 0 })
  expect(await askState()).toEqual({ asked: 1, refused: 1 })
})
