import { TAG } from '@docrelay/protocol/frames'
import { expect, it, onTestFinished } from 'vitest'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { startBench } from '../testing/gateway-bench.ts'
import { untilAsync } from '../testing/room-fixture.ts'
import { ByteBuckets } from './byte-buckets.ts'

const MIB = 1_048_576

it('[WS-50] a gateway without connections has no timer, and its next connection is pinged and ended for silence like any other', async () => {
  const time = manualTime(Date.now())
  const byteBuckets = new ByteBuckets()
  const bench = await startBench({ deps: { ...time, byteBuckets } })
  onTestFinished(async () => {
    // A gateway that ends waits for its timers.
    const ticks = setInterval(() => void time.advance(100), 10)
    await bench[Symbol.asyncDispose]()
    clearInterval(ticks)
  })
  const before = time.waiting()
  const first = await bench.authed()
  expect(time.waiting()).toBeGreaterThan(before)
  first.socket.close()
  // The bucket of a workspace that has sent 24 MiB is full again after 12 s; until then the timer runs, to forget it.
  byteBuckets.take('other', 24 * MIB, time.clock.monotonicMs())
  await untilAsync(async () => [...bench.gateway.sessions.all()].length === 0, 5_000)
  await time.advance(11_500)
  expect(time.waiting()).toBeGreaterThan(before)
  await time.advance(1_000)
  expect([time.waiting(), byteBuckets.isEmpty]).toEqual([before, true])

  await time.advance(600_000)
  const silent = await bench.open('', { autoPong: false })
  silent.auth(bench.issuer.token())
  expect(await silent.nextJson(TAG.authResponse)).toMatchObject({ success: true })
  await time.advance(30_000)
  await untilAsync(async () => silent.pings === 1, 5_000)
  await time.advance(30_000)
  expect((await silent.closed).code).toBe(1006)
})
