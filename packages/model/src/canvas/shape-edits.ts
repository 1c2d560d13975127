import type { EditRow } from '../edit.ts'
import { addShape, addShapeFlaw, addShapes, addShapesFlaw } from './add-shapes.ts'
import { connect } from './connect.ts'
import { deleteShape, reorderShapes } from './delete-shape.ts'
import type { Router } from './route.ts'
import { updateShape } from './update-shape.ts'

/** The edits of shapes; `route` finds the ways of their orthogonal connectors. */
export function shapeEdits(route: Router) {
  return {
    add_shape: { edit: addShape(route), flaw: addShapeFlaw, routes: true },
    add_shapes: { edit: addShapes(route), flaw: addShapesFlaw, routes: true },
    connect: { edit: connect(route), routes: true },
    update_shape: { edit: updateShape(route), routes: true },
    delete_shape: { edit: deleteShape },
    reorder_shapes: { edit: reorderShapes },
  } as const satisfies Record<string, EditRow>
}
