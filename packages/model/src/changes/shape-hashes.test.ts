import { anyCharacter } from '../testing/any-character.ts'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject, omitMembers } from '../json.ts'
import { hashOfText } from '../stamps/stamp.ts'
import { jsonHash, shapeHash, shapeHashes } from './shape-hashes.ts'

/** Hashes a value by the definition: sorts the members of each object, then hashes the text of `JSON.stringify`. */
function definedHash(value: Json): number {
  const sorted = (object: JsonObject) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
  return hashOfText(JSON.stringify(value, (_, member: Json) => (isJsonObject(member) ? sorted(member) : member)))
}

const name = fc.oneof(fc.string(), fc.constantFrom('1', '10', '2', '01', '__proto__', 'ä', '"', 'x', 'y', 'id', 'label'))
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, false, 0, -0, 1e21, 1e-7, 1.5),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: anyCharacter }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}))

it('[AG-66] the hash of any value is the hash of its JSON with sorted members', () => {
  fc.assert(
    fc.property(json.value as fc.Arbitrary<Json>, (value) => {
      expect(jsonHash(value)).toBe(definedHash(value))
    }),
  )
})

it('[AG-66] the hash of a shape leaves out its position and its author, also when many shapes are hashed at once', () => {
  const placed = { id: 's', x: 1, y: 2, x2: 3, y2: 4, waypoints: [{ x: 1, y: 1 }], provenance: { at: 5 }, label: 'a' }
  const box: JsonObject = { ...placed, type: 'rectangle' }
  const free: JsonObject = { ...placed, type: 'connector' }
  const attached: JsonObject = { ...placed, type: 'connector', endShapeId: 't' }
  const own = ['id', 'provenance', 'x', 'y']
  const hashes = shapeHashes()
  for (const [shape, unsaid] of [
    [box, own],
    [free, [...own, 'waypoints']],
    [attached, [...own, 'waypoints', 'x2', 'y2']],
    [{ ...box, label: 'b' }, own],
    [{ label: 'b', ...box }, own],
  ] as const) {
    const expected = definedHash(omitMembers(shape, ...unsaid))
    expect(hashes(shape)).toBe(expected)
    expect(shapeHash(shape)).toBe(expected)
  }
})
