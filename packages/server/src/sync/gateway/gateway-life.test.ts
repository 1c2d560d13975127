import { setTimeout as wait } from 'node:timers/promises'
import { readSync, syncFrame } from '@docrelay/protocol/codec'
import { retryAfterMs } from '@docrelay/protocol/codes'
import { TAG } from '@docrelay/protocol/frames'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../kernel/clock.ts'
import { headOf, startBench } from '../testing/gateway-bench.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'

const FREE = { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null }

/** A monotonic clock that a test moves forward. */
function shiftedClock(): { clock: typeof systemClock; shift(ms: number): void } {
  let offsetMs = 0
  return {
    clock: { nowMs: systemClock.nowMs, monotonicMs: () => systemClock.monotonicMs() + offsetMs },
    shift: (ms) => (offsetMs += ms),
  }
}

describe('detecting dead sockets', () => {
  it('[WS-50] [W7] the server pings every 30 s, terminates a socket silent for 60 s and frees its seat', async () => {
    const { clock, shift } = shiftedClock()
    await using bench = await startBench({ settings: { maxConnectionsPerWorkspace: 2 }, deps: { clock } })
    const silent = await bench.open('', { autoPong: false })
    silent.auth(bench.issuer.token())
    await silent.next(TAG.authResponse)
    const alive = await bench.authed()
    shift(30_000)
    await wait(600)
    expect([silent.pings, alive.pings]).toEqual([1, 1])
    shift(30_000)
    expect((await silent.closed).code).toBe(1006)
    await alive.settled()
    expect(alive.socket.readyState).toBe(alive.socket.OPEN)
    await bench.authed()
  })

  it('[WS-36] [WS-39] chunks without progress for 10 s close with 1009 when the client has acks, and ask for a resync otherwise', async () => {
    const { clock, shift } = shiftedClock()
    await using bench = await startBench({ settings: FREE, deps: { clock } })
    bench.store.put(headOf('doc'))
    const counting = await bench.joined('doc', {}, ['ack'])
    const plain = await bench.joined('doc')
    const header = Buffer.alloc(24, 1)
    header.writeUInt32BE(0, 16)
    header.writeUInt32BE(2, 20)
    for (const client of [counting, plain]) {
      client.send(TAG.syncChunk, header, Buffer.alloc(10))
      await client.settled()
    }
    shift(10_000)
    expect(await counting.closed).toEqual({ code: 1009, reason: 'chunk-expired' })
    await wait(400)
    expect(bench.workers.of('resync')).toHaveLength(1)
    expect(plain.socket.readyState).toBe(plain.socket.OPEN)
  })

  it('[WS-56] violations more than 60 s apart do not add up to a close', async () => {
    const { clock, shift } = shiftedClock()
    await using bench = await startBench({ deps: { clock } })
    const client = await bench.authed()
    client.socket.send('text')
    client.socket.send('text')
    await client.settled()
    shift(31_000)
    await wait(400)
    shift(31_000)
    client.socket.send('text')
    await client.settled()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })
})

