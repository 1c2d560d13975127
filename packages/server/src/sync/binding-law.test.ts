import type { DocumentBody } from '@docrelay/model/body'
import { EMPTY_BODY } from '@docrelay/model/body-parse'
import { writeBody } from '@docrelay/model/body-write'
import { equalJson, type Json } from '@docrelay/model/json'
import { documentBody } from '@docrelay/model/testing/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { catchUp, ProjectionCache, project, reconcile, seed } from './binding.ts'
import { exchange, liveDocument, replica } from './testing/live-document.ts'

const RUNS = { numRuns: 80 }

function value(body: DocumentBody): Json {
  return JSON.parse(writeBody(body)) as Json
}

function same(a: DocumentBody, b: DocumentBody): void {
  if (!equalJson(value(a), value(b))) expect(value(a)).toEqual(value(b))
}

describe('laws of the binding', () => {
  it('[YDOC-1] [BODY-2] [BODY-7] a seeded document projects to the body it was seeded with', () => {
    fc.assert(
      fc.property(documentBody, (body) => {
        expect(project(liveDocument(body), body)).toBe(body)
      }),
      RUNS,
    )
  })

  it('[LIFE-13] [LIFE-14] alone, reconciling is exact', () => {
    fc.assert(
      fc.property(documentBody, documentBody, documentBody, (a, b, c) => {
        const ydoc = liveDocument(a)
        reconcile(ydoc, a, b, 'relay')
        same(project(ydoc, b), b)
        reconcile(ydoc, b, c, 'relay')
        const copy = replica(ydoc)
        same(project(copy, c), c)
        expect(project(copy, c)).toBe(c)
      }),
      RUNS,
    )
  })

  it('[YDOC-8] [LIFE-15] a state that lacks a stored body is brought up to it by edits', () => {
    fc.assert(
      fc.property(documentBody, documentBody, (a, b) => {
        const ydoc = liveDocument(a)
        const client = liveDocument(a)
        catchUp(ydoc, b, 'relay')
        same(project(ydoc, b), b)
        exchange(ydoc, client)
        same(project(client, b), b)
      }),
      RUNS,
    )
  })

  it('[YDOC-9] two nodes that seed one body produce the same bytes', () => {
    fc.assert(
      fc.property(documentBody, (body) => {
        const updates = [new Y.Doc(), new Y.Doc()].map((ydoc) => {
          seed(ydoc, body, null, 5)
          return Y.encodeStateAsUpdate(ydoc)
        })
        expect(updates[0]).toEqual(updates[1])
      }),
      RUNS,
    )
  })

  it('[LIFE-14] two replicas that reconcile different edits become equal and keep what either side added', () => {
    fc.assert(
      fc.property(documentBody, documentBody, documentBody, (a, b, c) => {
        const [left, right] = [liveDocument(a), liveDocument(a)]
        reconcile(left, a, b, 'relay')
        reconcile(right, a, c, 'relay')
        exchange(left, right)
        const [merged, other] = [project(left, EMPTY_BODY), project(right, EMPTY_BODY)]
        expect(value(merged)).toEqual(value(other))
        for (const [side, opposite] of [
          [b, c],
          [c, b],
        ] as const) {
          expectAdded(a, side, opposite, merged)
        }
      }),
      RUNS,
    )
  })

  it('[LIFE-14] edits on a document that moved on leave what others changed elsewhere', () => {
    fc.assert(
      fc.property(documentBody, documentBody, documentBody, (a, b, c) => {
        const ydoc = liveDocument(a)
        reconcile(ydoc, a, b, 'client')
        const moved = project(ydoc, b)
        reconcile(ydoc, a, c, 'relay')
        const merged = project(ydoc, EMPTY_BODY)
        expectAdded(a, b, c, merged)
        expectAdded(a, c, moved, merged)
      }),
      RUNS,
    )
  })

  it('[YDOC-4] projecting never writes', () => {
    fc.assert(
      fc.property(documentBody, documentBody, (a, b) => {
        const ydoc = liveDocument(a)
        const before = Y.encodeStateAsUpdate(ydoc)
        let events = 0
        ydoc.on('update', () => events++)
        project(ydoc, b)
        project(ydoc, EMPTY_BODY)
        expect(events).toBe(0)
        expect(Y.encodeStateAsUpdate(ydoc)).toEqual(before)
      }),
      RUNS,
    )
  })

  it('[LIFE-9] a projection with a memory says what one without says, and keeps what did not change', () => {
    fc.assert(
      fc.property(fc.array(documentBody, { minLength: 2, maxLength: 5 }), fc.boolean(), (bodies, fresh) => {
        const ydoc = liveDocument(bodies[0] as DocumentBody)
        const cache = new ProjectionCache()
        let stored = bodies[0] as DocumentBody
        for (const next of bodies) {
          reconcile(ydoc, project(ydoc, stored), next, 'relay')
          const base = fresh ? next : stored
          const body = project(ydoc, base, cache)
          expect(value(body)).toEqual(value(project(ydoc, base)))
          expect(project(ydoc, body, cache)).toBe(body)
          stored = body
        }
        cache[Symbol.dispose]()
      }),
      RUNS,
    )
  })

  it('[YDOC-3] reconciling with nothing changed writes nothing', () => {
    fc.assert(
      fc.property(documentBody, (body) => {
        const ydoc = liveDocument(body)
        let events = 0
        ydoc.on('update', () => events++)
        reconcile(ydoc, body, structuredCopy(body), 'relay')
        reconcile(ydoc, body, body, 'relay')
        catchUp(ydoc, body, 'relay')
        expect(events).toBe(0)
      }),
      RUNS,
    )
  })
})

/** The same body in other objects. */
function structuredCopy(body: DocumentBody): DocumentBody {
  return { ...body, canvas: { ...body.canvas, pages: body.canvas.pages.map((page) => ({ ...page, shapes: [...page.shapes] })) } }
}

/** Everything that `side` added to `a` is in `merged`, unless its page is not there or the other side has the same record. */
function expectAdded(a: DocumentBody, side: DocumentBody, opposite: DocumentBody, merged: DocumentBody): void {
  const ids = (body: DocumentBody) =>
    new Map(body.canvas.pages.map((page) => [page.id, new Set(page.shapes.map((shape) => shape.id))]))
  const [before, mine, theirs, found] = [ids(a), ids(side), ids(opposite), ids(merged)]
  for (const [page, shapes] of mine) {
    if (!before.has(page)) expect(found.has(page)).toBe(true)
    if (before.has(page) && !theirs.has(page)) continue
    for (const shape of shapes) if (!before.get(page)?.has(shape)) expect(found.get(page)?.has(shape)).toBe(true)
  }
  const references = (body: DocumentBody) =>
    body.references?.kind === 'references' ? body.references.items : new Map<string, Json>()
  for (const id of references(side).keys()) if (!references(a).has(id)) expect(references(merged).has(id)).toBe(true)
}
