import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type Inspection, UpdateGuard } from './guard.ts'
import { typeRoots } from './guard-roots.ts'
import { countStructs, hasPending } from '../room/room-content.ts'
import { honestHistory, nested, UpdateWriter } from '../testing/update-writer.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

function roomOf(...updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  typeRoots(doc)
  return doc
}

function inspect(doc: Y.Doc, update: Uint8Array): Inspection {
  return new UpdateGuard().inspect(update, { doc, structCount: countStructs(doc) })
}

/** Returns the guard's verdict as text, and checks that the inspection leaves the document unchanged. */
function verdict(doc: Y.Doc, update: Uint8Array): string {
  const before = Y.encodeStateAsUpdate(doc)
  const roots = doc.share.size
  const inspection = inspect(doc, update)
  expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
  expect(doc.share.size).toBe(roots)
  return inspection.kind === 'bad' ? inspection.rule : inspection.kind
}

const prose = () => roomOf(honestHistory(1, 40).state)

describe('updates that the guard refuses', () => {
  const sizes = [1, 20, 2_000]

  it.each(sizes)('[WS-34] [G3] Y1: %i structs whose clocks overflow are refused', (count) => {
    const update = new UpdateWriter().block(9, 0, count, (w) => w.gc(2 ** 53 - 1)).deletes([])
    expect(verdict(prose(), update)).toBe('clock')
    const near = new UpdateWriter().block(9, 0, 1, (w) => w.gc(2 ** 32 - 1)).deletes([])
    expect(verdict(prose(), near)).toBe('ok')
    const at = new UpdateWriter().block(9, 0, 1, (w) => w.gc(2 ** 32)).deletes([])
    expect(verdict(prose(), at)).toBe('clock')
  })

  it.each([33_554_432, 2 ** 40, 1_000_001])(
    '[WS-34] [G2] [G4] Y2: an update that declares %i structs and contains none is refused',
    (declared) => {
      const update = new UpdateWriter().raw([1]).uint(declared).uint(9).uint(0).bytes()
      const took = threadTime()
      expect(verdict(prose(), update)).toBe('count')
      expect(took()).toBeLessThan(50)
    },
  )

  it.each([129, 1_000, 5_000])('[WS-34] [G6] Y3: JSON nested %i levels deep is refused', (depth) => {
    for (const kind of ['any', 'embed', 'json', 'format'] as const) {
      expect(verdict(prose(), nested(kind, depth))).toBe('depth')
      expect(verdict(prose(), nested(kind, 128))).toBe('ok')
    }
  })

  it.each([129, 500, 5_000])('[WS-34] [G7] Y4: shared types nested %i levels deep are refused', (depth) => {
    expect(verdict(prose(), nestedTypes(depth))).toBe('nesting')
    expect(verdict(prose(), nestedTypes(128))).toBe('ok')
  })

  it('[G7] Y4: shared types that each update nests deeper are refused at the depth limit', () => {
    const doc = roomOf(nestedTypes(100))
    const deeper = (from: number, count: number) =>
      new UpdateWriter().block(9, from, count, (w, i) => w.typeIn(9, from + i - 1)).deletes([])
    expect(verdict(doc, deeper(100, 28))).toBe('ok')
    expect(verdict(doc, deeper(100, 29))).toBe('nesting')
  })

  it.each([10, 200, 4_000])('[WS-32] [G8] Y6: an update with %i small clock gaps is refused', (count) => {
    const update = new UpdateWriter().blocks(count)
    for (let i = 0; i < count; i++) update.rawBlock(100 + i, 5, 1, (w) => w.gc(1))
    expect(verdict(prose(), update.deletes([]))).toBe('gap')
  })

  it.each([1, 100, 60_000])('[WS-32] [G8] Y8: %i deletions of unknown content are refused', (count) => {
    const ranges = Array.from({ length: count }, (_, i) => [77, i * 2, 1] as const)
    expect(verdict(prose(), new UpdateWriter().blocks(0).deletes(ranges))).toBe('gap')
  })

  it.each([10_001, 12_000, 25_000])('[WS-34] [G7] Y9: an update with %i root names is refused', (count) => {
    const update = new UpdateWriter().block(9, 0, count, (w, i) => w.string(`root${i}`, 'x')).deletes([])
    expect(verdict(prose(), update)).toBe('root-count')
  })

  it('[WS-34] [G7] Y9: a root name above 512 bytes is refused', () => {
    const named = (bytes: number) => new UpdateWriter().block(9, 0, 1, (w) => w.string('r'.repeat(bytes), 'x')).deletes([])
    expect(verdict(prose(), named(513))).toBe('root-name')
    expect(verdict(prose(), named(512))).toBe('ok')
  })

  it.each([1, 100, 10_000])('[WS-34] [G5] Y10: an update with %i sub-documents is refused', (count) => {
    const update = new UpdateWriter().block(9, 0, count, (w) => w.subdocument('any')).deletes([])
    expect(verdict(prose(), update)).toBe('kind')
  })

  it.each([65_537, 70_000, 100_000])('[WS-34] [G4] Y12: an update with %i client ids is refused', (count) => {
    const update = new UpdateWriter().blocks(count)
    for (let i = 0; i < count; i++) update.rawBlock(1_000 + i, 0, 1, (w) => w.gc(1))
    expect(['count', 'client-count']).toContain(verdict(prose(), update.deletes([])))
  })

  it('[WS-10] [G1] Y13: an update in the v2 encoding is refused', () => {
    const doc = new Y.Doc()
    doc.getText('any').insert(0, 'hello')
    expect(['count', 'truncated', 'kind', 'trailing']).toContain(verdict(prose(), Y.encodeStateAsUpdateV2(doc)))
    const bomb = new Uint8Array([0, 0, 6, 1, 1, 10, 0, 0, 4, 0, 0, 0, 0, 1, 0, 0, 255, 255, 255, 127, 0, 1, 1, 0, 0])
    expect(verdict(prose(), bomb)).not.toBe('ok')
  })

  it('[WS-33] [G1] Y14: a valid struct before a broken delete set is refused', () => {
    const good = new UpdateWriter().block(9, 0, 1, (w) => w.string('any', 'x'))
    expect(verdict(prose(), good.uint(1).uint(9).uint(5).uint(0).bytes())).toBe('count')
    const cut = new UpdateWriter().block(9, 0, 1, (w) => w.string('any', 'x'))
    expect(verdict(prose(), cut.bytes())).toBe('truncated')
    const more = new UpdateWriter().block(9, 0, 1, (w) => w.string('any', 'x'))
    expect(verdict(prose(), more.raw([0, 0]).bytes())).toBe('trailing')
  })

  it('[WS-33] [G6] Y15: __proto__ as a member, a map key or a mark is refused', () => {
    const bad = [
      new UpdateWriter().block(9, 0, 1, (w) => w.anyObject('any', '__proto__')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.entry('any', '__proto__')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.json('any', '{"a":{"__proto__":1}}')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.format('any', '__proto__', 'true')).deletes([]),
    ]
    for (const update of bad) expect(verdict(prose(), update)).toBe('proto')
  })

  it('[WS-34] [YDOC-1] Y16: a root of the document layout used with another type is refused', () => {
    const bad = [
      new UpdateWriter().block(9, 0, 1, (w) => w.string('metadata', 'x')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.string('shapes:p', 'x')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.entry('canvasPageOrder', 'a')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.entry('prose:p1', 'a')).deletes([]),
      new UpdateWriter().block(9, 0, 1, (w) => w.string('prose:p1', 'x')).deletes([]),
    ]
    for (const update of bad) expect(verdict(prose(), update)).toBe('root-type')
    const doc = roomOf()
    doc.clientID = 5
    doc.getXmlFragment('prose:p1').insert(0, [new Y.XmlElement('paragraph')])
    const beside = new UpdateWriter().block(9, 0, 1, (w) => w.stringAfter(5, 0, 'x')).deletes([])
    expect(verdict(doc, beside)).toBe('root-type')
  })

  it('[WS-33] [G8] Y17: a struct whose origin is itself or a later struct is refused', () => {
    for (const clock of [0, 1, 50]) {
      const update = new UpdateWriter().block(9, 0, 1, (w) => w.stringAfter(9, clock, 'x')).deletes([])
      expect(verdict(prose(), update)).toBe('origin')
    }
    const circle = new UpdateWriter().blocks(2)
    circle.rawBlock(9, 0, 1, (w) => w.stringAfter(8, 0, 'x'))
    circle.rawBlock(8, 0, 1, (w) => w.stringAfter(9, 0, 'x'))
    expect(verdict(prose(), circle.deletes([]))).toBe('origin')
  })

  it('[WS-33] [G3] [G5] unknown struct kinds, empty structs, empty deletions and a repeated client are refused', () => {
    const kind = (info: number) => new UpdateWriter().block(9, 0, 1, (w) => w.raw([info, 1, 1, 97, 1, 120])).deletes([])
    for (const info of [9, 11, 12, 31, 0x8a, 0x20]) expect(verdict(prose(), kind(info))).toBe('kind')
    expect(verdict(prose(), new UpdateWriter().block(9, 0, 1, (w) => w.string('any', '')).deletes([]))).toBe('length')
    expect(verdict(prose(), new UpdateWriter().blocks(0).deletes([[1, 0, 0]]))).toBe('length')
    const twice = new UpdateWriter().blocks(2)
    twice.rawBlock(9, 0, 1, (w) => w.gc(1))
    twice.rawBlock(9, 1, 1, (w) => w.gc(1))
    expect(verdict(prose(), twice.deletes([]))).toBe('duplicate')
  })

  it('[WS-34] an update above 16 MiB is refused, and a room with a million structs accepts only deletions', () => {
    expect(verdict(roomOf(), new Uint8Array(16 * 1024 * 1024 + 1))).toBe('too-large')
    const { state } = honestHistory(3, 10)
    const doc = roomOf(state)
    const guard = new UpdateGuard()
    const full = { doc, structCount: 1_000_000 }
    const add = new UpdateWriter().block(9, 0, 1, (w) => w.string('any', 'x')).deletes([])
    expect(guard.inspect(add, full)).toEqual({ kind: 'full', bound: 'structs', limit: 900_000 })
    const copy = roomOf(state)
    copy.getXmlFragment('prose:p1').delete(0, 1)
    const removal = Y.encodeStateAsUpdate(copy, Y.encodeStateVector(doc))
    expect(guard.inspect(removal, full)).toMatchObject({ kind: 'ok', noop: false })
  })

  it('[WS-33] [G6] an integer that Yjs cannot read is refused', () => {
    const integer = (bytes: readonly number[]) =>
      new UpdateWriter()
        .block(9, 0, 1, (w) =>
          w
            .raw([8, 1])
            .text('any')
            .uint(1)
            .raw([125, ...bytes]),
        )
        .deletes([])
    const large = [...Array<number>(8).fill(0xff), 0x7f]
    expect(() => roomOf(integer(large))).toThrow('out of Range')
    expect(verdict(prose(), integer(large))).toBe('count')
    expect(verdict(prose(), integer([0xff, 0xff, 0xff, 0xff, 0x0f]))).toBe('ok')
  })

  it('[G6] strings that are not well-formed UTF-8 are refused', () => {
    expect(verdict(prose(), new UpdateWriter().block(9, 0, 1, (w) => w.rawString('any', [0xed, 0xa0, 0x80])).deletes([]))).toBe(
      'string',
    )
    expect(verdict(prose(), new UpdateWriter().block(9, 0, 1, (w) => w.json('any', '"\\ud800"')).deletes([]))).toBe('string')
    expect(verdict(prose(), new UpdateWriter().block(9, 0, 1, (w) => w.json('any', '{oops')).deletes([]))).toBe('json')
    expect(verdict(prose(), new UpdateWriter().block(9, 0, 1, (w) => w.string('any', '😀é')).deletes([]))).toBe('ok')
  })
})

