import fc from 'fast-check'
import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { applyUpdateOf } from './client-index.ts'
import { indexedDoc } from './indexed-doc.ts'

/** What a client does to its copy of a page with two paragraphs and a map. */
type Step =
  | { readonly kind: 'type'; readonly at: number; readonly text: string }
  | { readonly kind: 'delete'; readonly at: number; readonly length: number }
  | { readonly kind: 'bold'; readonly at: number; readonly length: number; readonly value: true | null }
  | { readonly kind: 'split'; readonly at: number }
  | { readonly kind: 'remove block'; readonly at: number }
  | { readonly kind: 'set'; readonly name: string; readonly value: number }
  | { readonly kind: 'type twice'; readonly at: number }

const place = fc.nat({ max: 40 })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('type' as const), at: place, text: fc.string({ minLength: 1, maxLength: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete' as const), at: place, length: fc.integer({ min: 1, max: 5 }) }),
  },
  fc.record({
    kind: fc.constant('bold' as const),
    at: place,
    length: fc.integer({ min: 1, max: 5 }),
    value: fc.constantFrom(true as const, null),
  }),
  fc.record({ kind: fc.constant('split' as const), at: place }),
  fc.record({ kind: fc.constant('remove block' as const), at: place }),
  fc.record({ kind: fc.constant('set' as const), name: fc.constantFrom('a', 'b'), value: fc.nat({ max: 9 }) }),
  fc.record({ kind: fc.constant('type twice' as const), at: place }),
)

function doStep(doc: Y.Doc, given: Step): void {
  const page = doc.getXmlFragment('page')
  const block = page.get('at' in given ? given.at % Math.max(1, page.length) : 0)
  const text = block instanceof Y.XmlElement ? block.get(0) : undefined
  switch (given.kind) {
    case 'set':
      doc.getMap('map').set(given.name, given.value)
      return
    case 'split': {
      const made = new Y.XmlElement('p')
      made.insert(0, [new Y.XmlText('new')])
      page.insert(Math.min(given.at, page.length), [made])
      return
    }
    case 'remove block':
      if (page.length > 1) page.delete(given.at % page.length)
      return
  }
  if (!(text instanceof Y.XmlText)) return
  const at = Math.min(given.at, text.length)
  switch (given.kind) {
    case 'type':
      text.insert(at, given.text)
      return
    case 'type twice':
      doc.transact(() => {
        text.insert(at, 'x')
        text.insert(0, 'y')
        doc.getMap('map').set('both', at)
      })
      return
    case 'delete':
      if (at < text.length) text.delete(at, Math.min(given.length, text.length - at))
      return
    case 'bold':
      if (at < text.length) text.format(at, Math.min(given.length, text.length - at), { bold: given.value })
  }
}

/** Notes all that a room and Yjs read of a transaction, with types as the ids of their items. */
function observed(doc: Y.Doc): unknown[] {
  const notes: unknown[] = []
  const nameOf = (type: Y.AbstractType<Y.YEvent<never>>): string =>
    type._item === null ? 'root' : `${type._item.id.client}:${type._item.id.clock}`
  doc.on('update', (update: Uint8Array) => notes.push(Buffer.from(update).toString('hex')))
  doc.on('afterTransaction', (transaction: Y.Transaction) => {
    const changed = [...transaction.changed].map(([type, keys]) => [nameOf(type as never), [...keys].sort()])
    const grown = [...transaction.afterState]
      .map(([client, clock]) => [client, transaction.beforeState.get(client) ?? 0, clock] as const)
      .filter(([, before, after]) => before !== after)
      .sort(([a], [b]) => a - b)
    notes.push({ changed, parents: [...transaction.changedParentTypes.keys()].map((type) => nameOf(type as never)), grown })
  })
  doc.getXmlFragment('page').observeDeep((events) => {
    for (const event of events) notes.push([event.path, JSON.stringify(event.changes.delta), [...event.keys.keys()]])
  })
  return notes
}

const clientsIn = (update: Uint8Array): number[] => [...new Set(Y.decodeUpdate(update).structs.map(({ id }) => id.client))]
const structsOf = (doc: Y.Doc): unknown => [...doc.store.clients].map(([client, structs]) => [client, structs.length]).toSorted()

/** Plays the steps, each at a copy of one of several clients that sees what all did before, or only the first half of it. */
function play(steps: readonly (readonly [client: number, isBehind: boolean, step: Step])[]): void {
  const start = new Y.Doc()
  start.clientID = 1
  for (const word of ['one', 'two']) doStep(start, { kind: 'split', at: word.length })
  const first = Y.encodeStateAsUpdate(start)
  const [plain, indexed] = [new Y.Doc(), indexedDoc()]
  for (const doc of [plain, indexed]) {
    doc.clientID = 9
    Y.applyUpdate(doc, first)
  }
  const notes = [observed(plain), observed(indexed)]
  const updates = [first]
  for (const [client, isBehind, given] of steps) {
    const copy = new Y.Doc()
    copy.clientID = 1_000 + client + 100 * updates.length
    for (const update of isBehind ? updates.slice(0, Math.ceil(updates.length / 2)) : updates) Y.applyUpdate(copy, update)
    const made: Uint8Array[] = []
    copy.on('update', (update: Uint8Array) => made.push(update))
    doStep(copy, given)
    for (const update of made) {
      Y.applyUpdate(plain, update, 'someone')
      applyUpdateOf(clientsIn(update), indexed, update, 'someone')
      updates.push(update)
    }
  }
  expect(notes[1]).toEqual(notes[0])
  expect(structsOf(indexed)).toEqual(structsOf(plain))
  expect(Buffer.from(Y.encodeStateAsUpdate(indexed)).equals(Buffer.from(Y.encodeStateAsUpdate(plain)))).toBe(true)
}

it('[D3] an update that is applied with its clients named leaves, emits and reports the same as with Y.applyUpdate', () => {
  const steps = fc.array(fc.tuple(fc.nat({ max: 3 }), fc.boolean(), step), { minLength: 1, maxLength: 14 })
  fc.assert(fc.property(steps, play), { numRuns: 300 })
})

it('[C8] an update of one letter passes over the clients that it touches, in a document of 3,000 clients', () => {
  const doc = indexedDoc()
  const many = new Y.Doc()
  for (let i = 0; i < 3_000; i++) {
    many.clientID = 10 + i
    many.getText('t').insert(0, 'a')
    many.getText('t').insert(1, 'b')
  }
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(many))
  const sizes: number[] = []
  doc.on('afterTransaction', ({ beforeState, afterState }: Y.Transaction) => sizes.push(beforeState.size, afterState.size))
  many.on('update', (update: Uint8Array) => applyUpdateOf(clientsIn(update), doc, update, null))
  many.getText('t').insert(0, 'x')
  expect(sizes).toEqual([1, 1])
  expect(doc.getText('t').toString()).toBe(many.getText('t').toString())
  expect(Y.encodeStateVector(doc)).toEqual(Y.encodeStateVector(many))
})
