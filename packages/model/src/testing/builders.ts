import type { DocumentBody } from '../body.ts'
import { writeBody } from '../body-write.ts'
import type { Json, JsonObject } from '../json.ts'
import { bodyOf } from './arbitrary.ts'

export function rectangle(id: string, more: JsonObject = {}): JsonObject {
  return { id, type: 'rectangle', x: 0, y: 0, ...more }
}

export function group(id: string, ...childIds: readonly string[]): JsonObject {
  return { id, type: 'group', childIds }
}

export function canvasPage(id: string, ...shapes: readonly JsonObject[]): JsonObject {
  return { id, name: id, shapes }
}

export function prosePage(id: string, content: string): JsonObject {
  return { id, name: id, content }
}

/** A body in list form. */
export function body(members: {
  readonly pages?: readonly JsonObject[]
  readonly richTextPages?: readonly JsonObject[]
  readonly [name: string]: Json | undefined
}): DocumentBody {
  const given = Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return bodyOf(Object.fromEntries(given))
}

/** Returns the stored form of a body as a JSON value. */
export function written(given: DocumentBody): JsonObject {
  return JSON.parse(writeBody(given)) as JsonObject
}
