import { afterAll, describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { describeSessionFactsContract } from '../../mcp/session-facts.contract.ts'
import { MemorySessionFacts } from '../../mcp/testing/memory-session-facts.ts'
import { openRedis, type Redis, scriptOf } from './redis.ts'
import { redisSessionFacts } from './redis-session-facts.ts'
import { openRedisUnderTest, type RedisUnderTest } from './testing/redis-under-test.ts'

const shared = new MemorySessionFacts()
describeSessionFactsContract('memory', { open: async (limit) => shared.node(limit) })

const found = await openRedisUnderTest()
if (typeof found === 'string') process.stderr.write(`skipped: ${found}\n`)

describe.skipIf(typeof found === 'string')('facts of MCP sessions in Redis', () => {
  const server = found as RedisUnderTest
  const opened: Redis[] = []
  const connect = async (url = server.url): Promise<Redis> => {
    const redis = await openRedis({ url, prefix: server.prefix, timers: systemTimers, log: silentLogger })
    opened.push(redis)
    return redis
  }
  afterAll(async () => {
    for (const redis of opened) await redis[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  describeSessionFactsContract('Redis', { open: async (limit) => redisSessionFacts(await connect(), limit) })

  it('[LIFE-27] without Redis no session facts are kept, and no call rejects', async () => {
    const facts = redisSessionFacts(await connect('redis://127.0.0.1:1'))
    const leave = facts.listen('s', () => undefined)
    facts.tell('s', { kind: 'changed' })
    await facts.setLogLevel('s', 'ann', 'debug')
    await facts.unsubscribe('s', 'relay://doc/a')
    await facts.close('s')
    expect([await facts.read('s'), await facts.subscribe('s', 'ann', 'relay://doc/a', 100)]).toEqual([null, null])
    leave()
  })

  it('[LIFE-27] garbage under the key and on the channel of a session is ignored', async () => {
    const [redis, stranger] = [await connect(), await connect()]
    const facts = redisSessionFacts(redis)
    const heard: unknown[] = []
    await stranger.run(
      scriptOf(`redis.call('RPUSH', KEYS[1], 'x') redis.call('SET', KEYS[2], 'y') return 1`),
      ['mcp:g', 'mcp-of:g'],
      [],
    )
    facts.listen('g', (hint) => void heard.push(hint))
    expect(await facts.read('g')).toEqual({ isClosed: false, logLevel: null, subscriptions: [] })
    expect(await facts.subscribe('g', 'ann', 'relay://doc/a', 100)).toBe('added')
    for (const text of [
      '',
      'x',
      'null',
      '[]',
      '{}',
      '{"kind":"cancel"}',
      '{"kind":"stream","token":1}',
      '{"kind":"other"}',
      `"${'x'.repeat(5_000)}"`,
    ])
      stranger.publish('mcp:g', text)
    stranger.publish('mcp:g', '{"kind":"changed"}')
    await expect.poll(() => heard).toEqual([{ kind: 'changed' }])
  })

  it('[MCP-34] session facts are kept for 24 h after their last use, the mark of a closed session for an hour', async () => {
    const redis = await connect()
    const facts = redisSessionFacts(redis)
    const ttl = scriptOf(`return redis.call('PTTL', KEYS[1])`)
    await facts.setLogLevel('t', 'ann', 'debug')
    expect(Number(await redis.run(ttl, ['mcp:t'], []))).toBeGreaterThan(23.9 * 3_600_000)
    await redis.run(scriptOf(`return redis.call('PEXPIRE', KEYS[1], 1000)`), ['mcp:t'], [])
    await facts.read('t')
    expect(Number(await redis.run(ttl, ['mcp:t'], []))).toBeGreaterThan(23.9 * 3_600_000)
    await facts.close('t')
    await facts.read('t')
    const left = Number(await redis.run(ttl, ['mcp:t'], []))
    expect(left).toBeGreaterThan(3_600_000)
    expect(left).toBeLessThan(2 * 3_600_000)
  })
})
