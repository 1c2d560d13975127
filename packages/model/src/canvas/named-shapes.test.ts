import { describe, expect, it } from 'vitest'
import type { DocumentBody } from '../body.ts'
import { isRefusal, type Refusal } from '../edit.ts'
import { runEdit, type EditName } from '../edits.ts'
import type { JsonObject } from '../json.ts'
import { jsonBytes } from '../paging.ts'
import { countingEnvironment } from '../prose/testing/editing.ts'
import { readDocument, type ReadName, type ReadArgs } from '../reads.ts'
import { stampOfText } from '../stamps/stamp.ts'
import { body, canvasPage } from '../testing/builders.ts'
import { getShape } from './shown-shapes.ts'
import { shapeStamp } from './shape-stamp.ts'

const box = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  type: 'rectangle',
  x: 10,
  y: 20,
  width: 100,
  height: 50,
  ...more,
})
const link = (id: string, more: JsonObject = {}): JsonObject => ({
  ...{ id, type: 'connector', x: 60, y: 20, x2: 160, y2: 20 },
  ...{ startShapeId: 'a', endShapeId: 'b', ...more },
})
const drawing = (...shapes: readonly JsonObject[]): DocumentBody => body({ pages: [canvasPage('p', ...shapes)] })
const given = drawing(box('a', { label: 'A' }), box('b', { x: 300 }), link('k', { label: 'calls' }))

const valueOf = (document: DocumentBody, id: string) =>
  document.canvas.pages[0]?.shapes.find((shape) => shape.id === id)?.value as JsonObject
const stamped = (id: string, document = given) => `${id}#${shapeStamp(valueOf(document, id))}`

function edited(name: EditName, document: DocumentBody, args: object) {
  const answer = runEdit(name, document, { pageId: 'p', ...args }, countingEnvironment())
  if (isRefusal(answer)) throw new Error(`${answer.code}: ${answer.message}`)
  return answer
}
function refusalOf(name: EditName, document: DocumentBody, args: object): Refusal {
  const answer = runEdit(name, document, { pageId: 'p', ...args }, countingEnvironment())
  if (!isRefusal(answer)) throw new Error('the edit was not refused')
  return answer
}
function read<N extends ReadName>(name: N, document: DocumentBody, args: ReadArgs[N]) {
  const facts = { id: 'd', serverVersion: 1, source: 'relay', modifiedAt: 0, access: 'edit', collectionId: null } as const
  const answer = readDocument(name, document, facts, args)
  if (isRefusal(answer)) throw new Error(answer.message)
  return answer.result
}

describe('the stamp of a shape', () => {
  it('[AG-5] the stamp of a shape is the hash of its sorted members without id, provenance, x and y', () => {
    const value = box('a', { provenance: { source: 'mcp', at: 7 }, label: 'ü', deep: [{ z: 1, a: null }], 10: true, 9: false })
    const canonical = '{"10":true,"9":false,"deep":[{"a":null,"z":1}],"height":50,"label":"ü","type":"rectangle","width":100}'
    expect(shapeStamp(value)).toBe(stampOfText(canonical))
    const others: readonly JsonObject[] = [{ label: 'u' }, { width: 101 }, { rotation: 0 }]
    for (const other of others) expect(shapeStamp({ ...value, ...other })).not.toBe(shapeStamp(value))
  })

  it('[AG-5] the stamp of a connector leaves out its waypoints and the place of attached ends, and includes x2 and y2 of a free end', () => {
    const stamp = shapeStamp(link('k'))
    expect(shapeStamp(link('k', { x: 1, y: 2, x2: 3, y2: 4, waypoints: [{ x: 5, y: 6 }] }))).toBe(stamp)
    expect(shapeStamp(link('k', { endShapeId: 'c' }))).not.toBe(stamp)
    const free = (x2: number) => shapeStamp(link('k', { endShapeId: null, x2 }))
    expect(free(1)).not.toBe(free(2))
    expect(shapeStamp(box('a', { waypoints: [] }))).not.toBe(shapeStamp(box('a')))
  })

  it('[AG-5] moving a box changes neither its stamp nor those of its connectors', () => {
    const routed = drawing(box('a'), box('b', { x: 300 }), link('k', { routingMode: 'orthogonal' }))
    const moved = edited('update_shape', routed, { id: stamped('a', routed), patch: { x: 40, y: 500 } }).body
    expect(valueOf(moved, 'k')).not.toEqual(valueOf(routed, 'k'))
    for (const id of ['a', 'b', 'k']) expect(stamped(id, moved)).toBe(stamped(id, routed))
  })
})

