import { kindOf } from '../canvas/shape-kinds.ts'
import { stringOf } from '../canvas/stored-shape.ts'
import { isJsonObject, type Json, type JsonObject } from '../json.ts'
import { hashOfText } from '../stamps/stamp.ts'

/** Hashes a JSON value. Equal values have the same hash, whatever the order of their members. */
export function jsonHash(value: Json): number {
  return hashOfText(new SortedJson().write(value))
}

/** Hashes the content of a shape: everything except its id, its author and its position. [AG-5, AG-66] */
export function shapeHash(value: JsonObject): number {
  return shapeHashes()(value)
}

/** Returns `shapeHash` for many shapes. Most shapes have the same members in the same order, and one such order is sorted only once. */
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
  /** The name as JSON, followed by a colon. */
  readonly written: string
}

interface Order {
  readonly names: readonly string[]
  readonly without: readonly string[]
  readonly members: readonly Member[]
}

const NOTHING: readonly string[] = []

/**
 * Writes compact JSON with the members of every object sorted by name. The text is what `JSON.stringify` writes for an object whose members
 * were added in this order, so names like array indexes come first. Stored call records contain hashes of this text, so it must not change.
 */
class SortedJson {
  readonly #orders = new Map<string, readonly Member[]>()
  /** By number of names: the last order with that many. Comparing the names with it is faster than a lookup in `#orders`. */
  readonly #last = new Map<number, Order>()

  /** `without` names the members to leave out of the value itself; nested objects keep theirs. */
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