describe('updates that the guard accepts', () => {
  it('[WS-30] an update that adds nothing is accepted as a no-op', () => {
    const { state } = honestHistory(4, 60)
    const doc = roomOf(state)
    expect(inspect(doc, new Uint8Array([0, 0]))).toMatchObject({ kind: 'ok', noop: true })
    expect(inspect(doc, state)).toMatchObject({ kind: 'ok', noop: true })
    expect(inspect(roomOf(), state)).toMatchObject({ kind: 'ok', noop: false })
  })

  it('[G4] an accepted update reports how many of its client ids are new to the room', () => {
    const { state } = honestHistory(5, 30)
    const clients = Y.decodeStateVector(Y.encodeStateVector(roomOf(state))).size
    expect(inspect(roomOf(), state)).toMatchObject({ newClients: clients })
    expect(inspect(roomOf(state), state)).toMatchObject({ newClients: 0 })
  })

  it('[WS-32] [3.4] a step2 that itself declares missing content is answered as a gap with skips', () => {
    const [a, b] = [new Y.Doc(), new Y.Doc()]
    a.getText('t').insert(0, 'one')
    const first = Y.encodeStateVector(a)
    a.getText('t').insert(3, 'two')
    const middle = Y.encodeStateVector(a)
    a.getText('t').insert(6, 'three')
    Y.applyUpdate(b, Y.encodeStateAsUpdate(a, middle))
    b.getText('t').insert(0, 'mine')
    expect(first.length).toBeGreaterThan(0)
    expect(inspect(roomOf(), Y.encodeStateAsUpdate(b)).kind).toBe('gap')
    const merged = Y.mergeUpdates([diffOf(a, first, 0), Y.encodeStateAsUpdate(a, middle)])
    expect(inspect(roomOf(), merged)).toEqual({ kind: 'gap', skips: true })
  })

  it('[WS-33] updates of honest clients are accepted one by one, and so is the whole state that they make', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { updates, state } = honestHistory(seed, 60)
      const doc = new Y.Doc()
      const guard = new UpdateGuard()
      for (const update of updates) {
        expect(guard.inspect(update, { doc, structCount: 0 }), `seed ${seed}`).toMatchObject({ kind: 'ok' })
        Y.applyUpdate(doc, update)
        typeRoots(doc)
        expect(hasPending(doc)).toBe(false)
      }
      expect(inspect(new Y.Doc(), state).kind).toBe('ok')
      expect(inspect(doc, state)).toMatchObject({ kind: 'ok', noop: true })
    }
  })

  it('[WS-33] checking a small honest update takes a few microseconds', () => {
    const doc = prose()
    const update = typed(doc)
    const guard = new UpdateGuard()
    const view = { doc, structCount: 100 }
    for (let i = 0; i < 20_000; i++) guard.inspect(update, view)
    const took = threadTime()
    for (let i = 0; i < 20_000; i++) guard.inspect(update, view)
    expect(took() / 20_000).toBeLessThan(0.02)
  })
})

