import type { DocumentBody } from '@docrelay/model/body'
import { EMPTY_BODY, readStoredBody } from '@docrelay/model/body-parse'
import { writeBody } from '@docrelay/model/body-write'
import { equalJson, type Json } from '@docrelay/model/json'
import { documentBody, json, recordId } from '@docrelay/model/testing/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { catchUp, ProjectionCache, project, reconcile, seed } from './binding.ts'
import { exchange, liveDocument, paragraph, replica } from '../testing/live-document.ts'

const RUNS = { numRuns: 80 }

function value(body: DocumentBody): Json {
  return JSON.parse(writeBody(body)) as Json
}

function same(a: DocumentBody, b: DocumentBody): void {
  if (!equalJson(value(a), value(b))) expect(value(a)).toEqual(value(b))
}

describe('laws of the binding between the live document and the body', () => {
  it('[YDOC-1] [BODY-2] [BODY-7] a seeded document projects to the body it was seeded with', () => {
    fc.assert(
      fc.property(documentBody, (body) => {
        expect(project(liveDocument(body), body)).toBe(body)
      }),
      RUNS,
    )
  })

  it('[LIFE-13] [LIFE-14] reconciling a live document that nobody else edits makes it project to exactly the wanted body', () => {
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

  it('[YDOC-8] [LIFE-15] catching up an older live state with a newer stored body makes it, and every replica, project to that body', () => {
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

  it('[YDOC-9] two nodes that seed the same body produce identical bytes', () => {
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

  it('[LIFE-14] two replicas that reconcile different edits converge and keep what each side added', () => {
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

  it('[LIFE-14] reconciling an edit of an older body keeps what other clients changed meanwhile', () => {
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

  it('[YDOC-4] projecting a live document writes nothing to it', () => {
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

  it('[LIFE-9] a cached projection equals an uncached one, and projecting again without a change returns the same object', () => {
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

  it('[LIFE-12] after random client edits the projected body is written and read back without a change', () => {
    fc.assert(
      fc.property(documentBody, fc.array(clientEdit, { maxLength: 12 }), (body, edits) => {
        const ydoc = liveDocument(body)
        const cache = new ProjectionCache()
        let stored = body
        for (const edit of edits) {
          edit(ydoc)
          const next = project(ydoc, stored, cache)
          expect(value(next)).toEqual(value(project(ydoc, stored)))
          stored = next
        }
        const text = writeBody(stored)
        const read = readStoredBody(new TextEncoder().encode(text))
        expect(writeBody(read)).toBe(text)
        expect(project(replica(ydoc), read)).toBe(read)
        catchUp(ydoc, read, 'relay')
        expect(value(project(ydoc, read))).toEqual(value(read))
        const before = Y.encodeStateAsUpdate(ydoc)
        catchUp(ydoc, read, 'relay')
        expect(Y.encodeStateAsUpdate(ydoc)).toEqual(before)
      }),
      RUNS,
    )
  })

  it('[YDOC-3] reconciling two equal bodies writes nothing', () => {
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

const root = fc.constantFrom('canvasPages', 'prosePages', 'shapes:a', 'shapes:b', 'references', 'fields')
const order = fc.constantFrom('canvasPageOrder', 'prosePageOrder', 'shapeOrder:a', 'shapeOrder:b', 'referenceOrder', 'fieldOrder')
const oddValue: fc.Arbitrary<() => unknown> = fc.oneof(
  json.map((given) => () => (typeof given === 'object' && given !== null ? JSON.parse(stripped(given)) : given)),
  recordId.map((id) => () => ({ id, type: 'rectangle', createdAt: 5 })),
  fc.array(recordId, { maxLength: 4 }).map((childIds) => () => ({ type: 'group', childIds })),
  fc.constantFrom<() => unknown>(
    () => ({ big: 3n, none: undefined, bytes: new Uint8Array([1]), endless: -Infinity }),
    () => new Y.Map<unknown>([['type', 'nested']]),
    () => Y.Array.from([1, 'x']),
    () => new Y.Text('text'),
  ),
)

/** Any edit of a client. It need not make sense. */
const clientEdit: fc.Arbitrary<(ydoc: Y.Doc) => void> = fc.oneof(
  fc.tuple(root, recordId, oddValue).map(
    ([name, id, made]) =>
      (ydoc: Y.Doc) =>
        void ydoc.getMap(name).set(id, made()),
  ),
  fc.tuple(root, recordId).map(
    ([name, id]) =>
      (ydoc: Y.Doc) =>
        ydoc.getMap(name).delete(id),
  ),
  fc.tuple(order, fc.oneof<fc.Arbitrary<string | number>[]>(recordId, fc.integer())).map(
    ([name, id]) =>
      (ydoc: Y.Doc) =>
        ydoc.getArray(name).insert(0, [id]),
  ),
  order.map((name) => (ydoc: Y.Doc) => ydoc.getArray(name).length > 0 && ydoc.getArray(name).delete(0, 1)),
  fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('typed', '')).map(
    ([page, text]) =>
      (ydoc: Y.Doc) =>
        ydoc.getXmlFragment(`prose:${page}`).insert(0, [paragraph(text)]),
  ),
  fc
    .constantFrom('a', 'b')
    .map(
      (page) => (ydoc: Y.Doc) =>
        ydoc.getXmlFragment(`prose:${page}`).insert(0, [new Y.XmlText('loose'), new Y.XmlElement('widget')]),
    ),
  fc
    .tuple(
      fc.constantFrom('title', 'tags', 'citationStyle', 'updatedAt'),
      fc.constantFrom<unknown>('T', '', ['t'], 'apa', 4, null, { a: 1 }),
    )
    .map(
      ([name, made]) =>
        (ydoc: Y.Doc) =>
          void ydoc.getMap('metadata').set(name, made),
    ),
) as fc.Arbitrary<(ydoc: Y.Doc) => void>

/** Returns a value as JSON text, without the member names that Yjs cannot transfer. */
function stripped(given: Json): string {
  return JSON.stringify(given, (name, member: unknown) => (name === '__proto__' || name === 'constructor' ? undefined : member))
}

/** Returns an equal body made of other objects. */
function structuredCopy(body: DocumentBody): DocumentBody {
  return { ...body, canvas: { ...body.canvas, pages: body.canvas.pages.map((page) => ({ ...page, shapes: [...page.shapes] })) } }
}

/** Expects `merged` to contain everything that `side` added to `a`, unless its page is gone or the other side has the same record. */
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
