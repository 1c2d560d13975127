import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { UpdateGuard } from './guard.ts'
import { GUARD_LIMITS, type GuardLimits } from './guard-table.ts'
import { typeRoots } from './guard-roots.ts'
import { countStructs, hasPending } from '../room/room-content.ts'
import { indexedDoc } from '../room/indexed-doc.ts'
import { honestHistory, UpdateWriter } from '../testing/update-writer.ts'

/** Limits that a short history reaches. They are in the same order of size as the real limits. */
const SMALL: GuardLimits = { updateStructs: 40, updateRanges: 40, clients: 3, addedStructs: 30, cutStructs: 40, roots: 3 }

const verdict = (guard: UpdateGuard, doc: Y.Doc, update: Uint8Array) =>
  guard.inspect(update, { doc, structCount: countStructs(doc) })

function loaded(state: Uint8Array): Y.Doc {
  const doc = indexedDoc()
  Y.applyUpdate(doc, state)
  expect(hasPending(doc)).toBe(false)
  typeRoots(doc)
  return doc
}

/** Applies the updates that the guard accepts, `perTurn` of them in one turn, and returns the state after each turn. */
function statesOf(guard: UpdateGuard, updates: readonly Uint8Array[], perTurn: number): { doc: Y.Doc; states: Uint8Array[] } {
  const doc = indexedDoc()
  const states = [Y.encodeStateAsUpdate(doc)]
  for (let at = 0; at < updates.length; at += perTurn) {
    doc.transact(() => {
      for (const update of updates.slice(at, at + perTurn)) {
        const inspection = verdict(guard, doc, update)
        if (inspection.kind !== 'ok') continue
        const before = countStructs(doc)
        Y.applyUpdate(doc, update)
        expect(countStructs(doc)).toBeLessThanOrEqual(before + inspection.structs)
      }
    })
    expect(hasPending(doc)).toBe(false)
    typeRoots(doc)
    states.push(Y.encodeStateAsUpdate(doc))
  }
  return { doc, states }
}

/** Updates of an ordinary history. Some also occur a second time with one byte changed, before or after the original. */
const histories = fc
  .tuple(fc.integer({ min: 1, max: 500 }), fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(255)), { maxLength: 8 }))
  .map(([seed, changes]) => {
    const { updates } = honestHistory(seed, 12)
    const sent = [...updates]
    for (const [which, where, value] of changes) {
      if (updates.length === 0) break
      const honest = updates[which % updates.length] as Uint8Array
      const changed = honest.slice()
      changed[where % changed.length] = value
      sent.splice(sent.indexOf(honest) + (where % 2), 0, changed)
    }
    return sent
  })

describe('a document that was built from accepted updates', () => {
  it.each([
    ['the limits', GUARD_LIMITS, 400],
    ['limits that a short history reaches', SMALL, 400],
  ] as const)(
    '[WS-66] [WS-34] [G7] the merged state of a document is accepted, loads, and brings old copies up to date, under %s',
    (_, limits, numRuns) => {
      const guard = new UpdateGuard(limits)
      fc.assert(
        fc.property(histories, fc.integer({ min: 1, max: 4 }), (updates, perTurn) => {
          const { doc, states } = statesOf(guard, updates, perTurn)
          const state = states[states.length - 1] as Uint8Array
          expect(verdict(guard, doc, state)).toMatchObject({ kind: 'ok', noop: true })
          expect(verdict(guard, indexedDoc(), state)).toMatchObject({ kind: 'ok' })
          expect(Y.encodeStateVector(loaded(state))).toEqual(Y.encodeStateVector(doc))
          for (const old of states) {
            const copy = loaded(old)
            expect(verdict(guard, copy, Y.encodeStateAsUpdate(doc, Y.encodeStateVector(copy)))).toMatchObject({ kind: 'ok' })
            expect(verdict(guard, doc, Y.encodeStateAsUpdate(copy))).toMatchObject({ kind: 'ok', noop: true })
          }
        }),
        { numRuns },
      )
    },
  )

  it('[WS-34] [G7] an update that uses a root with the wrong type is refused even when the root appeared in the same turn', () => {
    const doc = indexedDoc()
    const element = new UpdateWriter().block(5, 0, 1, (w) => w.raw([7]).uint(1).text('prose:p1').uint(3).text('paragraph'))
    const beside = new UpdateWriter().block(9, 0, 1, (w) => w.stringAfter(5, 0, 'x')).deletes([])
    doc.transact(() => {
      Y.applyUpdate(doc, element.deletes([]))
      expect(verdict(new UpdateGuard(), doc, beside)).toEqual({ kind: 'bad', rule: 'root-type' })
    })
  })

  it('[WS-34] [G4] a document may hold no more client ids in all than one update may bring', () => {
    const guard = new UpdateGuard()
    const clients = (from: number, count: number) => {
      const update = new UpdateWriter().blocks(count)
      for (let i = 0; i < count; i++) update.rawBlock(from + i, 0, 1, (w) => w.gc(1))
      return update.deletes([])
    }
    const doc = loaded(clients(1, 40_000))
    expect(verdict(guard, doc, clients(50_000, 30_000))).toEqual({ kind: 'full', bound: 'clientIds', limit: 65_536 })
    expect(verdict(guard, doc, clients(50_000, 25_536))).toMatchObject({ kind: 'ok', newClients: 25_536 })
  })

  it('[WS-66] [WS-30] the whole state of a document is accepted even when the relay wrote more structs than the limit of one update', () => {
    const guard = new UpdateGuard(SMALL)
    const doc = indexedDoc()
    for (let i = 0; i < 50; i++) {
      doc.clientID = i + 1
      doc.getMap(`own${i}`).set('a', i)
      doc.getArray('list').insert(0, [i, i])
      if (i % 2 === 0) doc.getArray('list').delete(1, 1)
    }
    expect(countStructs(doc)).toBeGreaterThan(SMALL.updateStructs)
    expect(verdict(guard, doc, Y.encodeStateAsUpdate(doc))).toMatchObject({ kind: 'ok', noop: true, structs: 0 })
  })

  it('[G7] a full document accepts deletions that split structs up to the struct limit of one update, and deletions of whole structs always', () => {
    const guard = new UpdateGuard({ ...SMALL, roots: 10 })
    const doc = loaded(new UpdateWriter().block(1, 0, 1, (w) => w.string('any', 'x'.repeat(200))).deletes([]))
    const every = (from: number, count: number) =>
      new UpdateWriter().blocks(0).deletes(Array.from({ length: count }, (_, i) => [1, from + 2 * i, 1] as const))
    expect(verdict(guard, doc, every(1, 20))).toMatchObject({ kind: 'full', bound: 'structs' })
    expect(verdict(guard, doc, every(1, 19))).toMatchObject({ kind: 'ok', structs: 38 })
    Y.applyUpdate(doc, every(1, 19))
    const add = new UpdateWriter().block(2, 0, 1, (w) => w.string('any', 'x')).deletes([])
    expect(verdict(guard, doc, add)).toMatchObject({ kind: 'full', bound: 'structs' })
    expect(verdict(guard, doc, every(0, 20))).toMatchObject({ kind: 'ok', noop: false, structs: 1 })
    expect(verdict(guard, doc, new UpdateWriter().blocks(0).deletes([[1, 0, 200]]))).toMatchObject({ kind: 'ok', structs: 0 })
  })
})
