import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RateLimiter } from '../../access/rate-limiter.port.ts'
import { memoryRateLimiter } from '../../drivers/memory-limits.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'
import type { TestClient } from '../testing/test-client.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'

const UPDATE = Uint8Array.of(0, 0)
const EDIT = syncFrame(2, UPDATE)
const ALL = { settings: { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null } }

describe('SYNC frames', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench(ALL)
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-27] SYNC without a joined document is dropped without an answer', async () => {
    const client = await bench.authed()
    client.send(EDIT)
    client.send(TAG.sync, 9)
    await client.settled()
    expect(client.tags()).toEqual([TAG.authResponse, TAG.heartbeat])
  })

  it('[WS-25] [G12] the worker gets one step1 at a time; a second step1 and later frames wait', async () => {
    const client = await bench.joined('doc')
    const { post } = bench.workers
    bench.workers.post = (_worker, message) => void bench.workers.posted.push(message)
    const before = bench.workers.of('sync').length
    for (let at = 0; at < 3; at++) client.send(syncFrame(0, Uint8Array.of(0)))
    client.send(EDIT)
    await client.settled()
    const asked = bench.workers.of('sync').slice(before)
    expect(asked).toHaveLength(1)
    const { connection, join } = lastSync(bench)
    bench.workers.post = post
    bench.workers.emit({ kind: 'direct', connection, join, frames: [syncFrame(1, UPDATE)] })
    for (let at = 0; at < 3; at++) await client.next(TAG.sync)
    await client.settled()
    expect(
      bench.workers
        .of('sync')
        .slice(before)
        .map((sync) => sync.payload[0]),
    ).toEqual([0, 0, 0, 2])
  })

  it('[WS-31] an update goes to every other connection of the room as one frame of sub-type 2, and not to its sender', async () => {
    bench.store.put(headOf('room'))
    const sender = await bench.joined('room')
    const others = await Promise.all([bench.joined('room'), bench.joined('room')])
    const outside = await bench.joined('doc')
    const payload = Uint8Array.of(1, 2, 3, 4, 5)
    sender.send(syncFrame(2, payload))
    for (const other of others) expect([...(await other.next(TAG.sync))]).toEqual([...syncFrame(2, payload)])
    await sender.settled()
    await outside.settled()
    expect(sender.of(TAG.sync)).toHaveLength(1)
    expect(outside.of(TAG.sync)).toHaveLength(1)
  })

  it('[WS-30] [WS-27] at level view the gateway refuses an update itself and hands a step2 to the room', async () => {
    const client = await bench.joined('doc', { role: 'viewer' }, ['ack'])
    const syncs = bench.workers.of('sync').length
    client.send(EDIT)
    expect(await client.nextJson(TAG.error)).toEqual({
      error: expect.stringMatching(/^ERR_EDIT_FORBIDDEN: /),
      code: 'ERR_EDIT_FORBIDDEN',
      requestId: null,
      frame: 1,
    })
    expect(bench.workers.of('sync').length).toBe(syncs)
    client.send(syncFrame(1, UPDATE))
    await client.settled()
    expect(bench.workers.of('sync').at(-1)).toMatchObject({ ordinal: 2 })
  })

  it('[WS-8] [WS-42] an AWARENESS frame that is not exactly one message is a violation; a valid one is handed to the room', async () => {
    const client = await bench.joined('doc')
    client.send(TAG.awareness, 1, 0)
    await client.settled()
    expect([...(bench.workers.of('awareness').at(-1)?.payload ?? [])]).toEqual([0])
    for (let at = 0; at < 3; at++) client.send(TAG.awareness, 9, 0)
    expect(await client.closed).toMatchObject({ code: 1003 })
  })

  it('[WS-48] AWARENESS frames take no write token', async () => {
    await using tight = await startBench({ settings: { writes: { ratePerSec: 1, burst: 1 } } })
    tight.store.put(headOf('doc'))
    const client = await tight.joined('doc')
    for (let at = 0; at < 10; at++) client.send(TAG.awareness, 1, 0)
    await client.settled()
    expect(client.of(TAG.error)).toEqual([])
    expect(tight.workers.of('awareness')).toHaveLength(10)
  })
})

