import { jsonFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Verification } from '../../auth/principal.ts'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'
import { patienceClock } from '../../kernel/testing/patience.ts'

const STEP1 = Uint8Array.of(TAG.sync, 0, 1, 0)

describe('reading frames', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench()
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-8] reserved and unknown frame tags are ignored and count as no violation', async () => {
    const client = await bench.authed()
    for (const tag of [3, 4, 5, 6, 11, 12, 13, 19, 99, 255]) client.send(tag, 1, 2, 3)
    await client.settled()
    expect(client.tags().filter((tag) => tag !== TAG.heartbeat)).toEqual([TAG.authResponse])
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  const bad: readonly (readonly [string, string | Buffer])[] = [
    ['text', 'hello'],
    ['empty', Buffer.alloc(0)],
    ...[7, 8, 9, 15, 17].map((tag) => [`tag ${tag}`, Buffer.of(tag, 1)] as const),
  ]
  it.each(bad)('[WS-8] [WS-56] [WS-58] the third %s message closes the socket with 1003', async (_name, message) => {
    const client = await bench.authed()
    client.socket.send(message)
    client.socket.send(message)
    await client.settled()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    client.socket.send(message)
    expect(await client.closed).toEqual({ code: 1003, reason: 'protocol' })
  })

  it('[WS-9] an ERROR frame has exactly the members error, code and requestId null without the ack feature', async () => {
    const client = await bench.authed()
    client.join('missing')
    expect(await client.nextJson(TAG.error)).toEqual({ error: 'ERR_UNKNOWN_DOC', code: 'ERR_UNKNOWN_DOC', requestId: null })
  })

  it('[WS-59] invalid JSON and a member of the wrong type answer ERR_BAD_FRAME and count as violations', async () => {
    const client = await bench.authed()
    client.send(TAG.joinDoc, Buffer.from('{'))
    expect(await client.nextJson(TAG.error)).toMatchObject({
      code: 'ERR_BAD_FRAME',
      error: expect.stringMatching(/^ERR_BAD_FRAME: /),
    })
    client.send(jsonFrame(TAG.joinDoc, { docId: 7 }))
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_BAD_FRAME' })
    client.send(TAG.joinDoc, Buffer.of(0xff))
    expect(await client.closed).toMatchObject({ code: 1003 })
  })

  it('[WS-10] a SYNC sub-type other than 0, 1 and 2 answers ERR_BAD_FRAME', async () => {
    const client = await bench.joined('doc')
    client.send(TAG.sync, 3, 0)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_BAD_FRAME' })
  })

  it('[WS-11] AUTH, JOIN_DOC and step1 sent in one burst are handled in order', async () => {
    const client = await bench.open()
    client.auth(bench.issuer.token())
    client.join('doc')
    client.send(STEP1)
    await client.next(TAG.authResponse)
    expect([...(await client.next(TAG.sync))]).toEqual([0, 0, 1, 0])
    expect((await client.next(TAG.sync))[1]).toBe(1)
  })

  it('[WS-13] a message above the size cap closes with 1009, before and after AUTH, and is not dispatched', async () => {
    const before = await bench.open()
    before.send(TAG.heartbeat, Buffer.alloc(262_144))
    expect(await before.closed).toEqual({ code: 1009, reason: 'frame-too-large' })
    expect(before.frames).toEqual([])
    const after = await bench.joined('doc')
    const syncs = bench.workers.of('sync').length
    after.send(TAG.sync, 2, Buffer.alloc(400_000))
    expect(await after.closed).toEqual({ code: 1009, reason: 'frame-too-large' })
    expect(bench.workers.of('sync').length).toBe(syncs)
  })

  it('[WS-13] the header of a SYNC_CHUNK does not count towards the size cap', async () => {
    const client = await bench.joined('doc')
    const header = Buffer.alloc(24)
    header.writeUInt32BE(2, 20)
    client.send(TAG.syncChunk, header, Buffer.alloc(262_144))
    await client.settled()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('[WS-14] before AUTH only AUTH and HEARTBEAT have effect, and JOIN_DOC answers ERR_NOT_AUTHENTICATED for any document id', async () => {
    const client = await bench.open()
    const posted = bench.workers.posted.length
    client.join('doc')
    client.join('missing')
    const first = await client.nextJson(TAG.error)
    expect(first).toMatchObject({ code: 'ERR_NOT_AUTHENTICATED', error: expect.stringMatching(/^ERR_NOT_AUTHENTICATED: /) })
    expect(await client.nextJson(TAG.error)).toEqual(first)
    client.send(STEP1)
    client.send(TAG.awareness, 1, 0)
    await client.settled()
    expect(bench.workers.posted.length).toBe(posted)
    expect(client.of(TAG.error)).toHaveLength(2)
  })

  it('[WS-49] a HEARTBEAT before AUTH is echoed as one byte', async () => {
    const client = await bench.open()
    client.send(TAG.heartbeat)
    expect([...(await client.next(TAG.heartbeat))]).toEqual([16])
  })

  it('[WS-58] a client may close with 4000 and 4001', async () => {
    for (const code of [4000, 4001]) {
      const client = await bench.authed()
      client.socket.close(code)
      expect((await client.closed).code).toBe(code)
    }
  })
})

