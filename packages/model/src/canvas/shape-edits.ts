import type { DocumentBody } from '../body.ts'
import { type UndoCalls, undoCalls } from '../changes/undo-calls.ts'
import type { EditEnvironment, EditRow } from '../edit.ts'
import { type AddShape, addShape, addShapeFlaw, type AddShapes, addShapes, addShapesFlaw } from './add-shapes.ts'
import { type Connect, connect } from './connect.ts'
import { type DeleteShape, deleteShape, reorderShapes } from './delete-shape.ts'
import type { RouterLimits } from './page-router.ts'
import { type UpdateShape, updateShape } from './update-shape.ts'
import { type FoundWay, notingRouter, routedAs } from './ways.ts'

/** The edits of shapes, by the name of their tool. */
export const shapeEdits = {
  add_shape: { edit: routedAs(addShape), flaw: addShapeFlaw, routes: true },
  add_shapes: { edit: routedAs(addShapes), flaw: addShapesFlaw, routes: true },
  connect: { edit: routedAs(connect), routes: true },
  update_shape: { edit: routedAs(updateShape), routes: true },
  delete_shape: { edit: routedAs(deleteShape), routes: true },
  reorder_shapes: { edit: reorderShapes },
} as const satisfies Record<string, EditRow>

/** The edits that route connectors. Each is a function that takes the router and returns the edit. */
export const routedEdits = {
  add_shape: addShape,
  add_shapes: addShapes,
  connect,
  update_shape: updateShape,
  delete_shape: deleteShape,
  undo: undoCalls,
} as const
export type RoutedEdit = keyof typeof routedEdits

export function isRoutedEdit(name: string): name is RoutedEdit {
  return Object.hasOwn(routedEdits, name)
}

/** Runs an edit only to learn the ways that it finds for connectors, so that the write itself need not search. [CONC-13] */
export function findWays(
  name: RoutedEdit,
  body: DocumentBody,
  args: unknown,
  environment: EditEnvironment,
  limits: Omit<RouterLimits, 'steps'> = {},
): readonly FoundWay[] {
  const { route, found } = notingRouter(limits)
  const given = args as AddShape & AddShapes & Connect & UpdateShape & DeleteShape & UndoCalls
  routedEdits[name](route)(body, given, environment)
  return found
}
