import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NodeMessage } from '../sync/node-links.port.ts'
import { BatchWriter, MAX_BATCH_MESSAGES, MAX_MESSAGE_BYTES, MessageTooLongError, readBatch } from './link-codec.ts'
import { LinkFrameError } from './link-frame-error.ts'

function encoded(messages: readonly NodeMessage[], writer = new BatchWriter()): Uint8Array {
  for (const message of messages) writer.add(message)
  return writer.take().bytes.slice()
}

const message = (members: object): NodeMessage => ({ kind: 'note', ...members })

/** Any plain value, with byte strings anywhere in it. */
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, ''),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string({ maxLength: 5 }), fc.constantFrom('__proto__', 'kind', 'at', '0')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: true,
    }),
  ),
}))
const bytes = fc.uint8Array({ maxLength: 20 })
const uint = fc.oneof(fc.nat(300), fc.maxSafeNat())
/** The most frequent messages, and others of the same form. */
const hotMessage = fc.oneof(
  fc.record({ kind: fc.constant('sync'), room: uint, connection: uint, join: uint, ordinal: uint, payload: bytes }),
  fc.record({ kind: fc.constant('updates'), room: uint, updates: fc.array(bytes), senders: fc.array(uint) }),
  fc.record({ kind: fc.constant('updates'), room: uint, updates: fc.array(bytes), senders: fc.array(uint), durableSeq: uint }),
  fc.record({ kind: fc.constant('settled'), connection: uint, join: uint, ordinal: uint }),
  fc.record({ kind: fc.constant('awareness'), room: uint, frame: bytes, except: uint }),
  fc.record({ kind: fc.constant('watch'), room: uint, isOn: fc.boolean() }),
)
const coldMessage = fc
  .tuple(
    fc.string({ unit: 'binary' }),
    fc.dictionary(fc.string({ maxLength: 5 }), anyValue, { maxKeys: 5, noNullPrototype: true }),
  )
  .map(([kind, members]) => ({ ...members, kind }))
const anyMessages = fc.array(fc.oneof(hotMessage, coldMessage), { maxLength: 30 }) as fc.Arbitrary<NodeMessage[]>