describe('SYNC_ACK frames', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench(ALL)
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-38] a client without the ack feature gets no SYNC_ACK, no frame member and no ERR_SYNC_GAP', async () => {
    const client = await bench.joined('doc', { sub: 'bob' })
    client.send(EDIT)
    await client.settled()
    const { connection, join } = lastSync(bench)
    bench.workers.emit({ kind: 'refused', connection, join, ordinal: 1, code: 'ERR_SYNC_GAP', text: 'gap', violation: false })
    bench.workers.emit({ kind: 'refused', connection, join, ordinal: 1, code: 'ERR_BAD_UPDATE', text: 'bad', violation: false })
    await client.settled()
    expect(client.of(TAG.syncAck)).toEqual([])
    expect(client.jsonOf(TAG.error)).toEqual([{ error: 'ERR_BAD_UPDATE: bad', code: 'ERR_BAD_UPDATE', requestId: null }])
  })

  it('[WS-39] [WS-40] [WS-41] an ack waits for the oldest unsettled message, and follows the ERRORs it covers', async () => {
    bench.workers.settles = false
    const client = await bench.joined('doc', {}, ['ack'])
    for (let at = 0; at < 3; at++) client.send(EDIT)
    await client.settled()
    expect(client.of(TAG.syncAck)).toEqual([])
    const { connection, join, ordinal } = lastSync(bench)
    expect(ordinal).toBe(3)
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 1 })
    bench.workers.emit({ kind: 'refused', connection, join, ordinal: 2, code: 'ERR_BAD_UPDATE', text: 'bad', violation: true })
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 2 })
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 1 })
    await client.settled()
    expect(client.of(TAG.syncAck).map((frame) => frame[1])).toEqual([2])
    expect(client.tags().indexOf(TAG.error)).toBeLessThan(client.tags().indexOf(TAG.syncAck))
    expect(client.jsonOf(TAG.error)[0]).toMatchObject({ code: 'ERR_BAD_UPDATE', frame: 2 })
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 3 })
    expect((await client.next(TAG.syncAck))[1]).toBe(3)
    bench.workers.settles = true
  })

  it('[WS-40] acks and errors of an earlier JOIN_DOC are dropped', async () => {
    bench.workers.settles = false
    const client = await bench.joined('doc', {}, ['ack'])
    client.send(EDIT)
    await client.settled()
    const { connection, join } = lastSync(bench)
    client.join('doc')
    await client.next(TAG.sync)
    client.send(EDIT)
    await client.settled()
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 1 })
    await client.settled()
    expect(client.of(TAG.syncAck)).toEqual([])
    bench.workers.settles = true
  })

  it('[WS-56] the third violation that a room reports closes the socket with 1003, and so does expel', async () => {
    const client = await bench.joined('doc')
    const connection = bench.workers.of('join').at(-1)?.connection ?? 0
    for (let at = 0; at < 3; at++) bench.workers.emit({ kind: 'violation', connection })
    expect(await client.closed).toMatchObject({ code: 1003 })
    const second = await bench.joined('doc')
    bench.workers.emit({
      kind: 'expel',
      connection: bench.workers.of('join').at(-1)?.connection ?? 0,
      code: 1003,
      word: 'protocol',
    })
    expect(await second.closed).toEqual({ code: 1003, reason: 'protocol' })
  })
})

