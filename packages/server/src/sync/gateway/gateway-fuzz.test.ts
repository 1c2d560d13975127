import fc from 'fast-check'
import { chunkFrames, jsonFrame, syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'
import type { Wire } from './connection.ts'

const SEED = Number(process.env['FUZZ_SEED'] ?? systemRandom.integer(1, 2 ** 31))
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 1_500)

const anyFrame = fc.oneof(
  fc.uint8Array({ maxLength: 64 }),
  fc.tuple(fc.integer({ min: 0, max: 20 }), fc.uint8Array({ maxLength: 80 })).map(([tag, rest]) => Uint8Array.of(tag, ...rest)),
  fc.json({ maxDepth: 3 }).map((json) => Buffer.concat([Buffer.of(TAG.joinDoc), Buffer.from(json)])),
  fc.json({ maxDepth: 3 }).map((json) => Buffer.concat([Buffer.of(TAG.auth), Buffer.from(json)])),
  fc.constantFrom('doc', 'missing', '../x').map((docId) => jsonFrame(TAG.joinDoc, { docId })),
  fc
    .tuple(fc.constantFrom(0 as const, 1 as const, 2 as const), fc.uint8Array({ maxLength: 60 }))
    .map(([kind, bytes]) => syncFrame(kind, bytes)),
  fc.tuple(fc.uint8Array({ minLength: 24, maxLength: 60 }), fc.nat(70), fc.nat(70)).map(([bytes, seq, total]) => {
    const chunk = Buffer.concat([Buffer.of(TAG.syncChunk), bytes])
    chunk.writeUInt32BE(seq, 17)
    chunk.writeUInt32BE(total, 21)
    return chunk
  }),
  fc
    .uint8Array({ minLength: 1, maxLength: 90 })
    .map((bytes) => chunkFrames(syncFrame(2, bytes), new Uint8Array(16).fill(bytes[0] ?? 0), 40)[0] as Uint8Array),
)

describe(`F-1 frame decoder, seed ${SEED}`, () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench({ settings: { maxConnectionsPerWorkspace: null, writes: { ratePerSec: null, burst: 0 } } })
    bench.store.put(headOf('doc'))
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-8] [WS-35] [OPS-8] random frames in any state crash nothing, leave nothing behind, and do not disturb another client', async () => {
    const { sessions } = bench.gateway
    const verified = { kind: 'pinned', jti: 'f', expMs: Number.MAX_SAFE_INTEGER } as const
    const access = { sub: 'ann', workspaceId: 'default', role: 'owner', limits: NO_LIMITS } as const
    const start = fc.constantFrom('unauthenticated', 'authenticated', 'joined')
    await fc.assert(
      fc.asyncProperty(start, fc.array(fc.tuple(anyFrame, fc.boolean()), { maxLength: 12 }), async (state, frames) => {
        const wire = sink()
        const connection = sessions.open(wire, undefined, state === 'unauthenticated' ? null : { ...verified, access })
        if (state === 'joined') sessions.receive(connection, jsonFrame(TAG.joinDoc, { docId: 'doc' }), true)
        for (const [frame, binary] of frames) sessions.receive(connection, frame, binary || frame.length > 0)
        for (let turn = 0; turn < 20 && connection.busy; turn++) await new Promise((resolve) => setImmediate(resolve))
        sessions.gone(connection)
        expect(connection.state.kind).toBe('closed')
      }),
      { seed: SEED, numRuns: RUNS },
    )
    expect(bench.gateway.metrics().counters.panics).toBe(0)
    expect([...sessions.all()]).toEqual([])
    expect(sessions.unauthenticated).toBe(0)
    const honest = await bench.joined('doc', {}, ['ack'])
    honest.send(syncFrame(2, Uint8Array.of(0, 0)))
    expect((await honest.next(TAG.syncAck))[1]).toBe(1)
  })

  it('[WS-8] [WS-13] random frames over a real socket crash nothing', async () => {
    const samples = fc.sample(fc.array(anyFrame, { minLength: 1, maxLength: 8 }), { seed: SEED, numRuns: 40 })
    for (const frames of samples) {
      const client = await bench.joined('doc')
      for (const frame of frames) client.socket.send(frame)
      client.socket.close()
      const { code } = await client.closed
      expect([1003, 1005]).toContain(code)
    }
    expect(bench.gateway.metrics().counters.panics).toBe(0)
  })
})

/** A socket that accepts every write and discards it. */
function sink(): Wire {
  const raw = { writableLength: 0, destroyed: false, write: () => true, cork() {}, uncork() {}, once: () => raw }
  return { raw, close() {}, terminate() {}, ping() {}, pause() {}, resume() {} }
}
