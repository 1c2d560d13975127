import type { DocumentBody, Shape } from '../body.ts'
import type { Router } from '../canvas/route.ts'
import { kindOf } from '../canvas/shape-kinds.ts'
import { childrenOf, labelOf, stringOf } from '../canvas/stored-shape.ts'
import type { Warning } from '../edit.ts'
import type { JsonObject } from '../json.ts'
import { quote } from '../quote.ts'
import type { CanvasPageChange, ChangeSet, ShapeChange } from './change-set.ts'
import { canvasPageHash } from './changes-between.ts'
import { withoutLoose } from './held-shapes.ts'
import { shapeHash } from './shape-hashes.ts'
import { withConnectors } from './undo-connectors.ts'
import { type Kept, undoList } from './undo-list.ts'
import { undoMembers } from './undo-members.ts'
import { undoPages, withUndoneMembers } from './undo-pages.ts'

interface CanvasUndo {
  readonly kept: Kept[]
  readonly route: Router
  readonly nowMs: number
}

export function undoCanvas(
  body: DocumentBody,
  { canvas }: ChangeSet,
  undo: CanvasUndo,
): { readonly body: DocumentBody; readonly warnings: readonly Warning[] } {
  const { kept } = undo
  const listed = undoPages({ list: body.canvas.pages, change: canvas, hash: canvasPageHash }, kept)
  const changes = new Map((canvas?.pages ?? []).map((change) => [change.id, change]))
  for (const id of changes.keys()) if (!listed.some((page) => page.id === id)) kept.push({ id, text: '', isGone: true })
  const warnings: Warning[] = []
  const pages = listed.map((page) => {
    const change = changes.get(page.id)
    if (change === undefined) return page
    const shapes = withConnectors(page, undoShapes(page.shapes, change, kept), change, undo, warnings)
    const named = withUndoneMembers(page, change.members ?? [], kept)
    return shapes === page.shapes ? named : { ...named, shapes }
  })
  const isSame = listed === body.canvas.pages && pages.every((page, index) => page === listed[index])
  return { body: isSame ? body : { ...body, canvas: { ...body.canvas, pages } }, warnings }
}

function undoShapes(given: readonly Shape[], { shapes: entries = [] }: CanvasPageChange, kept: Kept[]): readonly Shape[] {
  const text = ({ value }: Shape) => quote(labelOf(value) ?? '')
  const byId = new Map(entries.map((entry) => [entry.id, entry]))
  const shapes = given.map((shape) => {
    const { members, after } = byId.get(shape.id) ?? {}
    if (members === undefined) return shape
    if (shapeHash(shape.value) !== after) {
      kept.push({ id: shape.id, text: text(shape) })
      return shape
    }
    const value = undoMembers(shape.value, members)
    return value === shape.value ? shape : { id: shape.id, value }
  })
  const present = new Set(given.map(({ id }) => id))
  for (const { id, members } of entries) if (members !== undefined && !present.has(id)) kept.push({ id, text: '', isGone: true })
  const isSame = shapes.every((shape, index) => shape === given[index])
  const needed = neededBy(shapes, given, byId)
  const rules = {
    list: isSame ? given : shapes,
    entries,
    hash: ({ value }: Shape) => shapeHash(value),
    text,
    restored: ({ id, before }: ShapeChange) => ({ id, value: before as JsonObject }),
    mayGo: ({ id }: Shape) => !needed.has(id),
  }
  return withoutLoose(undoList<Shape, ShapeChange>(rules, kept), given, byId, kept)
}

/** Returns the ids of new shapes that stay because somebody connected or grouped them since. [CANVAS-24] */
function neededBy(
  shapes: readonly Shape[],
  given: readonly Shape[],
  byId: ReadonlyMap<string, ShapeChange>,
): ReadonlySet<string> {
  const isAsLeft = ({ id }: Shape, index: number) => {
    const after = byId.get(id)?.after
    return after !== undefined && shapeHash((given[index] as Shape).value) === after
  }
  const created = new Map(
    shapes.filter((shape, index) => isNew(byId.get(shape.id)) && isAsLeft(shape, index)).map((shape) => [shape.id, shape]),
  )
  const needed = new Set<string>()
  // A shape that is still as the call left it is undone, so it needs no new shape.
  const open = created.size === 0 ? [] : shapes.filter((shape, index) => !isAsLeft(shape, index))
  for (let shape = open.pop(); shape !== undefined; shape = open.pop())
    for (const id of namedBy(shape.value)) {
      const other = created.get(id)
      if (other === undefined || needed.has(id)) continue
      needed.add(id)
      open.push(other)
    }
  return needed
}

function isNew(entry: ShapeChange | undefined): boolean {
  return entry !== undefined && entry.before === undefined && entry.from === undefined && entry.members === undefined
}

function namedBy(value: JsonObject): readonly string[] {
  if (kindOf(value).form !== 'line') return childrenOf(value)
  return [stringOf(value, 'startShapeId'), stringOf(value, 'endShapeId')].flatMap((id) => id ?? [])
}
