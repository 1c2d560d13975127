import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRedisUnderTest, type RedisUnderTest } from '../../drivers/redis/testing/redis-under-test.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { metric } from '../wire-client.ts'
import { type Body, setShape, shapesIn } from '../live-documents.ts'

const found = await openRedisUnderTest()
if (typeof found === 'string') process.stderr.write(`skipped: ${found}\n`)

describe.skipIf(typeof found === 'string' || found.own === null)('a relay with a bus', () => {
  const server = found as RedisUnderTest
  let relay: RelayUnderTest
  const readiness = async () => {
    const response = await relay.fetch('/readyz')
    const { checks } = (await response.json()) as { checks: { bus: { ok: boolean } } }
    return [response.status, checks.bus.ok]
  }

  const shapes = async () => shapesIn((await relay.rest().getDocument('doc')) as unknown as Body)

  beforeAll(async () => {
    relay = await startRelayUnderTest({ env: { RELAY_BUS_URL: server.url, RELAY_CLUSTER_SINGLE_NODE: 'yes' } })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  it('[LIFE-27] [OPS-2] without the bus, edits go on and /readyz stays 200 with `bus` not ok; all recovers with the bus', async () => {
    expect(await readiness()).toEqual([200, true])
    expect(await metric(relay, 'relay_bus_up')).toBe(1)
    await relay.rest().putDocument('doc', { name: 'doc', pages: [{ id: 'canvas', name: 'Canvas', shapes: [] }] })
    const ann = relay.sync('doc')
    await saved(ann)
    setShape(ann, 'before')
    await saved(ann)
    await server.own?.kill('SIGKILL')
    await until('the end of the bus to show', async () => (await readiness())[1] === false)
    expect(await readiness()).toEqual([200, false])
    for (let i = 0; i < 20; i++) setShape(ann, `during-${i}`)
    await saved(ann)
    expect(await shapes()).toHaveLength(21)
    expect(await metric(relay, 'relay_bus_up')).toBe(0)
    expect(await metric(relay, 'relay_rate_local_total')).toBeGreaterThan(0)
    await server.own?.restart()
    await until('the bus to be back', async () => (await readiness())[1] === true)
    setShape(ann, 'after')
    await saved(ann)
    expect(await shapes()).toContain('after')
    expect(relay.logLines.filter((line) => /"bus\.(lost|back)"/.test(line))).toHaveLength(2)
  })
})
