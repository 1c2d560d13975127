import { describe, expect, it } from 'vitest'
import { type ManualTime, manualTime } from '../kernel/testing/manual-time.ts'
import type { NodeMessage } from '../sync/node-links.port.ts'
import { CREDIT_BYTES, Link, type LinkEnd } from './link.ts'
import { BatchWriter, readBatch } from './link-codec.ts'
import { BATCH, creditFrame, LAST_PIECE, MAX_BATCH_BYTES, PIECE, PIECE_BYTES, readFrame, timeFrame } from './link-frames.ts'
import { linkKeys, type Role, type Session, sessionOf } from './link-secrets.ts'
import type { LinkSocket, LinkSocketEvents } from './link-socket.ts'
import { LINK_TIMES } from './link-times.ts'
import { note } from './testing/linked-nodes.ts'

const [key] = linkKeys(['a secret of the cluster in tests, of 32 characters or more']) as [Uint8Array]
const nonces = { listener: new Uint8Array(32), dialer: new Uint8Array(32) }
const sessionFor = (role: Role): Session => sessionOf(key, role, nonces)

/** A link whose other side is the test, which reads the sent frames and sends its own. */
class OneSide {
  readonly time: ManualTime = manualTime()
  readonly sent: Uint8Array[] = []
  readonly messages: NodeMessage[] = []
  drained = 0
  ended: LinkEnd | null = null
  buffered = 0
  readonly link: Link
  readonly #far = sessionFor('listener')
  #events: LinkSocketEvents | null = null
  #soon: (() => void)[] = []

