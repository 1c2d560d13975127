import { body, canvasPage } from '@docrelay/model/testing/builders'
import { json, wildExtras } from '@docrelay/model/testing/arbitrary'
import type { DocumentBody } from '@docrelay/model/body'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { project } from './binding-project.ts'
import { encodeAdded } from './binding-encoded.ts'
import { reconcile } from './binding-reconcile.ts'
import { seed } from './binding-seed.ts'

const shape = fc.tuple(fc.uuid(), wildExtras, json).map(([id, wild, value]) => ({ type: 'odd', value, ...wild, id }))
const shapes = fc.uniqueArray(shape, { selector: ({ id }) => id, maxLength: 40 })
const bodyOf = (...all: Parameters<typeof canvasPage>[1][]) => body({ pages: [canvasPage('c', ...all), canvasPage('d')] })

/** Writes a change. Returns the document with its state, the updates that it emitted, and the content classes of its entries. */
function written(before: DocumentBody, after: DocumentBody, isEncoded: boolean) {
  const doc = new Y.Doc()
  doc.clientID = 7
  seed(doc, before, 'test')
  const updates: Uint8Array[] = []
  doc.on('update', (update: Uint8Array) => updates.push(update))
  reconcile(doc, before, after, 'test', undefined, isEncoded ? { encoded: encodeAdded(before, after) } : {})
  const contents = [...doc.getMap('shapes:c')._map.values()].map(({ content }) => content.constructor)
  return { doc, updates, contents, state: Y.encodeStateAsUpdate(doc) }
}

it('[CONC-14] [YDOC-2] shapes with any content that were encoded ahead make the same update and the same document', () => {
  fc.assert(
    fc.property(shapes, shapes, (old, added) => {
      const known = new Set(old.map(({ id }) => id))
      const before = bodyOf(...old)
      const made = bodyOf(...old, ...added.filter(({ id }) => !known.has(id)))
      const [first, ...others] = before.canvas.pages
      const pages = made.canvas.pages.map((page, i) =>
        i === 0 ? { ...page, shapes: [...(first?.shapes ?? []), ...page.shapes.slice(old.length)] } : page,
      )
      const after = { ...before, canvas: { ...before.canvas, pages: [pages[0] as (typeof pages)[number], ...others] } }
      const [ahead, plain] = [written(before, after, true), written(before, after, false)]
      expect(ahead.updates).toEqual(plain.updates)
      expect(ahead.state).toEqual(plain.state)
      expect(ahead.contents.every((held) => held === Y.ContentAny)).toBe(true)
      expect(project(ahead.doc, after)).toBe(after)
    }),
    { seed: 14, numRuns: 200 },
  )
})

it('[CONC-14] the transaction writes the bytes that were encoded ahead, even in an update that is longer than the buffers of Yjs', () => {
  const long = Array.from({ length: 300 }, (_, i) => ({ id: `s${i}`, type: 'text', text: 'é'.repeat(i * 7) }))
  const [before, after] = [bodyOf(), bodyOf(...long)]
  const encoded = encodeAdded(before, after)
  expect(encoded.size).toBe(300)
  expect(written(before, after, true).updates).toEqual(written(before, after, false).updates)
  // Other encoded bytes change the length of the update, which proves that the encoded bytes are written.
  const other = new Map([...encoded].map(([value]) => [value, Uint8Array.of(126)] as const))
  const doc = new Y.Doc()
  seed(doc, before, 'test')
  const lengths: number[] = []
  doc.on('update', (update: Uint8Array) => lengths.push(update.length))
  reconcile(doc, before, after, 'test', undefined, { encoded: other })
  expect(lengths).toHaveLength(1)
  expect(lengths[0]).toBeLessThan(20_000)
})