describe('frames that wait for asynchronous work', () => {
  it('[WS-12] [W3] the server stops reading a socket when 64 of its frames wait, and drops none', async () => {
    const held: ((verification: Verification) => void)[] = []
    const bench = await startBench({
      settings: { writes: { ratePerSec: null, burst: 0 } },
      deps: { verifyToken: () => new Promise((resolve) => held.push(resolve)) },
    })
    const client = await bench.open()
    client.auth('held')
    await until(() => held.length === 1)
    const [connection] = [...bench.gateway.sessions.all()]
    const frame = Buffer.alloc(20_000)
    frame[0] = TAG.joinDoc
    for (let at = 0; at < 300; at++) client.send(frame)
    await until(() => (connection?.queue?.length ?? 0) >= 52)
    const waiting = connection?.queue?.length ?? 0
    await new Promise((resolve) => setTimeout(resolve, 150))
    expect(connection?.queue?.length).toBe(waiting)
    expect(waiting).toBeLessThan(80)
    held[0]?.(verified())
    await client.next(TAG.authResponse)
    // All 300 frames are handled: the third unreadable JOIN_DOC closes the connection.
    expect(await client.closed).toMatchObject({ code: 1003 })
    await bench[Symbol.asyncDispose]()
  })

  it('[WS-49] [W3] a HEARTBEAT is echoed while a token check is still running', async () => {
    const bench = await startBench({ deps: { verifyToken: () => new Promise(() => {}) } })
    const client = await bench.open()
    client.auth('never')
    client.send(TAG.heartbeat)
    await client.next(TAG.heartbeat, 1_000)
    await bench[Symbol.asyncDispose]()
  })

  it('[OPS-8] an exception in one frame closes that socket with 1012 and no other', async () => {
    await using bench = await startBench({
      deps: {
        rateLimiter: {
          left: () => 0,
          take() {
            throw new Error('broken')
          },
        },
      },
    })
    bench.store.put(headOf('doc'))
    const other = await bench.joined('doc')
    const client = await bench.joined('doc')
    client.send(TAG.sync, 2, 2, 0, 0)
    expect(await client.closed).toMatchObject({ code: 1012, reason: expect.stringMatching(/^unavailable;retry-after=\d+$/) })
    await other.settled()
    expect(bench.gateway.metrics().counters.panics).toBe(1)
  })

  it('[W4] above 200 messages a second the server pauses reading and drops none', async () => {
    await using bench = await startBench({ settings: { writes: { ratePerSec: 40, burst: 80 } } })
    const client = await bench.authed()
    const start = performance.now()
    for (let at = 0; at < 350; at++) client.send(TAG.heartbeat, Buffer.alloc(1_000))
    await until(() => client.of(TAG.heartbeat).length === 350, 6_000)
    expect(performance.now() - start).toBeGreaterThan(400)
  })
})

function verified(): Verification {
  const membership = { workspaceId: 'default', role: 'owner' as const, region: undefined, claims: {} }
  return { kind: 'verified', principal: { sub: 'ann', jti: 'j', expSec: Date.now() / 1000 + 60, memberships: [membership] } }
}

async function until(holds: () => boolean, waitMs = 4_000): Promise<void> {
  const givenUp = patienceClock(waitMs)
  while (!holds()) {
    if (givenUp()) throw new Error('it did not come to hold in time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