describe('slow readers', () => {
  it('[WS-55] [W6] N-8 a paused reader later gets a few merged updates and the same document, and other clients see no delay', async () => {
    await using bench = await startBench({ settings: FREE })
    bench.store.put(headOf('doc'))
    const slow = await bench.joined('doc')
    const quick = await bench.joined('doc')
    const { room } = bench.workers.of('join')[0] ?? { room: 0 }
    slow.socket.pause()
    const source = new Y.Doc()
    const text = source.getText('t')
    const emitted: Uint8Array[] = []
    source.on('update', (update: Uint8Array) => emitted.push(update))
    for (let at = 0; at < 400; at++) {
      text.insert(0, `${at}:${'x'.repeat(20_000)}`)
      text.delete(10, 19_000)
    }
    for (const update of emitted) {
      bench.workers.emit({ kind: 'updates', room, updates: [update], senders: [0] })
      await new Promise((resolve) => setImmediate(resolve))
    }
    await quick.settled()
    const quickFrames = quick.of(TAG.sync).length
    expect(quickFrames).toBe(emitted.length + 1)
    slow.socket.resume()
    const slowDoc = new Y.Doc()
    const givenUp = patienceClock(5_000)
    let applied = 0
    while (slowDoc.getText('t').length !== text.length && !givenUp()) {
      await wait(20)
      for (const frame of slow.of(TAG.sync).slice(applied)) {
        applied++
        const read = readSync(frame.subarray(1))
        if (read?.subType === 2) Y.applyUpdate(slowDoc, read.payload)
      }
    }
    expect(slowDoc.getText('t').toString()).toBe(text.toString())
    expect(slow.of(TAG.sync).length).toBeLessThan(quickFrames)
    expect(slow.socket.readyState).toBe(slow.socket.OPEN)
    const last = await slow.settled().then(() => slow.of(TAG.sync).length)
    bench.workers.emit({ kind: 'updates', room, updates: [Uint8Array.of(0, 0)], senders: [0] })
    await slow.settled()
    expect(slow.of(TAG.sync).length).toBe(last + 1)
  })

  it('[WS-55] [WS-58] a socket above the send bound is closed with 1013 and counted, other sockets stay open', async () => {
    await using bench = await startBench({ settings: { ...FREE, wsBufferBytes: 3 * 1024 * 1024 } })
    bench.store.put(headOf('doc'))
    const slow = await bench.joined('doc')
    const quick = await bench.joined('doc')
    const { room } = bench.workers.of('join')[0] ?? { room: 0 }
    slow.socket.pause()
    const doc = new Y.Doc()
    const emitted: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => emitted.push(update))
    for (let at = 0; at < 200; at++) doc.getText('t').insert(0, 'y'.repeat(100_000))
    for (const update of emitted) {
      bench.workers.emit({ kind: 'updates', room, updates: [update], senders: [0] })
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bench.gateway.metrics().counters.slowConsumerCloses).toBe(1)
    expect(bench.gateway.metrics().counters.closes.get(1013)).toBe(1)
    await quick.settled()
    expect(quick.socket.readyState).toBe(quick.socket.OPEN)
    slow.socket.resume()
    const { code, reason } = await slow.closed
    expect(code).toBe(1013)
    expect(reason).toMatch(/^slow-consumer;retry-after=\d+$/)
  })

  it('[WS-55] [WS-26] a single large step2 may exceed the send bound', async () => {
    await using bench = await startBench({ settings: { ...FREE, wsBufferBytes: 2 * 1024 * 1024 } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    client.socket.pause()
    const { connection, join } = bench.workers.of('join')[0] ?? { connection: 0, join: 0 }
    bench.workers.emit({ kind: 'direct', connection, join, frames: [syncFrame(1, new Uint8Array(12 * 1024 * 1024))] })
    await wait(100)
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    client.socket.resume()
    expect((await client.next(TAG.sync)).length).toBeGreaterThan(12 * 1024 * 1024)
    await client.settled()
  })
})

describe('writes that are not settled yet', () => {
  it('[WS-12] a connection with 8 MiB of unsettled writes is not read until they are settled', async () => {
    await using bench = await startBench({ settings: { ...FREE, maxPayloadBytes: 4 * 1024 * 1024 } })
    bench.store.put(headOf('doc'))
    bench.workers.settles = false
    bench.workers.broadcasts = false
    const client = await bench.joined('doc', {}, ['ack'])
    for (let at = 0; at < 4; at++) client.send(syncFrame(2, new Uint8Array(3 * 1024 * 1024)))
    await expect.poll(() => bench.workers.of('sync')).toHaveLength(3)
    await wait(100)
    expect(bench.workers.of('sync')).toHaveLength(3)
    const { connection, join } = bench.workers.of('sync')[0] ?? { connection: 0, join: 0 }
    bench.workers.emit({ kind: 'settled', connection, join, ordinal: 3 })
    expect((await client.next(TAG.syncAck))[1]).toBe(3)
    await client.settled()
    expect(bench.workers.of('sync')).toHaveLength(4)
  })
})

describe('sending clients to other nodes', () => {
  it('[WS-57] [OPS-2] sendElsewhere closes every socket with a short random retry-after, and accepts new sockets', async () => {
    await using bench = await startBench({ settings: FREE })
    const clients = await Promise.all(Array.from({ length: 12 }, () => bench.authed()))
    await bench.gateway.sendElsewhere(50)
    const closes = await Promise.all(clients.map(({ closed }) => closed))
    for (const { code, reason } of closes) {
      expect([code, reason]).toEqual([1012, expect.stringMatching(/^unavailable;retry-after=\d+$/)])
      expect(retryAfterMs(reason)).toBeGreaterThanOrEqual(50)
      expect(retryAfterMs(reason)).toBeLessThanOrEqual(800)
    }
    expect(new Set(closes.map(({ reason }) => reason)).size).toBeGreaterThan(1)
    await bench.authed()
  })
})
