import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { UpdateWriter } from '../testing/update-writer.ts'
import { indexedDoc } from './indexed-doc.ts'
import { threadTime } from '@docrelay/model/testing/thread-time'

const ROOTS = 9_999
const ITEMS = 60_000

const stepArb = fc.record({
  root: fc.constantFrom('a', 'b', 'c'),
  kind: fc.constantFrom('text', 'entry', 'remote', 'clear'),
  value: fc.integer({ min: 0, max: 9 }),
})
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never

/**
 * Builds a document with roots of several types. A root gets its type at its first local use; before and after that, remote updates write
 * to it.
 */
function play(doc: Y.Doc, steps: readonly Step[]): Uint8Array[] {
  const emitted: Uint8Array[] = []
  doc.clientID = 1
  doc.on('update', (update: Uint8Array) => emitted.push(update))
  steps.forEach(({ root, kind, value }, i) => {
    if (kind === 'text') doc.getText(`text-${root}`).insert(0, String(value))
    else if (kind === 'entry') doc.getMap(`map-${root}`).set(String(value), i)
    else if (kind === 'clear') doc.getMap(`map-${root}`).clear()
    else {
      const other = new UpdateWriter().block(100 + i, 0, 2, (w, n) =>
        n === 0 ? w.string(`text-${root}`, 'x') : w.entry(`map-${root}`, String(value)),
      )
      Y.applyUpdate(doc, other.deletes([]))
    }
  })
  return emitted
}

describe('a document with many roots', () => {
  it('[WS-34] [C8] the time to apply, emit and encode 60,000 first items of 9,999 roots does not grow with roots times items', () => {
    const doc = indexedDoc()
    const emitted: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => emitted.push(update))
    // The items refer to all roots evenly, in another order than that in which the roots were created.
    const update = new UpdateWriter()
      .block(9, 0, ROOTS + ITEMS, (w, i) => w.string(`root${i < ROOTS ? i : (i * 7_919) % ROOTS}`, 'x'))
      .deletes([])
    const took = threadTime()
    Y.applyUpdate(doc, update)
    const state = Y.encodeStateAsUpdate(doc)
    // Without the index this takes more than ten times as long.
    expect(took()).toBeLessThan(1_500)
    expect(state).toEqual(update)
    expect(emitted).toEqual([update])
  })

  it('[WS-34] [C8] looking up the name of a root finds it as the first entry of share', () => {
    const doc = indexedDoc()
    const names = Array.from({ length: 1_000 }, (_, i) => `root${i}`)
    for (const name of names) doc.get(name)
    for (const name of names) {
      const { share } = doc.get(name).doc as Y.Doc
      const [first] = share.entries()
      expect(first).toEqual([name, doc.get(name)])
    }
    doc.getMap('root500').set('k', 1)
    expect(Y.findRootTypeKey(doc.getMap('root500'))).toBe('root500')
  })

  it('[YDOC-6] iterating over the roots yields each root once, whichever root was looked up before', () => {
    const doc = indexedDoc()
    for (const name of ['a', 'b', 'c']) doc.getMap(name)
    expect(doc.getMap('b').doc).toBe(doc)
    expect([...doc.share.entries()].map(([name]) => name)).toEqual(['b', 'a', 'c'])
    expect(doc.getMap('c').doc).toBe(doc)
    expect([...doc.share].map(([name]) => name)).toEqual(['a', 'b', 'c'])
    expect([...doc.share.keys()]).toEqual(['a', 'b', 'c'])
  })

  it('[YDOC-6] an indexed document emits, encodes and reads the same as a plain Y.Doc', () => {
    fc.assert(
      fc.property(fc.array(stepArb, { maxLength: 40 }), (steps) => {
        const [plain, indexed] = [new Y.Doc(), indexedDoc()]
        expect(play(indexed, steps)).toEqual(play(plain, steps))
        expect(Y.encodeStateAsUpdate(indexed)).toEqual(Y.encodeStateAsUpdate(plain))
        for (const name of plain.share.keys()) {
          const read = (doc: Y.Doc) => (name.startsWith('map') ? doc.getMap(name) : doc.getText(name)).toJSON()
          expect(read(indexed)).toEqual(read(plain))
        }
      }),
      { seed: 34, numRuns: 200 },
    )
  })
})
