import { setTimeout as passing } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { dice } from '../../kernel/testing/dice.ts'
import { systemTimers } from '../../kernel/timers.ts'
import { openRedis, type Redis, scriptOf } from './redis.ts'
import { lateRedis } from './testing/late-redis.ts'
import { openRedisUnderTest, type RedisUnderTest } from './testing/redis-under-test.ts'

const found = await openRedisUnderTest()
if (typeof found === 'string') process.stderr.write(`skipped: ${found}\n`)

describe.skipIf(typeof found === 'string')('the connection to Redis', () => {
  const server = found as RedisUnderTest
  const logged: string[] = []
  const log = { warn: (event: string) => void logged.push(event), info: (event: string) => void logged.push(event) }
  const opened: Redis[] = []
  const open = async (url = server.url, timers = systemTimers): Promise<Redis> => {
    const redis = await openRedis({ url, prefix: server.prefix, timers, log })
    opened.push(redis)
    return redis
  }
  const echo = scriptOf(`return {KEYS[1], ARGV[1]}`)
  const spent = async (work: Promise<unknown>): Promise<number> => {
    const beganMs = performance.now()
    await work.catch(() => undefined)
    return performance.now() - beganMs
  }

  /** Publishes to the channels again and again until each was heard, because a subscription begins some time after the call. */
  const expectHeard = async (redis: Redis, channels: readonly string[], heard: readonly string[]): Promise<void> => {
    const other = await open()
    await redis.run(echo, ['key'], ['x'])
    await expect
      .poll(async () => {
        for (const channel of channels) other.publish(channel, channel)
        await redis.run(echo, ['key'], ['x'])
        return channels.filter((channel) => !heard.includes(channel))
      })
      .toEqual([])
  }

  afterEach(async () => {
    for (const redis of opened.splice(0)) await redis[Symbol.asyncDispose]()
    logged.length = 0
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it('[LIFE-27] a script gets its keys with the prefix, also when the server does not know the script yet', async () => {
    const redis = await open()
    const unknown = scriptOf(`return {KEYS[1], ARGV[1]} -- ${Math.random()}`)
    expect(redis.isUp).toBe(true)
    expect(await redis.run(unknown, ['key'], [7])).toEqual([`${server.prefix}key`, '7'])
    expect(await redis.run(unknown, ['key'], ['x'])).toEqual([`${server.prefix}key`, 'x'])
  })

  it('[LIFE-27] a message reaches every listener of its channel, and no listener that has left', async () => {
    const [one, other] = [await open(), await open()]
    const heard: string[] = []
    const leave = one.subscribe('channel', (message) => void heard.push(`one ${message}`))
    other.subscribe('channel', (message) => void heard.push(`other ${message}`))
    other.subscribe('elsewhere', (message) => void heard.push(`elsewhere ${message}`))
    await expect
      .poll(async () => {
        one.publish('channel', 'first')
        await one.run(echo, ['key'], ['x'])
        return heard.includes('one first') && heard.includes('other first')
      })
      .toBe(true)
    leave()
    await one.run(echo, ['key'], ['x'])
    heard.length = 0
    one.publish('channel', 'second')
    await expect.poll(() => heard).toEqual(['other second'])
  })

  it('[LIFE-27] a channel that is unsubscribed and subscribed again at once is heard', async () => {
    const redis = await open()
    const heard: string[] = []
    const leave = redis.subscribe('channel', () => undefined)
    await redis.run(echo, ['key'], ['x'])
    leave()
    redis.subscribe('channel', (message) => void heard.push(message))
    await expectHeard(redis, ['channel'], heard)
  })

  it('[LIFE-27] a channel that is subscribed and unsubscribed many times with late answers of Redis is heard in the end', async () => {
    await using late = await lateRedis(server.url)
    // The timers are slow, so that a busy machine does not make this connection fail: after a reconnection it would subscribe to all channels anew.
    const redis = await open(late.url, { after: (ms, run) => systemTimers.after(40 * ms, run) })
    const heard: string[] = []
    const channels = Array.from({ length: 100 }, (_, at) => `channel ${at}`)
    const random = dice(1)
    await Promise.all(
      channels.map(async (channel) => {
        for (let turn = 0; turn < 4; turn++) {
          const leave = redis.subscribe(channel, () => undefined)
          await passing(random(12))
          leave()
          await passing(random(12))
        }
        redis.subscribe(channel, () => void heard.push(channel))
      }),
    )
    await expectHeard(redis, channels, heard)
    expect(logged).toEqual([])
  })

  it('[LIFE-27] a start without Redis continues within a second, and commands are then rejected at once', async () => {
    const beganMs = performance.now()
    const redis = await open('redis://127.0.0.1:1')
    expect(performance.now() - beganMs).toBeLessThan(1_500)
    expect(redis.isUp).toBe(false)
    expect(await spent(redis.run(echo, ['key'], ['x']))).toBeLessThan(50)
    expect(logged).toEqual(['bus.lost'])
  })

  it('[OPS-6] log lines contain neither the address nor the password of the bus', async () => {
    const lines: string[] = []
    const tell = (event: string, msg: string, fields?: object) => void lines.push(`${event} ${msg} ${JSON.stringify(fields)}`)
    const secret = await openRedis({
      url: server.url.replace('redis://', 'redis://somebody:pass-word-1@'),
      timers: systemTimers,
      log: { warn: tell, info: tell },
    })
    const gone = await openRedis({
      url: 'redis://u:pass-word-1@127.0.0.1:1',
      timers: systemTimers,
      log: { warn: tell, info: tell },
    })
    await secret[Symbol.asyncDispose]()
    await gone[Symbol.asyncDispose]()
    expect(lines).toHaveLength(2)
    expect(lines.join('\n')).not.toMatch(/pass-word|127\.0|somebody/)
  })

  describe.skipIf(server?.own === null)('on a server that stops', () => {
    const own = () => server.own as NonNullable<RedisUnderTest['own']>

    it('[LIFE-27] a Redis command without an answer fails after 250 ms, later ones at once, and all work 2 s after the outage', async () => {
      const redis = await open()
      const changes: boolean[] = []
      const heard: string[] = []
      redis.onChange((isUp) => changes.push(isUp))
      redis.subscribe('news', (message) => void heard.push(message))
      await redis.run(echo, ['key'], ['x'])
      await own().kill('SIGSTOP')
      const first = await spent(redis.run(echo, ['key'], ['x']))
      expect(first).toBeGreaterThan(200)
      expect(first).toBeLessThan(600)
      expect(redis.isUp).toBe(false)
      expect(await spent(redis.run(echo, ['key'], ['x']))).toBeLessThan(50)
      await own().kill('SIGCONT')
      await expect.poll(() => redis.isUp, { timeout: 3_000 }).toBe(true)
      await expect
        .poll(async () => {
          redis.publish('news', 'back')
          await redis.run(echo, ['key'], ['x'])
          return heard.includes('back')
        })
        .toBe(true)
      expect([changes, logged]).toEqual([
        [true, false, true],
        ['bus.lost', 'bus.back'],
      ])
    })

    it('[LIFE-27] after a reconnection to Redis a node listens to all of its 30,000 channels again', async () => {
      const redis = await open()
      const heard: string[] = []
      await own().kill('SIGKILL')
      await expect.poll(() => redis.isUp).toBe(false)
      for (let i = 0; i < 30_000; i++) redis.subscribe(`many:${i}`, (message) => void heard.push(`${i} ${message}`))
      const back = new Promise<void>((resolve) => redis.onChange((isUp) => isUp && resolve()))
      await own().restart()
      await back
      const told = [0, 499, 500, 29_999]
      for (const i of told) redis.publish(`many:${i}`, 'news')
      await expect.poll(() => heard).toEqual(told.map((i) => `${i} news`))
    })

    it('[LIFE-27] the bus reconnects to a server that was killed and restarted', async () => {
      const redis = await open()
      await own().kill('SIGKILL')
      await expect.poll(() => redis.isUp).toBe(false)
      await own().restart()
      await expect.poll(() => redis.isUp, { timeout: 3_000 }).toBe(true)
      expect(await redis.run(echo, ['key'], ['x'])).toEqual([`${server.prefix}key`, 'x'])
    })
  })
})
