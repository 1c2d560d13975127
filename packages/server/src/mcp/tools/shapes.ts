import { ITEM_NAME } from '../arguments.ts'
import { isRoutedEdit } from '@docrelay/model/canvas/shape-edits'
import { type EditTool, editTool } from './edit-tool.ts'
import { AS_PRINTED, input, oneOf, PAGE, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'
import { type IconDeps, unknownIconsOf } from './shape-icons.ts'
import { type WaysDeps, waysOf } from './ways.ts'

/** Any object: a member that a shape cannot have is reported as a fix and not refused. [TOOL-4, CANVAS-14] */
const SHAPE = { type: 'object' } as const

/** The tools that edit shapes. [TOOL-add_shape … TOOL-reorder_shapes] */
const TOOLS: readonly EditTool[] = [
  {
    name: 'add_shape',
    place: 29,
    title: 'Add shape',
    description: 'Draw one shape: kind (rectangle, ellipse, text, connector), x, y (centre), w, h, text, style. Returns its id.',
    toolset: 'diagram',
    input: input({ ...PAGE, shape: SHAPE }, { ...VERSIONED, ...REPEATABLE }),
    result: ['id'],
    errors: {
      ERR_SHAPE_KIND: { pageId: 'c', shape: { kind: 'star' } },
      ERR_SHAPE_ID_TAKEN: { pageId: 'c', shape: { kind: 'rectangle', id: 's1' } },
      ERR_CONNECTOR_END: { pageId: 'c', shape: { kind: 'connector', startShapeId: 'nope' } },
      ERR_SHAPE_CHANGED: { pageId: 'c', shape: { kind: 'connector', startShapeId: 's1#0000' } },
    },
    examples: [
      { pageId: 'c', shape: { kind: 'rectangle', x: 600, y: 0, w: 140, h: 60, text: 'API', style: { fill: '#fef3c7' } } },
      {
        pageId: 'c',
        shape: {
          ...{ kind: 'connector', startShapeId: 's1', endShapeId: 's3', startAnchor: 'bottom', endAnchor: 'left' },
          ...{ routingMode: 'orthogonal', text: 'calls', labelPosition: 0.4 },
        },
      },
      { pageId: 'c', shape: { kind: 'text', x: 0, y: 300, text: 'Note', radius: 3 } },
    ],
  },
  {
    name: 'add_shapes',
    place: 30,
    title: 'Add shapes',
    description: 'Draw shapes like service_add_shape, all or none. Returns ids.',
    toolset: 'diagram',
    input: input(
      { ...PAGE, shapes: { type: 'array', minItems: 1, maxItems: 500, items: SHAPE, [ITEM_NAME]: 'shape' } },
      { ...VERSIONED, ...REPEATABLE },
    ),
    result: ['ids'],
    errors: {
      ERR_SHAPE_KIND: { pageId: 'c', shapes: [{ kind: 'text' }, { kind: 'text', type: 'ellipse' }] },
      ERR_SHAPE_ID_TAKEN: {
        pageId: 'c',
        shapes: [
          { kind: 'rectangle', id: 'n' },
          { kind: 'rectangle', id: 'n' },
        ],
      },
      ERR_CONNECTOR_END: { pageId: 'c', shapes: [{ kind: 'connector', startShapeId: 's1', endShapeId: 'k1' }] },
      ERR_SHAPE_CHANGED: { pageId: 'c', shapes: [{ kind: 'connector', startShapeId: 's1', endShapeId: 's3#0000' }] },
    },
    examples: [
      {
        pageId: 'c',
        shapes: [
          { kind: 'ellipse', id: 'n1', x: 600, y: 0, text: 'Start' },
          { kind: 'rectangle', id: 'n2', x: 600, y: 200, text: 'End', iconId: 'builtin:database' },
          { kind: 'connector', startShapeId: 'n1', endShapeId: 'n2', text: 'then' },
        ],
      },
    ],
  },
  {
    name: 'connect',
    place: 31,
    title: 'Connect shapes',
    description: 'Connect two shapes, around others unless straight. Returns its id.',
    toolset: 'diagram',
    input: input(
      { ...PAGE, fromId: TEXT, toId: TEXT },
      {
        fromAnchor: TEXT,
        toAnchor: TEXT,
        label: { type: 'string', maxLength: 500 },
        routing: oneOf('orthogonal', 'straight'),
        ...VERSIONED,
        ...REPEATABLE,
      },
    ),
    result: ['id'],
    errors: {
      ERR_SHAPE_NOT_FOUND: { pageId: 'c', fromId: 's1', toId: 'nope' },
      ERR_CONNECTOR_END: { pageId: 'c', fromId: 'k1', toId: 's1' },
      ERR_SHAPE_CHANGED: { pageId: 'c', fromId: 's1', toId: 's3#0000' },
    },
    examples: [
      { pageId: 'c', fromId: 's1', toId: 's3', label: 'calls' },
      { pageId: 'c', fromId: 's2', toId: 's2', routing: 'straight' },
    ],
  },
  {
    name: 'update_shape',
    place: 32,
    title: 'Update shape',
    description: 'Change a shape or connector. Returns changed paths.',
    toolset: 'diagram',
    input: input({ ...PAGE, id: AS_PRINTED, patch: SHAPE }, VERSIONED),
    result: ['id', 'changedPaths'],
    more: ['rerouted'],
    hints: ['ID'],
    errors: {
      ERR_SHAPE_NOT_FOUND: { pageId: 'c', id: 'other', patch: { x: 1 } },
      ERR_CONNECTOR_END: { pageId: 'c', id: 'k1', patch: { endShapeId: 'k1' } },
      ERR_SHAPE_CHANGED: { pageId: 'c', id: 's1#0000', patch: { x: 1 } },
      ERR_EMPTY_PATCH: { pageId: 'c', id: 's1', patch: { color: 'red' } },
    },
    examples: [
      { pageId: 'c', id: 's1', patch: { x: 40, y: 120, text: 'Gateway', style: { fill: 'orange', strokeWidth: 300 } } },
      { pageId: 'c', id: 'k1', patch: { endShapeId: 's3', endAnchor: 'left', endArrowStyle: 'open' } },
    ],
  },
  {
    name: 'delete_shape',
    place: 35,
    title: 'Delete shape',
    description: 'Delete a shape and its connectors. Returns ids.',
    toolset: 'manage',
    input: input({ ...PAGE, id: AS_PRINTED }, VERSIONED),
    result: ['deleted'],
    more: ['rerouted'],
    hints: ['DE', 'ID'],
    errors: { ERR_SHAPE_NOT_FOUND: { pageId: 'c', id: 'nope' }, ERR_SHAPE_CHANGED: { pageId: 'c', id: 's1#0000' } },
    examples: [{ pageId: 'c', id: 's1' }],
  },
  {
    name: 'reorder_shapes',
    place: 39,
    title: 'Reorder shapes',
    description: 'Stack shapes by all ids, the last on top. Returns them.',
    toolset: 'manage',
    input: input({ ...PAGE, order: { type: 'array', items: TEXT } }, VERSIONED),
    result: ['pageId', 'order', 'ok'],
    hints: ['ID'],
    errors: {
      ERR_NOT_PERMUTATION: { pageId: 'c', order: ['s1'] },
      ERR_SHAPE_CHANGED: { pageId: 'c', order: ['k1', 's3', 's2', 's1#0000'] },
    },
    examples: [{ pageId: 'c', order: ['k1', 's3', 's2', 's1'] }],
  },
]

export interface ShapeDeps extends IconDeps, WaysDeps {}

export function shapeTools(deps: ShapeDeps): readonly ToolRow[] {
  return TOOLS.map((tool) =>
    editTool(deps.documents, {
      ...tool,
      prepare: async (call, attempt) => ({
        ...(await unknownIconsOf(call, deps)),
        ...(isRoutedEdit(tool.name) && (await waysOf(tool.name, call, attempt, deps))),
      }),
    }),
  )
}
