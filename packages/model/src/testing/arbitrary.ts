import fc from 'fast-check'
import type { DocumentBody } from '../body.ts'
import { parseBody } from '../body-parse.ts'
import type { Json, JsonObject } from '../json.ts'

/** Member names, with names such as `__proto__` on which careless copies of objects fail. */
export const memberName = fc.oneof(
  fc.constantFrom('label', 'note', '__proto__', 'constructor', 'toString', 'length', '7', '10', '', 'ä/~"\\'),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
)

/** Generates an object. Of repeated names the last counts, and `__proto__` is a name like any other. */
export function jsonObject(value: fc.Arbitrary<Json>, maxMembers = 4): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(memberName, value), { maxLength: maxMembers }).map((entries) => Object.fromEntries(entries))
}

const scalar: fc.Arbitrary<Json> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

/** Any JSON value, a few levels deep. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    jsonObject(tie('value'), 3) as fc.Arbitrary<Json>,
  ),
})).value

/** Extra members, without names that the model or the relay uses. */
export const extras: fc.Arbitrary<JsonObject> = jsonObject(json, 3).map((members) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [`x-${name}`, value])),
)

/** Extra members that may also be called `__proto__` or `constructor`. */
export const wildExtras: fc.Arbitrary<JsonObject> = jsonObject(json, 2).map((members) =>
  Object.fromEntries(
    Object.entries(members).filter(([name]) => name === '__proto__' || name === 'constructor' || name === 'ä/~"\\'),
  ),
)

/** Few ids, so that two drawn bodies share some of them. */
export const recordId = fc.constantFrom('a', 'b', 'c', 'd', 'e', '10', '2', '__proto__', 'ü/~')

const block = fc.oneof(
  fc.constantFrom(
    '<p>one</p>',
    '<p>two words</p>',
    '<p id="blk-1">first</p>',
    '<p id="blk-2">second <strong>bold</strong> end</p>',
    '<h2 id="blk-3">Heading</h2>',
    '<ul><li><p>item</p></li></ul>',
    '<p><b>not canonical</b></p>',
    '<hr>',
  ),
  fc.integer({ min: 0, max: 99 }).map((n) => `<p>free text ${n}</p>`),
)

/** Stored HTML of a page, canonical or not. */
export const html = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom('', '<p></p>', 'loose text') },
  { weight: 4, arbitrary: fc.array(block, { maxLength: 6 }).map((blocks) => blocks.join('')) },
)

interface Drawn {
  readonly id: string
  readonly value: JsonObject
}

function drawn(value: fc.Arbitrary<JsonObject>, maxLength: number): fc.Arbitrary<readonly Drawn[]> {
  return fc.uniqueArray(
    fc.tuple(recordId, value).map(([id, members]): Drawn => ({ id, value: { id, ...members } })),
    { maxLength, selector: (record) => record.id },
  )
}

const shape = fc.tuple(fc.constantFrom('rectangle', 'text', 'odd'), fc.integer({ min: 0, max: 5 }), extras, wildExtras)
const shapeValue = shape.map(([type, x, more, wild]): JsonObject => ({ type, x, ...more, ...wild }))

function keyedOf(records: readonly Drawn[]): { records: JsonObject; order: string[] } {
  return { records: Object.fromEntries(records.map(({ id, value }) => [id, value])), order: records.map(({ id }) => id) }
}

/** One shape may be a group of the shapes that follow it. */
const pageShapes = fc.tuple(drawn(shapeValue, 5), fc.nat(6), fc.nat(2)).map(([shapes, at, size]) => {
  const members = shapes.slice(at + 1, at + 1 + size).map(({ id }) => id)
  const grouped = shapes.map((drawnShape, i) =>
    i === at ? { id: drawnShape.id, value: { ...drawnShape.value, type: 'group', childIds: members } } : drawnShape,
  )
  return { shapes: grouped, members }
})

const canvasPage: fc.Arbitrary<JsonObject> = fc
  .tuple(pageShapes, fc.boolean(), extras, fc.string({ maxLength: 5 }))
  .map(([{ shapes, members }, keyed, more, name]): JsonObject => {
    if (!keyed) return { name, shapes: shapes.map(({ value }) => value), ...more }
    const { records, order } = keyedOf(shapes)
    return { name, ...more, shapes: records, shapeOrder: order.filter((id) => !members.includes(id)) }
  })

const prosePage: fc.Arbitrary<JsonObject> = fc
  .tuple(html, extras, fc.option(fc.constantFrom('red', 'blue'), { nil: undefined }))
  .map(([content, more, color]): JsonObject => ({ name: 'P', ...(color === undefined ? {} : { color }), content, ...more }))

const entries = fc.tuple(drawn(extras, 4), extras)

/**
 * Generates a document body in the list form, the keyed form or any mix. The body needs no healing, so reading and writing it changes nothing. It has none of
 * the members that the relay keeps beside the body.
 */
export const bodyValue: fc.Arbitrary<JsonObject> = fc
  .record({
    title: fc.dictionary(fc.constantFrom('name', 'title'), fc.constantFrom('A', 'B', ''), { noNullPrototype: true }),
    canvas: fc.tuple(drawn(canvasPage, 3), fc.boolean()),
    prose: fc.tuple(drawn(prosePage, 3), fc.boolean(), extras),
    references: fc.option(fc.tuple(entries, fc.constantFrom('itemOrder', 'order'), fc.constantFrom('apa', 'mla', 'own')), {
      nil: undefined,
    }),
    fields: fc.option(entries, { nil: undefined }),
    tags: fc.option(fc.array(fc.constantFrom('t', 'u')), { nil: undefined }),
    more: extras,
    wild: wildExtras,
  })
  .map((body): JsonObject => {
    const pages = keyedOf(body.canvas[0])
    const prose = keyedOf(body.prose[0])
    const texts = body.references?.[0]
    return {
      ...body.title,
      ...(body.canvas[1]
        ? { pages: pages.records, pageOrder: pages.order }
        : { pages: body.canvas[0].map(({ value }) => value) }),
      ...body.more,
      richTextPages: body.prose[1]
        ? { ...body.prose[2], pages: prose.records, pageOrder: prose.order }
        : body.prose[0].map(({ value }) => value),
      ...(texts === undefined || body.references === undefined
        ? {}
        : {
            references: {
              items: keyedOf(texts[0]).records,
              [body.references[1]]: keyedOf(texts[0]).order,
              style: body.references[2],
              ...texts[1],
            },
          }),
      ...(body.fields === undefined
        ? {}
        : { fields: { fields: keyedOf(body.fields[0]).records, order: keyedOf(body.fields[0]).order, ...body.fields[1] } }),
      ...(body.tags === undefined ? {} : { tags: body.tags }),
      ...body.wild,
    }
  })

/** `bodyValue` as the model reads it. */
export const documentBody: fc.Arbitrary<DocumentBody> = bodyValue.map(bodyOf)

export function bodyOf(value: Json): DocumentBody {
  const parsed = parseBody(value)
  if (!parsed.ok) throw new Error(`${parsed.path}: ${parsed.reason}`)
  return parsed.body
}