describe('an update with a struct of which the room has the first part', () => {
  const rest = (clock: number, root: string) => new UpdateWriter().block(1, clock, 1, (w) => w.string(root, 'abcdef')).deletes([])

  it('[WS-32] [WS-33] [G8] an update with a struct of which the room has only the first part is answered as a gap', () => {
    const doc = new Y.Doc()
    doc.clientID = 1
    const fragment = doc.getXmlFragment('prose:p1')
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [new Y.XmlText('hello')])
    fragment.insert(0, [paragraph])
    fragment.delete(0, 1)
    const collected = Y.getState(doc.store, 1)
    expect(verdict(doc, rest(collected - 2, 'x'))).toBe('gap')
    doc.getText('here').insert(0, 'hello')
    expect(verdict(doc, rest(collected + 3, 'elsewhere'))).toBe('gap')
    expect(verdict(doc, rest(collected + 3, 'here'))).toBe('gap')
    expect(verdict(doc, rest(collected + 5, 'here'))).toBe('ok')
  })

  it('[WS-32] the diff that an honest client sends after a gap has only the missing part of a struct and is accepted', () => {
    const client = new Y.Doc()
    client.getText('t').insert(0, 'known')
    const room = roomOf(Y.encodeStateAsUpdate(client))
    const known = Y.encodeStateVector(room)
    client.getText('t').insert(5, ', and more')
    expect(verdict(room, Y.encodeStateAsUpdate(client))).toBe('gap')
    expect(verdict(room, Y.encodeStateAsUpdate(client, known))).toBe('ok')
  })
})