describe('batches of messages between nodes', () => {
  it('[LIFE-25] a batch of arbitrary messages is read as it was written', () => {
    const writer = new BatchWriter()
    fc.assert(
      fc.property(anyMessages, (messages) => {
        expect(readBatch(encoded(messages, writer))).toEqual(messages)
      }),
      { numRuns: 500 },
    )
  })

  it('[LIFE-25] damaged, cut or random bytes are read as messages or refused with LinkFrameError', () => {
    const damage = fc.record({ at: fc.nat(), by: fc.integer({ min: 1, max: 255 }), cut: fc.option(fc.nat()) })
    const damaged = fc.tuple(anyMessages, fc.array(damage, { maxLength: 4 })).map(([messages, damages]) => {
      let all = encoded(messages)
      for (const { at, by, cut } of damages) {
        if (all.length === 0) break
        all[at % all.length] = ((all[at % all.length] as number) + by) % 256
        if (cut !== null) all = all.slice(0, cut % all.length)
      }
      return all
    })
    let refused = 0
    const madeUp = fc.uint8Array({ maxLength: 200 })
    fc.assert(
      fc.property(fc.oneof(damaged, madeUp), (input) => {
        const before = input.slice()
        try {
          for (const read of readBatch(input)) expect(typeof read.kind).toBe('string')
        } catch (error) {
          refused++
          expect(error).toBeInstanceOf(LinkFrameError)
        }
        expect(input).toEqual(before)
      }),
      { numRuns: 2_000 },
    )
    expect(refused).toBeGreaterThan(100)
  })

  it('[LIFE-25] lengths and counts beyond the size of the bytes are refused before memory is allocated for them', () => {
    const huge = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f]
    const shape = (type: number) => [0, 1, 0x6b, 1, type, 1, 0x61]
    const inputs = [
      ...[1, 2, 3].map((type) => [...shape(type), 2, ...huge]),
      [1, ...huge],
      [1, 14, ...Buffer.from('[{"kind":"k"}]'), ...huge],
      [0, 1, 0x6b, ...huge],
      [0, ...huge],
    ]
    for (const input of inputs) expect(() => readBatch(Uint8Array.from(input))).toThrow(LinkFrameError)
  })

  it('[LIFE-25] byte strings are put back only where the sender took them out', () => {
    const read = (head: string, count = 1) => {
      const text = Buffer.from(head)
      return readBatch(Uint8Array.from([1, text.length, ...text, count, ...Array.from({ length: count }, () => [1, 9]).flat()]))
    }
    expect(read('[{"kind":"k","a":[0]},[["a",0]]]')).toEqual([{ kind: 'k', a: [Uint8Array.of(9)] }])
    const wrong = [
      '[["a",0]]',
      '[["a"]]',
      '[["a",1]]',
      '[["b"]]',
      '[["kind"]]',
      '[["kind","length"]]',
      '[[]]',
      '[]',
      '[0]',
      '[[null]]',
    ]
    for (const paths of wrong) expect(() => read(`[{"kind":"k","a":[1]},${paths}]`)).toThrow(LinkFrameError)
    expect(() => read('[{"kind":"k","a":0},[["a"],["a"]]]', 2)).toThrow(LinkFrameError)
    expect(() => read('[{"kind":"k","a":0}]')).toThrow(LinkFrameError)
    expect(() => read('[{"kind":"k","a":0},[["a"]]]', 0)).toThrow(LinkFrameError)
  })

  it('[LIFE-25] a batch holds a bounded number of messages and shapes', () => {
    const small = [0, 1, 0x6b, 1, 4, 1, 0x61]
    const many = (count: number) => Uint8Array.from([...small, ...Array.from({ length: count }, () => [2, 1]).flat()])
    expect(readBatch(many(MAX_BATCH_MESSAGES))).toHaveLength(MAX_BATCH_MESSAGES)
    expect(() => readBatch(many(MAX_BATCH_MESSAGES + 1))).toThrow(LinkFrameError)
    const shapes = (count: number) => Uint8Array.from(Array.from({ length: count }, () => small).flat())
    expect(readBatch(shapes(256))).toEqual([])
    expect(() => readBatch(shapes(257))).toThrow(LinkFrameError)
  })

  it('[LIFE-25] a batch holds more kinds of messages than it may have shapes', () => {
    const messages = Array.from({ length: 2_000 }, (_, n) => ({ kind: `kind-${n % 700}`, n }))
    const writer = new BatchWriter()
    expect(readBatch(encoded(messages, writer))).toEqual(messages)
    expect(readBatch(encoded(messages, writer))).toEqual(messages)
  })

  it('[LIFE-25] a member named __proto__ never changes the prototype of an object', () => {
    const hostile = JSON.parse('{"kind":"k","__proto__":{"isAdmin":1}}') as NodeMessage
    const [read] = readBatch(encoded([hostile]))
    expect([Object.hasOwn(read ?? {}, '__proto__'), (read as { isAdmin?: number }).isAdmin]).toEqual([true, undefined])
    const proto = Buffer.from('__proto__')
    expect(() => readBatch(Uint8Array.from([0, 1, 0x6b, 1, 0, proto.length, ...proto, 2, 1]))).toThrow(LinkFrameError)
    const place = Buffer.from('[{"kind":"k"},[["__proto__","x"]]]')
    expect(() => readBatch(Uint8Array.from([1, place.length, ...place, 1, 0]))).toThrow(LinkFrameError)
  })

  it('[LIFE-25] a value that is not a plain value is refused and nothing of it is written', () => {
    const writer = new BatchWriter()
    const itself: Record<string, unknown> = {}
    itself['itself'] = itself
    writer.add(message({ n: 1 }))
    const before = [writer.bytes, writer.count]
    for (const value of [itself, new Date(0), () => 1, 1n, Number.NaN, Symbol('x'), [undefined], new Set()])
      expect(() => writer.add(message({ bytes: [Uint8Array.of(1)], value }))).toThrow(TypeError)
    expect(() => writer.add({} as NodeMessage)).toThrow(TypeError)
    expect([writer.bytes, writer.count]).toEqual(before)
    expect(readBatch(writer.take().bytes)).toEqual([message({ n: 1 })])
  })

  it('[LIFE-25] a message that is too long is refused and nothing of it is written', () => {
    const writer = new BatchWriter()
    const body = new Uint8Array(MAX_MESSAGE_BYTES + 1)
    for (const members of [{ body }, { body: [body] }, { in: { body } }, { text: 'ä'.repeat(16 * 1024 * 1024) }])
      expect(() => writer.add(message(members))).toThrow(MessageTooLongError)
    expect([writer.bytes, writer.count]).toEqual([0, 0])
  })

  it('[LIFE-25] the bytes of a message are views, and the bytes of a long batch are given away without a copy', () => {
    const writer = new BatchWriter()
    writer.add(message({ body: new Uint8Array(2_000_000).fill(7) }))
    const long = writer.take()
    expect(long.isGivenAway).toBe(true)
    const [read] = readBatch(long.bytes) as unknown as [{ body: Uint8Array }]
    expect(read.body.buffer).toBe(long.bytes.buffer)
    writer.add(message({ body: new Uint8Array(100).fill(8) }))
    expect(writer.take().isGivenAway).toBe(false)
    expect(read.body.every((byte) => byte === 7)).toBe(true)
  })

  it('[LIFE-25] messages of the frequent kinds take little more than their payload', () => {
    const sync = Array.from({ length: 20 }, (_, n) => ({
      kind: 'sync',
      room: 12,
      connection: 1_000 + n,
      join: 1,
      ordinal: n,
      payload: new Uint8Array(40),
    }))
    expect(encoded(sync).length).toBeLessThan(20 * (40 + 10) + 60)
  })
})
