import { kindOf } from '../canvas/shape-kinds.ts'
import { stringOf } from '../canvas/stored-shape.ts'
import { isJsonObject, type Json, type JsonObject } from '../json.ts'
import { hashOfText } from '../stamps/stamp.ts'

/** The same for equal values, whatever the order of their members. */
export function jsonHash(value: Json): number {
  return hashOfText(new SortedJson().write(value))
}

/** What a shape says: all but who wrote it and where it lies. [AG-5, AG-66] */
export function shapeHash(value: JsonObject): number {
  return shapeHashes()(value)
}

/** `shapeHash` for many shapes, which mostly have the same members in the same order: these are sorted once. */
export function shapeHashes(): (value: JsonObject) => number {
  const json = new SortedJson()
  return (value) => hashOfText(json.write(value, unsaidOf(value)))
}

const UNSAID = ['id', 'provenance', 'x', 'y']
const UNSAID_OF_LINE = [...UNSAID, 'waypoints']
const UNSAID_OF_ATTACHED = [...UNSAID_OF_LINE, 'x2', 'y2']

function unsaidOf(value: JsonObject): readonly string[] {
  if (kindOf(value).form !== 'line') return UNSAID
  return (stringOf(value, 'endShapeId') ?? '') === '' ? UNSAID_OF_LINE : UNSAID_OF_ATTACHED
}

interface Member {
  readonly name: string
  /** As JSON, with the colon behind it. */
  readonly written: string
}

interface Order {
  readonly names: readonly string[]
  readonly without: readonly string[]
  readonly members: readonly Member[]
}

const NOTHING: readonly string[] = []

/**
 * Writes compact JSON with the members of every object sorted by their names. Texts are those of `JSON.stringify` on an object whose members
 * were added in this order: its names that look like array indexes come first. Stored hashes of changes are made from them.
 */
class SortedJson {
  readonly #orders = new Map<string, readonly Member[]>()
  /** By the number of names: the last order of so many. Comparing the names with it is faster than looking the order up. */
  readonly #last = new Map<number, Order>()

  /** `without`: members of the value itself that are left out. */
  write(value: Json, without: readonly string[] = NOTHING): string {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value)
    if (Array.isArray(value)) return `[${value.map((item) => this.write(item as Json)).join(',')}]`
    if (!isJsonObject(value)) return JSON.stringify(value)
    let text = ''
    for (const { name, written } of this.#order(value, without)) {
      text += text === '' ? written : `,${written}`
      text += this.write(value[name] as Json)
    }
    return `{${text}}`
  }

  #order(value: JsonObject, without: readonly string[]): readonly Member[] {
    const names = Object.keys(value)
    const last = this.#last.get(names.length)
    if (last?.without === without && names.every((name, i) => name === last.names[i])) return last.members
    const members = this.#sorted(names, without)
    this.#last.set(names.length, { names, without, members })
    return members
  }

  #sorted(names: readonly string[], without: readonly string[]): readonly Member[] {
    const signature = `${without.length}${JSON.stringify(names)}`
    const known = this.#orders.get(signature)
    if (known !== undefined) return known
    const said = names.filter((name) => !without.includes(name)).sort((a, b) => (a < b ? -1 : 1))
    const settled = Object.keys(Object.fromEntries(said.map((name) => [name, 0])))
    const order = settled.map((name) => ({ name, written: `${JSON.stringify(name)}:` }))
    this.#orders.set(signature, order)
    return order
  }
}