describe('shapes in answers', () => {
  it('[AG-11] get_page and get_shape show the bare id and the stamp beside it', () => {
    const { shapes } = read('get_page', given, { pageId: 'p' }) as { shapes: readonly { id: string; stamp: string }[] }
    expect(shapes.map(({ id, stamp }) => `${id}#${stamp}`)).toEqual(['a', 'b', 'k'].map((id) => stamped(id)))
    expect(shapes[2]).toMatchObject({ startShapeId: 'a', endShapeId: 'b' })
    expect(read('get_shape', given, { pageId: 'p', id: 'a' })).toMatchObject({ shape: { id: 'a', stamp: stamped('a').slice(2) } })
  })

  it('[AG-15] answers with bare ids have no stamps of shapes, and a call may still give a stamp in an argument', () => {
    const bare = { pageId: 'p', naming: 'bare' } as const
    expect(JSON.stringify([read('get_page', given, bare), read('get_shape', given, { ...bare, id: stamped('a') })])).not.toMatch(
      /stamp|#/,
    )
    expect(refusalOf('update_shape', given, { ...bare, id: 'a#0000', patch: { x: 1 } }).facts).toMatchObject({
      current: { id: 'a' },
    })
  })

  it('[AG-11] add_shape and update_shape accept the stamp member of a shape that was read, without a fix', () => {
    const shown = getShape(given, { pageId: 'p', id: 'a' })
    if (isRefusal(shown)) throw new Error(shown.message)
    const { id: _, ...shape } = shown.shape
    expect(edited('add_shape', given, { shape }).fixes).toEqual([])
    expect(edited('update_shape', given, { id: 'a', patch: { stamp: 'abcd', text: 'B' } }).fixes).toEqual([])
  })
})

describe('shapes that a call names', () => {
  const changed = drawing(box('a', { label: 'New' }), box('b', { x: 300 }), link('k', { label: 'calls' }))
  const A = stamped('a')
  const calls: readonly (readonly [EditName, (name: string) => object])[] = [
    ['update_shape', (id) => ({ id, patch: { w: 120 } })],
    ['delete_shape', (id) => ({ id })],
    ['connect', (fromId) => ({ fromId, toId: 'b' })],
    ['connect', (toId) => ({ fromId: 'b', toId })],
    ['reorder_shapes', (id) => ({ order: ['k', id, 'b'] })],
    ['add_shape', (startShapeId) => ({ shape: { kind: 'connector', startShapeId, endShapeId: 'b' } })],
    [
      'add_shapes',
      (endShapeId) => ({
        shapes: [
          { kind: 'text', id: 't' },
          { kind: 'connector', startShapeId: 'b', endShapeId },
        ],
      }),
    ],
    ['update_shape', (endShapeId) => ({ id: 'k', patch: { startShapeId: 'b', endShapeId } })],
    ['generate_diagram', (shapeId) => ({ nodes: [{ id: 'n', shapeId }, { id: 'm' }], edges: [{ from: 'n', to: 'm' }] })],
    ['generate_diagram', (near) => ({ nodes: [{ id: 'n' }], near })],
  ]

  it.each(calls)('[AG-6] %s gives the same answer for the id of a shape with its stamp and without', (name, args) => {
    const bare = edited(name, given, args('a'))
    const upper = `a#${A.slice(2).toUpperCase()}`
    for (const id of [A, upper]) expect(edited(name, given, args(id))).toEqual(bare)
  })

  it.each(calls)(
    '[AG-7] %s refuses a shape that changed since its stamp was printed, with the shape as it is now',
    (name, args) => {
      const refused = refusalOf(name, changed, args(A))
      expect(refused).toMatchObject({
        code: 'ERR_SHAPE_CHANGED',
        facts: { id: 'a', current: { id: stamped('a', changed), type: 'rectangle', content: { id: 'a', text: 'New', w: 100 } } },
      })
      const { current } = refused.facts as { current: { id: string } }
      expect(isRefusal(runEdit(name, changed, { pageId: 'p', ...args(current.id) }, countingEnvironment()))).toBe(false)
    },
  )

  it('[AG-7] reading a shape is not refused for an old stamp', () => {
    expect(getShape(changed, { pageId: 'p', id: A })).toMatchObject({ shape: { text: 'New' } })
  })

  it('[AG-7] a refusal shows the current shape cut when it has more than 4,000 bytes, and then its id without a stamp', () => {
    const long = drawing(box('a', { label: 'word '.repeat(1_000) }), box('b'))
    const { current } = refusalOf('delete_shape', long, { id: 'a#0000' }).facts as { current: { id: string; cut?: boolean } }
    expect(current).toMatchObject({ id: 'a', cut: true, content: { id: 'a', w: 100 } })
    expect(jsonBytes(current)).toBeLessThan(4_000)
  })

  it('[AG-6] the whole text is tried as an id first, a malformed stamp is refused with the name of its argument, and an unknown id is not found', () => {
    const odd = drawing(box('a'), box('a#zzzz'))
    expect(edited('delete_shape', odd, { id: 'a#zzzz' }).result).toEqual({ deleted: ['a#zzzz'] })
    expect(refusalOf('delete_shape', given, { id: 'a#zz' })).toMatchObject({
      code: 'ERR_BAD_ARGUMENT',
      facts: { argument: 'id' },
    })
    expect(refusalOf('connect', given, { fromId: 'b', toId: 'a#' }).facts).toMatchObject({ argument: 'toId' })
    expect(refusalOf('delete_shape', given, { id: 'z#0000' })).toMatchObject({
      code: 'ERR_SHAPE_NOT_FOUND',
      facts: { shapeId: 'z' },
    })
    const loose = { shape: { kind: 'connector', startShapeId: 'z#0000' } }
    expect(refusalOf('add_shape', given, loose)).toMatchObject({ code: 'ERR_CONNECTOR_END' })
  })

  it('[AG-14] deleted shapes and orders are listed without stamps', () => {
    expect(edited('delete_shape', given, { id: A }).result).toEqual({ deleted: ['a', 'k'] })
    expect(edited('reorder_shapes', given, { order: ['k', 'b', A] }).result).toMatchObject({ order: ['k', 'b', 'a'] })
  })
})
