import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../kernel/log.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { openRedis, type Redis, scriptOf } from './redis.ts'
import { redisHints } from './redis-hints.ts'
import { openRedisUnderTest, type RedisUnderTest } from './testing/redis-under-test.ts'

const found = await openRedisUnderTest()
if (typeof found === 'string') process.stderr.write(`skipped: ${found}\n`)

describe.skipIf(typeof found === 'string')('hints over Redis', () => {
  const server = found as RedisUnderTest
  const opened: Redis[] = []
  /** This script returns after the server has handled everything that was sent before it. */
  const arrived = scriptOf('return 1')

  const node = async () => {
    const redis = await openRedis({ url: server.url, prefix: server.prefix, timers: systemTimers, log: silentLogger })
    opened.push(redis)
    const hints = redisHints(redis)
    const heard: (readonly [string, number])[] = []
    hints.onHint((workspaceId, id) => void heard.push([workspaceId, id]))
    return { redis, hints, heard, arrived: () => redis.run(arrived, ['x'], []) }
  }
  afterEach(async () => {
    for (const redis of opened.splice(0)) await redis[Symbol.asyncDispose]()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it('[LIFE-27] a hint reaches only the nodes that follow its workspace', async () => {
    const [sender, follower, stranger] = [await node(), await node(), await node()]
    follower.hints.follow('ws')
    stranger.hints.follow('elsewhere')
    await Promise.all([follower.arrived(), stranger.arrived()])
    sender.hints.publish('ws', 7)
    sender.hints.publish('nobody', 8)
    await expect.poll(() => follower.heard).toEqual([['ws', 7]])
    expect(stranger.heard).toEqual([])
  })

  it('[LIFE-27] hints of a workspace arrive until its last follower leaves, and leaving twice counts once', async () => {
    const [sender, follower] = [await node(), await node()]
    const [first, second] = [follower.hints.follow('ws'), follower.hints.follow('ws')]
    await follower.arrived()
    first()
    first()
    await follower.arrived()
    sender.hints.publish('ws', 1)
    await expect.poll(() => follower.heard).toEqual([['ws', 1]])
    second()
    await follower.arrived()
    sender.hints.publish('ws', 2)
    await sender.arrived()
    await follower.arrived()
    expect(follower.heard).toEqual([['ws', 1]])
  })

  it('[LIFE-27] garbage on the channel of a workspace is ignored', async () => {
    const [stranger, follower] = [await node(), await node()]
    follower.hints.follow('ws')
    await follower.arrived()
    const garbage = [
      '',
      '0',
      '-1',
      '1.5',
      '1e3',
      ' 1',
      '01',
      'x',
      '99999999999999999999',
      '9007199254740993',
      '\u0000',
      '{"id":1}',
      'x'.repeat(1_000_000),
    ]
    for (const text of garbage) stranger.redis.publish('h:{ws}', text)
    stranger.redis.publish('h:{ws}', '5')
    await expect.poll(() => follower.heard).toEqual([['ws', 5]])
  })

  it('[LIFE-27] a hint that cannot be sent is dropped without an error', async () => {
    const redis = await openRedis({ url: 'redis://127.0.0.1:1', timers: systemTimers, log: silentLogger })
    opened.push(redis)
    const hints = redisHints(redis)
    const leave = hints.follow('ws')
    hints.publish('ws', 1)
    leave()
  })
})
