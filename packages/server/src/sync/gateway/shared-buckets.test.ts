import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { describe, expect, it } from 'vitest'
import type { RateLimiter, Taking } from '../../access/rate-limiter.port.ts'
import { memoryRateLimiter } from '../../drivers/memory-limits.ts'
import { systemClock } from '../../kernel/clock.ts'
import { patience } from '../../kernel/testing/patience.ts'
import { headOf, startBench } from '../testing/gateway-bench.ts'

const EDIT = (n: number): Uint8Array => syncFrame(2, Uint8Array.of(0, 0, n))

/** A limiter that answers after `delayMs`, like one whose buckets are shared with other nodes. */
function laterLimiter(delayMs: () => number): RateLimiter {
  const limiter = memoryRateLimiter(systemClock)
  const later = async <T>(answer: () => T): Promise<T> => {
    await new Promise((resolve) => setTimeout(resolve, delayMs()))
    return answer()
  }
  return { take: (...asked) => later(() => limiter.take(...asked)), left: (...asked) => later(() => limiter.left(...asked)) }
}

describe('a write bucket that answers asynchronously', () => {
  it('[WS-11] [WS-28] frames that wait for tokens stay in order, and a frame without a token is refused', async () => {
    let delayMs = 30
    const rateLimiter = laterLimiter(() => (delayMs -= 10))
    await using bench = await startBench({ deps: { rateLimiter }, settings: { writes: { ratePerSec: 0.1, burst: 2 } } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc', {}, ['ack'])
    for (const n of [1, 2, 3]) client.send(EDIT(n))
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_RATE_LIMIT', frame: 3 })
    expect(bench.workers.of('sync').map(({ payload, ordinal }) => [payload.at(-1), ordinal])).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(bench.gateway.metrics().counters.rateLimited.ws).toBe(1)
  })

  it('[WS-29] a resync waits until an asynchronous bucket gives it one token', async () => {
    const taken: Taking[] = []
    const limiter = laterLimiter(() => 5)
    const rateLimiter: RateLimiter = {
      left: limiter.left,
      take: async (...asked) => {
        const taking = await limiter.take(...asked)
        taken.push(taking)
        return taking
      },
    }
    await using bench = await startBench({ deps: { rateLimiter }, settings: { writes: { ratePerSec: 5, burst: 1 } } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    client.send(EDIT(1))
    client.send(EDIT(2))
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_RATE_LIMIT' })
    await expect.poll(() => bench.workers.of('resync').length, { timeout: patience(3_000) }).toBe(1)
    client.send(syncFrame(1, Uint8Array.of(0, 0)))
    await expect.poll(() => bench.workers.of('sync').length).toBe(2)
    expect(taken.filter((taking) => taking.taken)).toHaveLength(2)
  })

  it('[WS-54] a write whose document is deleted while it waits for its token gets ERR_DELETED with its ordinal', async () => {
    let answer = (): void => undefined
    const rateLimiter: RateLimiter = {
      left: () => 0,
      take: () =>
        new Promise((resolve) => {
          answer = () => resolve({ taken: true })
        }),
    }
    await using bench = await startBench({ deps: { rateLimiter } })
    const head = bench.store.put(headOf('doc'))
    const client = await bench.joined('doc', {}, ['ack'])
    client.send(EDIT(1))
    client.send(EDIT(2))
    await client.settled()
    bench.store.bury(head)
    await bench.rooms.drop(head)
    answer()
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_DELETED', frame: 1 })
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_DELETED', frame: 2 })
    expect(bench.workers.of('sync')).toEqual([])
  })

  it('[WS-40] [WS-41] a write that waits for its token is not acknowledged, and its ERROR comes before its ack', async () => {
    const asked: ((taking: Taking) => void)[] = []
    const rateLimiter: RateLimiter = {
      left: () => 0,
      take: () => new Promise((resolve) => void asked.push(resolve)),
    }
    await using bench = await startBench({ deps: { rateLimiter } })
    const { workers } = bench
    bench.store.put(headOf('doc'))
    workers.settles = false
    const client = await bench.joined('doc', {}, ['ack'])
    client.send(EDIT(1))
    await expect.poll(() => asked.length).toBe(1)
    asked[0]?.({ taken: true })
    await expect.poll(() => workers.of('sync').length).toBe(1)
    client.send(EDIT(2))
    await expect.poll(() => asked.length).toBe(2)
    const [first] = workers.of('sync')
    if (first === undefined) throw new Error('nothing was handed over')
    workers.emit({ kind: 'settled', connection: first.connection, join: first.join, ordinal: 1 })
    await client.settled()
    expect(client.of(TAG.syncAck).map((frame) => frame[1])).toEqual([1])
    asked[1]?.({ taken: false, retryAfterMs: 60_000 })
    await expect.poll(() => client.of(TAG.syncAck).map((frame) => frame[1])).toEqual([1, 2])
    expect(client.jsonOf(TAG.error)).toMatchObject([{ code: 'ERR_RATE_LIMIT', frame: 2 }])
    const told = client.tags().filter((tag) => tag === TAG.syncAck || tag === TAG.error)
    expect(told).toEqual([TAG.syncAck, TAG.error, TAG.syncAck])
  })
})
