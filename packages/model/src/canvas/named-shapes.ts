import type { CanvasPage, DocumentBody, Shape } from '../body.ts'
import { isRefusal, refused, type Refusal } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { jsonBytes } from '../paging.ts'
import { type Naming, namingOf, type Printed } from '../prose/block-names.ts'
import { quote } from '../quote.ts'
import { changedBy } from '../seen/page-sight.ts'
import type { Changer, Seen } from '../seen/seen.ts'
import { readStampedId, stampedId } from '../stamps/stamp.ts'
import { pageGeometry, type ShapeValues } from './page-geometry.ts'
import { readBack, shapeNotFound } from './read-back.ts'
import type { ShapeInput } from './shape-input.ts'
import { shapeStamp } from './shape-stamp.ts'
import { labelOf, stringOf } from './stored-shape.ts'

/** The page whose shapes a call names. A refusal also needs the whole document, and who changed the page. */
export interface NamedShapes extends Printed {
  readonly body: DocumentBody
  readonly page: CanvasPage
  /** The shapes of the page, and the new shapes of the call. */
  readonly shapes: ShapeValues
  /** The call only reads: a shape that changed after its stamp was printed is read all the same. [AG-7] */
  readonly isRead?: true
  /** What others changed after the caller saw the page; absent when unknown. */
  readonly seen?: Seen | undefined
}

/** Finds the shape that a call names by its id, with its stamp or without. Refuses a missing shape, and all that `plainShapeId` refuses. [AG-6, AG-7] */
export function findShape(on: NamedShapes, name: string, argument = 'id'): Shape | Refusal {
  const id = plainShapeId(on, name, argument)
  if (isRefusal(id)) return id
  const value = on.shapes.get(id.id)
  return value === undefined ? shapeNotFound(on.body, on.page, id.id) : { id: id.id, value }
}

/**
 * Returns the id in a name, without its stamp. Refuses a malformed stamp, and, unless the call only reads, a stamp that the stored shape no longer has.
 * Returns the id of a missing shape too, so the caller has to check that the shape exists.
 */
export function plainShapeId(on: NamedShapes, name: string, argument: string): { readonly id: string } | Refusal {
  const { shapes } = on
  if (shapes.has(name)) return { id: name }
  const stamped = readStampedId(name)
  if (stamped === null) return name.lastIndexOf('#') > 0 ? noStamp(name, argument) : { id: name }
  const value = shapes.get(stamped.id)
  if (value === undefined || on.isRead === true || shapeStamp(value) === stamped.stamp) return { id: stamped.id }
  return shapeChanged(on, { id: stamped.id, value })
}

/** Returns the ids in a list of names, without their stamps. Refuses what `plainShapeId` refuses. */
export function shapeIds(on: NamedShapes, names: readonly string[], argument: string): readonly string[] | Refusal {
  const ids: string[] = []
  for (const [index, name] of names.entries()) {
    const found = plainShapeId(on, name, `${argument}[${index}]`)
    if (isRefusal(found)) return found
    ids.push(found.id)
  }
  return ids
}

/** Removes the stamps from the ids at the ends of a connector. Refuses what `plainShapeId` refuses. */
export function withPlainEnds(on: NamedShapes, input: ShapeInput): ShapeInput | Refusal {
  let plain = input
  for (const end of ['startShapeId', 'endShapeId'] as const) {
    const name = input[end]
    if (typeof name !== 'string') continue
    const found = plainShapeId(on, name, end)
    if (isRefusal(found)) return found
    plain = { ...plain, [end]: found.id }
  }
  return plain
}

/** Refuses a name in which the text after the last `#` does not have the form of a stamp: four letters or digits. [AG-6] */
function noStamp(name: string, argument: string): Refusal {
  const expected = 'an id with # and the stamp that was printed beside it, or without both'
  return refused('ERR_BAD_ARGUMENT', `${argument}: "${quote(name)}" ends in no stamp; give ${expected}.`, { argument, expected })
}

const MOST_BYTES = 4_000

/** A shape as it is stored now, for a caller that sent an old stamp. [AG-7] */
interface CurrentShape {
  /** The id of the shape. It has the stamp too, unless the content is cut or the caller asked for bare ids. */
  readonly id: string
  readonly type: string
  /** The shape as `get_shape` shows it. */
  readonly content: JsonObject
  readonly cut?: true
}

/** Refuses a call with an old stamp: somebody changed the shape after the caller saw it. [AG-7] */
function shapeChanged(on: NamedShapes, shape: Shape): Refusal {
  const current = currentShape(on, shape, namingOf(on))
  const repair = current.cut === true ? 'Read it again, then repeat the call' : 'Repeat the call with that id'
  const label = labelOf(shape.value)
  const now = `It is now ${quote(current.id)} (${quote(current.type)})${label === undefined ? '' : ` "${quote(label)}"`}.`
  return refused('ERR_SHAPE_CHANGED', `The shape ${quote(shape.id)} was changed after you read it. ${now} ${repair}.`, {
    id: quote(shape.id),
    current,
    ...changedBy(changerOf(on, shape.id)),
  })
}

/** Returns who changed a shape last; `undefined` when that is unknown or was the caller. [AG-7, AG-21] */
function changerOf({ seen, page }: NamedShapes, shapeId: string): Changer | undefined {
  return seen?.changes.find(({ kind, pageId, id }) => kind === 'shape' && pageId === page.id && id === shapeId)?.who
}

function currentShape({ shapes }: NamedShapes, shape: Shape, naming: Naming): CurrentShape {
  const type = stringOf(shape.value, 'type') ?? 'unknown'
  const content = readBack(shape, pageGeometry(shapes))
  if (jsonBytes(content) <= MOST_BYTES)
    return { id: naming === 'bare' ? shape.id : stampedId(shape.id, shapeStamp(shape.value)), type, content }
  return { id: shape.id, type, content: shortened(content), cut: true }
}

/** Drops the waypoints and the member ids of a shape and cuts its texts, since only these make a shape long. */
function shortened(shape: JsonObject): JsonObject {
  const members = Object.entries(shape).filter(([name]) => name !== 'waypoints' && name !== 'childIds')
  return Object.fromEntries(members.map(([name, member]) => [name, typeof member === 'string' ? quote(member) : member]))
}
