import { afterEach, describe, expect, it } from 'vitest'
import { memoryRateLimiter } from '../drivers/memory-limits.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import { until } from '../test/relay-under-test.ts'
import type { RateLimiter } from '../access/rate-limiter.port.ts'
import { createRate, type Taken } from './rate.ts'
import { type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { legacy, META, modern } from './testing/requests.ts'

const write = { bucket: 'write', tokens: 1 } as const

/** Makes a rate limit with a manual clock, and a list that tells in order how each call ended. */
function rateOf(bucket: { readonly ratePerSec: number; readonly burst: number }, answers: 'at once' | 'later' = 'at once') {
  const time = manualTime()
  const limiter = memoryRateLimiter(time.clock)
  const shared: RateLimiter = { left: limiter.left, take: async (...asked) => limiter.take(...asked) }
  const told: string[] = []
  const take = createRate({
    limiter: answers === 'later' ? shared : limiter,
    buckets: { read: bucket, write: bucket },
    keyOf: (kind, workspaceId) => `${kind}:${workspaceId}`,
    peopleShare: 50,
    timers: time.timers,
    clock: time.clock,
    refused: () => told.push('counted'),
  })
  const tellTaken = (name: string, taken: Taken, signal: AbortSignal): void => {
    if (taken.kind === 'taken') return void told.push(`${name} at once`)
    void taken.wait(signal).then(
      () => told.push(`${name} waited`),
      (error: unknown) => told.push(`${name} ${error instanceof Error ? error.message.slice(0, 14) : String(error)}`),
    )
  }
  const call = (name: string, { mayWait = true, workspace = 'w', signal = new AbortController().signal } = {}): void => {
    const tellRefused = (error: unknown): void => void told.push(`${name} ${(error as Error).message.slice(0, 14)}`)
    try {
      const taken = take(workspace, write, mayWait)
      if (taken instanceof Promise) void taken.then((known) => tellTaken(name, known, signal), tellRefused)
      else tellTaken(name, taken, signal)
    } catch (error) {
      tellRefused(error)
    }
  }
  return { time, limiter, told, call }
}

describe('calls that wait for their token', () => {
  it('[AG-87] waiting calls get their tokens in order of arrival, each within 2 s', async () => {
    const { time, told, call } = rateOf({ ratePerSec: 2, burst: 1 })
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) call(name)
    expect(told).toEqual(['a at once'])
    await time.advance(500)
    expect(told.at(-1)).toBe('b waited')
    await time.advance(1_500)
    const heard = told.filter((each) => each !== 'counted')
    expect(heard).toEqual(['a at once', 'b waited', 'c waited', 'd waited', 'e waited', 'f ERR_RATE_LIMIT'])
    await time.advance(1_000)
    call('g')
    expect(told.at(-1)).toBe('g at once')
  })

  it('[AG-87] waiting calls get their tokens in order of arrival, also from an asynchronous bucket', async () => {
    const { time, told, call } = rateOf({ ratePerSec: 2, burst: 1 }, 'later')
    for (const name of ['a', 'b', 'c', 'd']) call(name)
    await time.advance(1_600)
    expect(told).toEqual(['a at once', 'b waited', 'c waited', 'd waited'])
    call('e', { mayWait: false })
    await time.advance(0)
    expect(told.slice(4)).toEqual(['counted', 'e ERR_RATE_LIMIT'])
  })

  it('[AG-87] a call that arrives while another one waits may wait 2 s from its own arrival', async () => {
    const { time, told, call } = rateOf({ ratePerSec: 0.8, burst: 1 })
    call('a')
    call('b')
    await time.advance(1_200)
    call('c')
    await time.advance(50)
    expect(told).toEqual(['a at once', 'b waited'])
    await time.advance(1_250)
    expect(told).toEqual(['a at once', 'b waited', 'c waited'])
  })

  it('[AG-87] a call from an unnamed client, or with a token due later than in 2 s, is refused at once', () => {
    const { told, call } = rateOf({ ratePerSec: 0.4, burst: 1 })
    call('a')
    call('b')
    call('c', { mayWait: false })
    expect(told).toEqual(['a at once', 'counted', 'b ERR_RATE_LIMIT', 'counted', 'c ERR_RATE_LIMIT'])
  })

  it('[AG-87] at most 64 calls of a workspace wait', async () => {
    const { time, told, call } = rateOf({ ratePerSec: 40, burst: 1 })
    for (let i = 0; i < 70; i++) call(String(i))
    call('other', { workspace: 'v' })
    expect(told.filter((each) => each.includes('ERR_RATE_LIMIT'))).toHaveLength(5)
    expect(told.at(-1)).toBe('other at once')
    await time.advance(2_000)
    expect(told.filter((each) => each.endsWith('waited'))).toHaveLength(64)
  })

  it('[AG-87] an aborted waiting call takes no token and does not delay the others', async () => {
    const { time, told, call } = rateOf({ ratePerSec: 1, burst: 1 })
    const controller = new AbortController()
    call('a')
    call('b', { signal: controller.signal })
    call('c')
    controller.abort('left')
    await time.advance(1_000)
    expect(told).toEqual(['a at once', 'b left', 'c waited'])
  })

  it('[AG-86] while people write, a call leaves them their share of tokens and waits for the refill', async () => {
    const { time, limiter, told, call } = rateOf({ ratePerSec: 40, burst: 80 })
    limiter.take('write:w', { ratePerSec: 40, burst: 80 }, 40, { kind: 'person' })
    call('a')
    expect(told).toEqual([])
    await time.advance(200)
    expect(told).toEqual(['a waited'])
  })
})

describe('which calls wait for a token', () => {
  let relay: McpRelay
  afterEach(() => relay[Symbol.asyncDispose]())

  it('[AG-87] a call in a session or with clientInfo waits for a token, and any other call is refused', async () => {
    relay = await startMcpRelay({ buckets: { write: { ratePerSec: 1, burst: 1 } } })
    const change = legacy('tools/call', { name: 'service_change' })
    const opened = await relay.send(
      legacy('initialize', { protocolVersion: '2025-11-25', clientInfo: { name: 'a', version: '1' } }),
    )
    const session = { ...change, headers: { 'mcp-session-id': String(opened.headers['mcp-session-id']) } }
    const named = modern('tools/call', { name: 'service_change' })
    const { 'io.modelcontextprotocol/clientInfo': _, ...bare } = META
    expect((await relay.send(change)).status).toBe(200)
    for (const request of [named, session]) {
      const before = relay.time.waiting()
      const answer = relay.send(request)
      await until('the call to wait', () => relay.time.waiting() > before)
      expect((await relay.send(change)).status).toBe(429)
      expect((await relay.send(modern('tools/call', { name: 'service_change' }, { meta: bare }))).status).toBe(429)
      await relay.time.advance(1_000)
      expect((await answer).status).toBe(200)
    }
  })
})
