import type { CanvasPage, Shape } from '../body.ts'
import { pageGeometry, type PageGeometry, shapeValues } from '../canvas/page-geometry.ts'
import type { Router } from '../canvas/route.ts'
import { isInPlace, isRoutedByItself, settleConnectors, type Unsettled } from '../canvas/settle-connectors.ts'
import { kindOf } from '../canvas/shape-kinds.ts'
import { withValues } from '../canvas/write-page.ts'
import type { Warning } from '../edit.ts'
import { equalJson, type JsonObject, memberOf } from '../json.ts'
import type { CanvasPageChange, ShapeChange } from './change-set.ts'
import { endsHash } from './connector-ends.ts'

interface Routing {
  readonly route: Router
  readonly nowMs: number
}

/**
 * Settles the connectors of a page after an undo: each one ends where the shapes at its ends are now. A connector that the undo put back,
 * and whose shapes are where they were before the call, keeps its former way. [CANVAS-14, CANVAS-21]
 */
export function withConnectors(
  page: CanvasPage,
  shapes: readonly Shape[],
  { shapes: entries = [] }: CanvasPageChange,
  { route, nowMs }: Routing,
  warnings: Warning[],
): readonly Shape[] {
  if (shapes === page.shapes || !shapes.some(({ value }) => kindOf(value).form === 'line')) return shapes
  const before = pageGeometry(shapeValues(page))
  const after = shapeValues({ ...page, shapes })
  const geometry = pageGeometry(after)
  const changes = new Map(entries.map((entry) => [entry.id, entry]))
  const fixed = new Set<string>()
  const written = new Map<string, { readonly isRouted: boolean }>()
  for (const [id, value] of after) {
    if (kindOf(value).form !== 'line') continue
    const entry = changes.get(id)
    const isPutBack = entry !== undefined && hasOldWay(before.shapes.get(id), value)
    if (isPutBack ? isAsBefore(entry, value, geometry) : isInPlace(value, before, geometry)) fixed.add(id)
    else if (isPutBack) written.set(id, { isRouted: isRoutedByItself(value) })
  }
  const unsettled: Unsettled = { before, after, written, fixed }
  const settled = settleConnectors(unsettled, route)
  warnings.push(...settled.warnings)
  return withValues(shapes, settled.shapes, nowMs)
}

/** The members that decide which way a connector takes. */
const WAY = ['x', 'y', 'x2', 'y2', 'waypoints', 'startShapeId', 'endShapeId', 'startAnchor', 'endAnchor', 'routingMode']

/** Whether the undo put a connector back, or one of the members that decide its way. */
function hasOldWay(present: JsonObject | undefined, value: JsonObject): boolean {
  return present === undefined || WAY.some((name) => !equalJson(memberOf(present, name), memberOf(value, name)))
}

/**
 * Whether a connector is as before the call, and the shapes at its ends are where they were then. In that case its former way, which somebody
 * may have drawn by hand, still fits. Records of older releases do not say where the shapes were, so these are not compared.
 */
function isAsBefore({ before, from, members, ends }: ShapeChange, value: JsonObject, geometry: PageGeometry): boolean {
  if (ends !== undefined && ends !== endsHash(value, geometry)) return false
  if (before !== undefined && from !== undefined) return value === before
  return members !== undefined && members.every((member) => equalJson(memberOf(value, member.name), member.before))
}
