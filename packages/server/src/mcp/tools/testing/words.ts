/** Words that texts for agents may use in addition to the arguments, choices and results in the rows. */

/** Kinds of shapes and actions of fixes; no schema lists them. [CANVAS-1, TOOL-17] */
export const OPEN_VALUES: readonly string[] = [
  ...['rectangle', 'ellipse', 'text', 'connector', 'auto'],
  ...['dropped_unknown', 'dropped_invalid', 'clamped', 'unwrapped', 'rebuilt_table', 'stripped_children'],
]

/** Members of shapes and of the input for diagrams. [CANVAS-3..CANVAS-13, CANVAS-18, DIAG-1, AG-106] */
export const SHAPE_MEMBERS: readonly string[] = [
  ...['id', 'kind', 'type', 'x', 'y', 'w', 'h', 'style', 'text', 'iconId', 'iconDisplayMode', 'iconSize', 'startShapeId'],
  ...['endShapeId', 'startAnchor', 'endAnchor', 'startArrowStyle', 'endArrowStyle', 'routingMode', 'waypoints', 'labelPosition'],
  ...['x2', 'y2', 'at', 'shapeId'],
]
export const STYLE_MEMBERS: readonly string[] = ['fill', 'stroke', 'strokeWidth', 'labelColor']

/** Members inside results, and members that every result has. [TOOL-29, TOOL-15, TABLE-2, FILE-1] */
export const INNER_MEMBERS: readonly string[] = [
  ...['serverVersion', 'fixes', 'warnings', 'code', 'existingId', 'size', 'inStore', 'rows', 'cols', 'cells'],
]