describe('randomly mutated updates of honest clients', () => {
  it('[WS-33] a mutated update is refused without a change, or applies, encodes, reloads and leaves nothing pending', () => {
    const bytes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(), bytes, (seed, which, changes) => {
        const { updates } = honestHistory(seed, 12)
        fc.pre(updates.length > 0)
        const at = which % updates.length
        const doc = roomOf(...updates.slice(0, at))
        const update = (updates[at] as Uint8Array).slice()
        for (const [where, value] of changes) update[where % update.length] = value
        if (verdict(doc, update) !== 'ok') return
        Y.applyUpdate(doc, update)
        typeRoots(doc)
        expect(hasPending(doc)).toBe(false)
        const copy = roomOf(Y.encodeStateAsUpdate(doc))
        expect(hasPending(copy)).toBe(false)
        expect(Y.encodeStateVector(copy)).toEqual(Y.encodeStateVector(doc))
        for (const [name, type] of copy.share) expect(() => JSON.stringify(type.toJSON()), name).not.toThrow()
      }),
      { numRuns: 4_000 },
    )
  })
})

function nestedTypes(depth: number): Uint8Array {
  return new UpdateWriter().block(9, 0, depth, (w, i) => (i === 0 ? w.type('any') : w.typeIn(9, i - 1))).deletes([])
}

/** An update with one character typed after the last one. */
function typed(doc: Y.Doc): Uint8Array {
  const copy = roomOf(Y.encodeStateAsUpdate(doc))
  const text = new Y.XmlText('word')
  const before = Y.encodeStateVector(copy)
  copy.getXmlFragment('prose:p1').insert(0, [text])
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(copy, before))
  const now = Y.encodeStateVector(copy)
  text.insert(4, 's')
  return Y.encodeStateAsUpdate(copy, now)
}

/**
 * An update for a text that starts at `clock`. It is built in a new document with the same client id, because Yjs cannot encode the
 * difference between two past states.
 */
function diffOf(doc: Y.Doc, vector: Uint8Array, clock: number): Uint8Array {
  const copy = new Y.Doc()
  copy.clientID = doc.clientID
  copy.getText('t').insert(clock, 'one')
  expect(Y.encodeStateVector(copy)).toEqual(vector)
  return Y.encodeStateAsUpdate(copy)
}