  constructor(heard: (message: NodeMessage, side: OneSide) => void = () => undefined) {
    const socket: LinkSocket = {
      hear: (events) => {
        this.#events = events
      },
      send: (frame) => void this.sent.push(this.#far.opener.open(frame)),
      bufferedBytes: () => this.buffered,
      trust: () => undefined,
      close: () => this.#events?.closed(),
      destroy: () => this.#events?.closed(),
    }
    this.link = new Link({
      session: sessionFor('dialer'),
      socket,
      clock: this.time.clock,
      timers: this.time.timers,
      times: LINK_TIMES,
      soon: (run) => void this.#soon.push(run),
      events: {
        message: (message) => {
          this.messages.push(message)
          heard(message, this)
        },
        drained: () => {
          this.drained++
        },
        ended: (why) => {
          this.ended = why
        },
      },
    })
  }

  /** Ends a round of the event loop: runs what the link scheduled with `soon`. */
  turn(): void {
    for (const run of this.#soon.splice(0)) run()
  }

  /** Lets a frame of the other side arrive. */
  arrives(...parts: readonly Uint8Array[]): void {
    this.#events?.message(this.#far.sealer.seal(...parts))
  }

  arrivesRaw(frame: Uint8Array): void {
    this.#events?.message(frame)
  }

  /** Returns the kinds of the frames that were sent since the last call. */
  sentKinds(): readonly string[] {
    return this.sent.splice(0).map((frame) => readFrame(frame).kind)
  }

  /** Gives credit for the frames, as the other side does when it has handled them. */
  creditFor(frames: readonly Uint8Array[]): void {
    this.arrives(creditFrame(frames.reduce((sum, { length }) => sum + length + 16, 0)))
  }
}

function batchOf(...messages: readonly NodeMessage[]): Uint8Array {
  const writer = new BatchWriter()
  for (const message of messages) writer.add(message)
  return writer.take().bytes
}

const PIECE_OF_ZEROS = new Uint8Array(PIECE_BYTES)

describe('a link', () => {
  it('[LIFE-25] after a quiet time a message leaves at once, together with others posted in the same round of the event loop', () => {
    const side = new OneSide()
    for (let n = 0; n < 20; n++) side.link.post(note(n))
    expect(side.sent).toEqual([])
    side.turn()
    expect(side.sentKinds()).toEqual(['batch'])
  })

  it('[LIFE-25] under load a message waits 12 ms at most, and frames are far fewer than messages', async () => {
    const side = new OneSide()
    for (let ms = 0; ms < 400; ms++) {
      for (let n = 0; n < 4; n++) side.link.post(note(n))
      side.turn()
      await side.time.advance(1)
    }
    await side.time.advance(12)
    expect(side.link.stats().bufferedBytes).toBeGreaterThan(0)
    const frames = side.sentKinds().filter((kind) => kind === 'batch').length
    expect(frames).toBeGreaterThanOrEqual(400 / 13)
    expect(frames).toBeLessThan(400 / 6)
    side.link.post(note(1))
    side.turn()
    await side.time.advance(12)
    expect(side.sentKinds()).toContain('batch')
  })

  it('[LIFE-25] a batch that is long or has many messages leaves without waiting', () => {
    const side = new OneSide()
    side.link.post(note(1, { bytes: PIECE_OF_ZEROS }))
    expect(side.sentKinds()).toEqual(['batch'])
    for (let n = 0; n < 16_384; n++) side.link.post(note(n))
    expect(side.sentKinds()).toEqual(['batch'])
  })

  it('[LIFE-25] a link pings every 500 ms, and ends after 2 s in which nothing came', async () => {
    const side = new OneSide()
    await side.time.advance(499)
    expect(side.sentKinds()).toEqual([])
    await side.time.advance(1)
    expect(side.sentKinds()).toEqual(['ping'])
    // Any frame shows that the other side is alive.
    side.arrives(Uint8Array.of(BATCH), batchOf(note(1)))
    await side.time.advance(2_000)
    expect(side.ended).toBeNull()
    await side.time.advance(500)
    expect(side.ended).toBe('silent')
    expect(side.time.waiting()).toBe(0)
  })

  it('[LIFE-25] a link answers a ping, and measures the round trip by the answer to its own ping', async () => {
    const side = new OneSide()
    side.arrives(timeFrame('ping', 12.5))
    expect(side.sent.map((frame) => readFrame(frame))).toEqual([{ kind: 'pong', sentMs: 12.5 }])
    await side.time.advance(500)
    const { sentMs } = readFrame(side.sent.at(-1) as Uint8Array) as { sentMs: number }
    await side.time.advance(30)
    side.arrives(timeFrame('pong', sentMs))
    expect(side.link.stats().rttMs).toBe(30)
    for (const made of [Number.NaN, Number.POSITIVE_INFINITY, 1e12]) side.arrives(timeFrame('pong', made))
    expect([side.link.stats().rttMs, side.ended]).toEqual([30, null])
  })

  it('[LIFE-25] a link sends no more than its credit, queues the rest in order, and goes on when it gets credit', () => {
    const side = new OneSide()
    const count = 3 * (CREDIT_BYTES / PIECE_BYTES)
    for (let n = 0; n < count; n++) side.link.post(note(n, { bytes: PIECE_OF_ZEROS }))
    side.turn()
    const onItsWay = () => side.sent.reduce((sum, { length }) => sum + length, 0)
    expect(onItsWay()).toBeGreaterThan(CREDIT_BYTES - PIECE_BYTES)
    expect(onItsWay()).toBeLessThan(CREDIT_BYTES + 2 * PIECE_BYTES)
    expect([side.link.isFull, side.drained]).toEqual([true, 0])
    const numbers: number[] = []
    while (side.sent.length > 0) {
      const handled = side.sent.splice(0)
      for (const frame of handled)
        for (const message of readBatch(frame.subarray(1))) numbers.push((message as unknown as { n: number }).n)
      side.creditFor(handled)
    }
    expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n))
    expect([side.link.isFull, side.drained, side.ended]).toEqual([false, 1, null])
    expect(side.link.stats().bufferedBytes).toBe(0)
  })

  /** Posts a message every `everyMs` for two seconds; returns how many frames left in the last second. */
  async function framesOfASecond(everyMs: number): Promise<number> {
    const side = new OneSide()
    for (let ms = 0; ms < 2_000; ms += everyMs) {
      if (ms === 1_000) side.sentKinds()
      side.link.post(note(ms))
      side.turn()
      await side.time.advance(everyMs)
    }
    return side.sentKinds().filter((kind) => kind === 'batch').length
  }

  it('[LIFE-25] 500 messages a second leave in at most a hundred frames', async () => {
    expect(await framesOfASecond(2)).toBeLessThanOrEqual(100)
  })

  it('[LIFE-25] 50 messages a second leave in a frame each', async () => {
    expect(await framesOfASecond(20)).toBe(50)
  })

  it('[LIFE-25] without credit small messages gather in few batches, which leave when credit arrives', () => {
    const side = new OneSide()
    while (!side.link.isFull) side.link.post(note(0, { bytes: PIECE_OF_ZEROS }))
    side.link.post(note(0, { bytes: PIECE_OF_ZEROS }))
    const handled = side.sent.splice(0)
    for (let n = 0; n < 1_000; n++) {
      side.link.post(note(n))
      side.turn()
    }
    expect(side.sent).toEqual([])
    side.creditFor(handled)
    expect(side.sentKinds()).toEqual(['batch', 'batch'])
  })

  it('[LIFE-25] a link to a peer that does not read ends before its queue takes more than 80 MiB', () => {
    const side = new OneSide()
    let posted = 0
    for (; side.ended === null && posted < 1_000; posted++) side.link.post(note(posted, { bytes: PIECE_OF_ZEROS }))
    expect(side.ended).toBe('overrun')
    expect(posted * PIECE_BYTES).toBeLessThan(80 * 1024 * 1024)
    side.link.post(note(1, { bytes: PIECE_OF_ZEROS }))
    expect([side.link.stats().bufferedBytes, side.link.isFull]).toEqual([0, false])
  })

  it('[LIFE-25] one body above the bound of the queue does not end the link, nor do small messages behind it', () => {
    const side = new OneSide()
    side.link.post(note(0, { body: new Uint8Array(80_000_000) }))
    for (let n = 0; n < 100; n++) side.link.post(note(n))
    side.turn()
    expect([side.ended, side.link.isFull]).toEqual([null, true])
  })

  it('[LIFE-25] a peer that sends pings and does not read loses the link before the answers take much memory', () => {
    const side = new OneSide()
    for (let n = 0; n < 10_000 && side.ended === null; n++) {
      side.buffered += 5_000
      side.arrives(timeFrame('ping', n))
      side.sent.length = 0
    }
    expect(side.ended).toBe('overrun')
    expect(side.buffered).toBeLessThan(12 * 1024 * 1024)
  })

  it('[LIFE-25] a link gives credit for handled bytes: at once for 512 KiB, with the next ping for less', async () => {
    const side = new OneSide()
    const credits = () => side.sent.splice(0).flatMap((frame) => (readFrame(frame).kind === 'credit' ? [readFrame(frame)] : []))
    const small = batchOf(note(1))
    side.arrives(Uint8Array.of(BATCH), small)
    expect(credits()).toEqual([])
    await side.time.advance(500)
    expect(credits()).toEqual([{ kind: 'credit', bytes: small.length + 17 }])
    for (let n = 0; n < 2; n++) side.arrives(Uint8Array.of(PIECE), PIECE_OF_ZEROS)
    expect(credits()).toEqual([{ kind: 'credit', bytes: 2 * (PIECE_BYTES + 17) }])
  })

  const wrongFrames: readonly (readonly [string, readonly (readonly Uint8Array[])[]])[] = [
    ['a frame without a kind', [[]]],
    ['a frame of an unknown kind', [[Uint8Array.of(99)]]],
    ['a malformed batch', [[Uint8Array.of(BATCH), Uint8Array.of(7, 7, 7)]]],
    ['a malformed batch in pieces', [[Uint8Array.of(LAST_PIECE), Uint8Array.of(7, 7, 7)]]],
    ['an empty piece', [[Uint8Array.of(PIECE)]]],
    [
      'a batch between pieces',
      [
        [Uint8Array.of(PIECE), PIECE_OF_ZEROS],
        [Uint8Array.of(BATCH), batchOf(note(1))],
      ],
    ],
    ['a ping that is cut off', [[timeFrame('ping', 1).subarray(0, 5)]]],
    ['a credit that is cut off', [[Uint8Array.of(5, 0x80)]]],
    ['a credit followed by more bytes', [[Uint8Array.of(5, 0, 0)]]],
    ['credit for more than was sent', [[creditFrame(1)]]],
  ]
  for (const [name, frames] of wrongFrames)
    it(`[LIFE-25] ${name} ends the link`, () => {
      const side = new OneSide()
      for (const parts of frames) side.arrives(...parts)
      expect([side.ended, side.messages]).toEqual(['bad-frame', []])
    })

  it('[LIFE-25] a frame without a seal, or out of order, ends the link', () => {
    for (const frame of [new Uint8Array(0), new Uint8Array(40), sessionFor('dialer').sealer.seal(Uint8Array.of(BATCH))]) {
      const side = new OneSide()
      side.arrivesRaw(frame)
      expect(side.ended).toBe('bad-frame')
    }
  })

  it('[LIFE-25] an endless batch in pieces takes bounded memory and ends the link', () => {
    const side = new OneSide()
    let pieces = 0
    for (; side.ended === null && pieces < 1_000; pieces++) side.arrives(Uint8Array.of(PIECE), PIECE_OF_ZEROS)
    expect([side.ended, (pieces - 1) * PIECE_BYTES]).toEqual(['bad-frame', MAX_BATCH_BYTES])
  })

  it('[LIFE-25] when a listener ends the link, the rest of the batch is not delivered', () => {
    const side = new OneSide((_message, { link }) => link.end('left'))
    side.arrives(Uint8Array.of(BATCH), batchOf(note(1), note(2)))
    expect([side.messages, side.ended]).toEqual([[note(1)], 'left'])
    side.arrives(Uint8Array.of(BATCH), batchOf(note(3)))
    expect(side.messages).toEqual([note(1)])
  })
})
