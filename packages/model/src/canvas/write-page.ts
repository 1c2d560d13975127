import type { CanvasPage, DocumentBody, Shape } from '../body.ts'
import { type Edited, type EditEnvironment, refused, type Refusal } from '../edit.ts'
import { type JsonObject, setMember } from '../json.ts'
import { quote } from '../quote.ts'
import { withCanvasPage } from './find-page.ts'
import { isRowAnchor } from './geometry/anchors.ts'
import type { ShapeValues } from './page-geometry.ts'
import { kindOf } from './shape-kinds.ts'

/** Sets the shapes of a page, bottom first. Returns `body` itself when the page has exactly these shapes (`===`). */
export function withShapes(body: DocumentBody, page: CanvasPage, shapes: readonly Shape[]): DocumentBody {
  const isSame = shapes.length === page.shapes.length && shapes.every((shape, i) => shape === page.shapes[i])
  if (isSame) return body
  return withCanvasPage(body, { ...page, shapes })
}

/** Gives the shapes of a page their new values, with new provenance. A shape whose value is the same object keeps its identity. [CANVAS-2] */
export function withValues(shapes: readonly Shape[], values: ShapeValues, nowMs: number): readonly Shape[] {
  return shapes.map((shape) => {
    const value = values.get(shape.id) ?? shape.value
    return value === shape.value ? shape : { id: shape.id, value: signed(value, nowMs) }
  })
}

/** Sets the provenance of a shape that a tool writes. [CANVAS-2] */
export function signed(value: JsonObject, nowMs: number): JsonObject {
  return setMember(value, 'provenance', { source: 'mcp', at: nowMs })
}

interface Written<R> extends Pick<Edited<R>, 'body' | 'result'>, Partial<Pick<Edited<R>, 'fixes' | 'warnings'>> {
  readonly page: CanvasPage
  /** The ids of the shapes that the call is about. */
  readonly selection: readonly string[]
}

export function writtenTo<R>({ page, selection, body, result, fixes = [], warnings = [] }: Written<R>): Edited<R> {
  return { kind: 'edited', body, result, fixes, warnings, writtenPage: page.id, selection }
}

const idCharacters = 10

/** Mints an id for a new shape that no shape of the document has and that is not in `taken`. [TOOL-12] */
export function mintShapeId(body: DocumentBody, taken: { has(id: string): boolean }, environment: EditEnvironment): string {
  for (;;) {
    const id = `shape-${environment.random(idCharacters)}`
    const isUsed = taken.has(id) || body.canvas.pages.some((page) => page.shapes.some((shape) => shape.id === id))
    if (!isUsed) return id
  }
}

/** Whether no stored shape has the id of one of these new shapes. [TOOL-12] */
export function areFree({ canvas }: DocumentBody, shapes: readonly Shape[]): boolean {
  const ids = new Set(shapes.map(({ id }) => id))
  return !canvas.pages.some((page) => page.shapes.some(({ id }) => ids.has(id)))
}

/**
 * Mints ids for many new shapes. To be fast, it reads the document once and draws the random characters of all ids together. [TOOL-12]
 *
 * @param wanted ids that the call itself gives to new shapes
 */
export function mintShapeIds(
  body: DocumentBody,
  count: number,
  environment: EditEnvironment,
  wanted: readonly string[] = [],
): readonly string[] {
  const taken = new Set(wanted)
  for (const page of body.canvas.pages) for (const { id } of page.shapes) taken.add(id)
  const minted = new Set<string>()
  while (minted.size < count) {
    const missing = count - minted.size
    const drawn = environment.random(missing * idCharacters)
    for (let i = 0; i < missing; i++) {
      const id = `shape-${drawn.slice(i * idCharacters, (i + 1) * idCharacters)}`
      if (!taken.has(id)) minted.add(id)
    }
  }
  return [...minted]
}

/** Refuses a connector end at a missing shape or at a line. Returns `null` when a connector can end at the shape. [CANVAS-9] */
export function connectorEndFlaw(end: string, shapeId: string, shapes: ShapeValues): Refusal | null {
  const value = shapes.get(shapeId)
  const shown = quote(shapeId)
  const why =
    value === undefined
      ? `there is no shape "${shown}" on the page or in the call`
      : kindOf(value).form === 'line'
        ? `"${shown}" is a ${kindOf(value).type}, and a connector ends at a shape with a size`
        : null
  return why === null ? null : refused('ERR_CONNECTOR_END', `${end}: ${why}.`, { end, shapeId: shown })
}

/** Whether a shape has an anchor; `shape` is `undefined` for a free end. Only kinds that tools do not create have row anchors. [CANVAS-10] */
export function hasAnchor(anchor: string, shape: JsonObject | undefined): boolean {
  return !isRowAnchor(anchor) || (shape !== undefined && kindOf(shape).defaults === null)
}