describe('write rate limit', () => {
  it('[WS-28] each SYNC message takes a write token of the workspace; the first step1 after a JOIN_DOC takes none', async () => {
    await using bench = await startBench({ settings: { writes: { ratePerSec: 1, burst: 3 } } })
    bench.store.put(headOf('doc'))
    const first = await bench.joined('doc', {}, ['ack'])
    const second = await bench.joined('doc', {}, ['ack'])
    first.send(syncFrame(0, Uint8Array.of(0)))
    second.send(syncFrame(0, Uint8Array.of(0)))
    for (const client of [first, second, first]) {
      client.send(EDIT)
      await client.settled()
    }
    expect([...first.of(TAG.error), ...second.of(TAG.error)]).toEqual([])
    second.send(EDIT)
    expect(await second.nextJson(TAG.error)).toEqual({
      error: 'ERR_RATE_LIMIT',
      code: 'ERR_RATE_LIMIT',
      requestId: null,
      frame: 2,
    })
    // The refused message is acknowledged as handled, after its ERROR.
    expect((await second.next(TAG.syncAck))[1]).toBe(2)
    expect(bench.gateway.metrics().counters.rateLimited.ws).toBe(1)
  })

  it('[WS-28] a connection at level view has its own bucket of write tokens', async () => {
    await using bench = await startBench({ settings: { writes: { ratePerSec: 0.1, burst: 2 } } })
    bench.store.put(headOf('doc', { sharedWith: [{ userId: 'eve', permission: 'view' }] }))
    const editor = await bench.joined('doc')
    const viewer = await bench.joined('doc', { sub: 'eve', role: 'viewer' })
    for (let at = 0; at < 3; at++) viewer.send(syncFrame(1, UPDATE))
    expect(await viewer.nextJson(TAG.error)).toMatchObject({ code: 'ERR_RATE_LIMIT' })
    editor.send(EDIT)
    editor.send(EDIT)
    await editor.settled()
    expect(editor.of(TAG.error)).toEqual([])
  })

  it('[WS-29] after a dropped update the resync is sent once a token is free, and its step2 takes that token', async () => {
    await using bench = await startBench({ settings: { writes: { ratePerSec: 5, burst: 1 } } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    client.send(EDIT)
    client.send(EDIT)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_RATE_LIMIT' })
    const dropped = performance.now()
    const took = stopwatch()
    await expect.poll(() => bench.workers.of('resync').length, { timeout: patience(3_000) }).toBe(1)
    expect(performance.now() - dropped).toBeGreaterThan(100)
    expect(took()).toBeLessThan(1_000)
    client.send(syncFrame(1, UPDATE))
    await client.settled()
    expect(client.of(TAG.error)).toHaveLength(1)
    expect(bench.workers.of('sync')).toHaveLength(2)
  })

  it('[WS-29] at a rate of 40 a client that types 60 times a second gets its text through at least 20 times a second', async () => {
    const time = manualTime(Date.now())
    await using bench = await startBench({ deps: time, settings: { writes: { ratePerSec: 40, burst: 40 } } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    let answered = 0
    let typed = 0
    const arrivals: number[] = []
    let looked = 0
    let has = 0
    for (let step = 1; step <= 4 * 120; step++) {
      // The client gets the step1 of the resync only a moment after the gateway has sent it.
      const asked = bench.workers.of('resync').length
      await time.advance(1_000 / 120)
      if (asked > answered) {
        answered = asked
        client.send(syncFrame(1, Uint8Array.of(0, 0, typed)))
      }
      if (step % 2 === 0) client.send(syncFrame(2, Uint8Array.of(0, 0, ++typed)))
      client.send(TAG.heartbeat)
      await client.next(TAG.heartbeat)
      for (const { payload } of bench.workers.of('sync').slice(looked)) {
        looked++
        const brought = payload.at(-1) ?? 0
        // An update after a dropped update has a gap, so it brings no text. A step2 contains all text.
        if (payload[0] !== 1 && brought !== has + 1) continue
        has = brought
        arrivals.push(step)
      }
    }
    // After two seconds the burst of 40 is used up.
    const perSecond = arrivals.filter((step) => step > 2 * 120).length / 2
    await hangUp(bench, client)
    expect(perSecond).toBeGreaterThanOrEqual(20)
    expect(perSecond).toBeLessThanOrEqual(41)
  })

  it('[WS-29] an update of a client that owes a step2 takes no token until 5 s have passed without that step2', async () => {
    const time = manualTime(Date.now())
    await using bench = await startBench({ deps: time, settings: { writes: { ratePerSec: 1, burst: 2 } } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    const send = async (count: number): Promise<number> => {
      for (let at = 0; at < count; at++) client.send(EDIT)
      client.send(TAG.heartbeat)
      await client.next(TAG.heartbeat)
      return bench.workers.of('sync').length
    }
    const handedOver = [await send(10)]
    await time.advance(1_000)
    const resyncs = bench.workers.of('resync').length
    await time.advance(2_000)
    handedOver.push(await send(10))
    await time.advance(3_000)
    handedOver.push(await send(1))
    await hangUp(bench, client)
    expect([handedOver, resyncs]).toEqual([[2, 2, 3], 1])
  })

  it('[WS-29] the resync is sent after at most 5 s even while other clients take every token', async () => {
    let offsetMs = 0
    const clock: Clock = { nowMs: systemClock.nowMs, monotonicMs: () => systemClock.monotonicMs() + offsetMs }
    const limiter = memoryRateLimiter(clock)
    let empty = false
    const rateLimiter: RateLimiter = {
      left: limiter.left,
      take: (key, bucket) => (empty ? { taken: false, retryAfterMs: 10 } : limiter.take(key, bucket)),
    }
    await using bench = await startBench({ deps: { rateLimiter, clock } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    empty = true
    client.send(EDIT)
    await client.next(TAG.error)
    offsetMs = 4_500
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(bench.workers.of('resync')).toEqual([])
    offsetMs = 5_000
    await expect.poll(() => bench.workers.of('resync').length, { timeout: patience(3_000) }).toBe(1)
    client.send(syncFrame(1, UPDATE))
    await client.settled()
    expect(bench.workers.of('sync')).toHaveLength(1)
  })
})

describe('SYNC_CHUNK frames', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench(ALL)
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-35] [WS-37] [WS-39] pieces in any order become one SYNC message with one ordinal, acknowledged once it is handled', async () => {
    const client = await bench.joined('doc', {}, ['ack'])
    const whole = Buffer.from(syncFrame(2, Buffer.alloc(500_000, 7)))
    const pieces = [whole.subarray(0, 262_144), whole.subarray(262_144)]
    client.sendChunk(5, 1, 2, pieces[1] ?? whole)
    client.send(EDIT)
    client.sendChunk(5, 0, 2, pieces[0] ?? whole)
    expect([...(await client.next(TAG.syncChunkAck))]).toEqual([TAG.syncChunkAck, ...Buffer.alloc(16, 5)])
    await client.settled()
    const syncs = bench.workers.of('sync').slice(-2)
    expect(syncs.map(({ ordinal, payload }) => [ordinal, payload.length])).toEqual([
      [1, 4],
      [2, whole.length - 1],
    ])
  })

  it('[WS-35] pieces before JOIN_DOC are ignored', async () => {
    const client = await bench.authed()
    client.sendChunk(1, 0, 1, EDIT)
    await client.settled()
    expect(client.tags()).toEqual([TAG.authResponse, TAG.heartbeat])
  })

  it('[WS-36] [WS-39] a chunked message above a limit is refused once and counts as one message and one violation', async () => {
    const client = await bench.joined('doc', {}, ['ack'])
    client.sendChunk(1, 0, 65, EDIT)
    client.sendChunk(1, 1, 65, EDIT)
    expect(await client.nextJson(TAG.error)).toEqual({
      error: 'ERR_MESSAGE_TOO_LARGE',
      code: 'ERR_MESSAGE_TOO_LARGE',
      requestId: null,
      frame: 1,
    })
    client.send(EDIT)
    expect((await client.next(TAG.syncAck))[1]).toBeGreaterThan(0)
    await client.settled()
    expect(client.of(TAG.error)).toHaveLength(1)
    expect(bench.workers.of('sync').at(-1)?.ordinal).toBe(2)
    client.sendChunk(2, 3, 2, EDIT)
    client.sendChunk(3, 0, 0, EDIT)
    expect(await client.closed).toMatchObject({ code: 1003 })
  })

  it('[WS-37] a refused chunked message is acknowledged', async () => {
    const client = await bench.joined('doc', { role: 'viewer' })
    client.sendChunk(4, 0, 1, EDIT)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    await client.next(TAG.syncChunkAck)
  })

  it('[WS-28] a reassembled message takes one write token', async () => {
    await using tight = await startBench({ settings: { writes: { ratePerSec: 0.1, burst: 1 } } })
    tight.store.put(headOf('doc'))
    const client = await tight.joined('doc')
    client.sendChunk(1, 0, 2, EDIT.subarray(0, 2))
    client.sendChunk(1, 1, 2, EDIT.subarray(2))
    client.sendChunk(2, 0, 1, EDIT)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_RATE_LIMIT' })
    expect(tight.workers.of('sync')).toHaveLength(1)
  })
})

/** Closes the client's socket and waits in real time, because the bench's clock stands still. */
async function hangUp(bench: Bench, client: TestClient): Promise<void> {
  client.socket.terminate()
  while (!bench.gateway.sessions.all().next().done) await new Promise((resolve) => setTimeout(resolve, 2))
}

function lastSync(bench: Bench): { connection: number; join: number; ordinal: number } {
  const sync = bench.workers.of('sync').at(-1)
  if (!sync) throw new Error('nothing was handed over')
  return sync
}
