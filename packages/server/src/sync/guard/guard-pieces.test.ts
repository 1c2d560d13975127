import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { dice } from '../../kernel/testing/dice.ts'
import { costlyUpdate } from '../../test/faults/noisy-attacks.ts'
import { countStructs, hasPending } from '../room/room-content.ts'
import { honestHistory, quadratic, UpdateWriter } from '../testing/update-writer.ts'
import { UpdateGuard } from './guard.ts'

const roomOf = (...updates: Uint8Array[]): Y.Doc => {
  const doc = new Y.Doc()
  for (const update of updates) Y.applyUpdate(doc, update)
  return doc
}
const inspect = (guard: UpdateGuard, doc: Y.Doc, update: Uint8Array) => {
  const inspection = guard.inspect(update, { doc, structCount: countStructs(doc) })
  if (inspection.kind !== 'ok') throw new Error(`the guard says ${inspection.kind}`)
  return inspection
}
const stateOf = (doc: Y.Doc): string => Buffer.from(Y.encodeStateAsUpdate(doc)).toString('hex')

/** Applies `update` to a copy of the room in pieces. `size` returns the size of each piece. */
function inPieces(room: readonly Uint8Array[], update: Uint8Array, size: () => number): { doc: Y.Doc; pieces: number } {
  const guard = new UpdateGuard()
  const doc = roomOf(...room)
  inspect(guard, doc, update)
  const pieces = guard.pieces(update)
  // Another update may be inspected between two pieces.
  guard.inspect(quadratic(30), { doc: new Y.Doc(), structCount: 0 })
  let count = 0
  for (let piece = pieces.next(size()); piece !== null; piece = pieces.next(size())) {
    Y.applyUpdate(doc, piece)
    expect(hasPending(doc)).toBe(false)
    count++
  }
  return { doc, pieces: count }
}

describe('splitting a large update into pieces', () => {
  it('[G9] applying the pieces in order gives the same state as applying the whole update, and no piece waits for a later one', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const { updates, state } = honestHistory(seed, 60)
      const random = dice(seed)
      const known = updates.slice(0, random(updates.length))
      const whole = roomOf(...known, state)
      const { doc } = inPieces(known, state, () => 1 + random(7))
      expect(stateOf(doc), `seed ${seed}`).toBe(stateOf(whole))
    }
  })

  it.each([
    ['entries of one key', costlyUpdate(3_000, 7)],
    ['items with a right origin', quadratic(800)],
    ['deletions alone', new UpdateWriter().blocks(0).deletes([[9, 0, 100_000]])],
  ])('[G9] an update made of %s can be split into pieces of any size', (_, update) => {
    const text = new UpdateWriter().block(9, 0, 1, (writer) => writer.string('any', 'x'.repeat(100_000))).deletes([])
    const { doc, pieces } = inPieces([text], update, () => 100)
    expect(stateOf(doc)).toBe(stateOf(roomOf(text, update)))
    expect(pieces).toBeGreaterThan(7)
  })
})

describe('estimate of the longest time an update may take', () => {
  const worstOf = (room: readonly Uint8Array[], update: Uint8Array): number =>
    inspect(new UpdateGuard(), roomOf(...room), update).worstMs

  /** The update of one change to a document. */
  const changeOf = (doc: Y.Doc, change: () => void): Uint8Array => {
    const before = Y.encodeStateVector(doc)
    doc.transact(change)
    return Y.encodeStateAsUpdate(doc, before)
  }

  it('[G9] the estimate grows with the square of the number of structs for whose place Yjs must search', () => {
    for (const make of [(n: number) => costlyUpdate(n, 7), (n: number) => quadratic(n)]) {
      expect(worstOf([], make(12_000))).toBeGreaterThan(500)
      expect(worstOf([], make(12_000)) / worstOf([], make(3_000))).toBeGreaterThan(10)
    }
  })

  it('[G9] the estimate is high for a few structs for whose place Yjs must search a long list of the room', () => {
    const long = costlyUpdate(10_000, 7)
    const entry = (writer: UpdateWriter) => writer.raw([0x28]).uint(1).text('a').text('k').uint(1).raw([126])
    expect(worstOf([long], new UpdateWriter().block(8, 0, 100, entry).deletes([]))).toBeGreaterThan(10)
  })

  it('[G9] the estimate is low for text typed or pasted into a large document', () => {
    const doc = new Y.Doc()
    doc.getArray('big').push(Array.from({ length: 500 }, (_, i) => i))
    for (let i = 0; i < 2_000; i++) doc.getText('text').insert((i * 37) % (i + 1), 'ab')
    const room = Y.encodeStateAsUpdate(doc)
    const copy = roomOf(room)
    const typed = changeOf(copy, () => {
      for (let i = 0; i < 40; i++) copy.getText('text').insert(1_000 + i, 'x')
    })
    expect(worstOf([room], typed)).toBeLessThan(1)
    const pasted = changeOf(copy, () =>
      copy.getArray('big').insert(
        100,
        Array.from({ length: 300 }, (_, i) => new Y.Map([['n', i]])),
      ),
    )
    expect(worstOf([room, typed], pasted)).toBeLessThan(8)
  })

  it('[G9] the estimate is zero for an update that changes nothing', () => {
    const state = honestHistory(3, 40).state
    expect(worstOf([state], state)).toBe(0)
  })
})
