import type { GenerateDiagram } from '@docrelay/model/canvas/generate/diagram-input'
import { dependsOnPage } from '@docrelay/model/canvas/generate/draw-diagram'
import { isRefusal } from '@docrelay/model/edit'
import type { Documents } from '../../documents/documents.ts'
import type { Timers } from '../../kernel/timers.ts'
import { COUNTED_BY_TOOL } from '../arguments.ts'
import type { JsonObject, ToolCall } from '../tool.ts'
import type { DiagramLayouts } from './diagram-layouts.ts'
import { type Editable, editTool } from './edit-tool.ts'
import { withProgress } from './progress.ts'
import { input, oneOf, PAGE, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import { storedBody } from './stored-body.ts'
import type { ToolRow } from './tool-row.ts'

export interface DiagramDeps {
  readonly documents: Editable & Pick<Documents, 'get'>
  readonly layouts: Pick<DiagramLayouts, 'draw'>
  readonly timers: Timers
}

/** A list of objects whose items and count the edit checks with its own codes and fixes. The schema only states the count. [TOOL-4, DIAG-2, LIM-8] */
const OBJECTS = { type: 'array', items: { type: 'object' }, [COUNTED_BY_TOOL]: true } as const

/** The tool `generate_diagram`. [TOOL-generate_diagram] */
export function diagramTools(deps: DiagramDeps): readonly ToolRow[] {
  const row = editTool(deps.documents, {
    name: 'generate_diagram',
    place: 33,
    title: 'Generate diagram',
    description:
      'Draw nodes (id, label, kind; at or shapeId keeps a place) and edges (from, to, label), around what is there. Returns shape ids.',
    toolset: 'diagram',
    input: input(
      { ...PAGE, nodes: { ...OBJECTS, minItems: 1, maxItems: 500 } },
      {
        edges: { ...OBJECTS, maxItems: 1000 },
        layout: oneOf('layered', 'grid'),
        direction: oneOf('TB', 'LR'),
        routing: oneOf('orthogonal', 'straight'),
        near: TEXT,
        ...VERSIONED,
        ...REPEATABLE,
      },
    ),
    result: ['nodes', 'edges', 'layout', 'direction', 'routing', 'bounds'],
    errors: {
      ERR_SHAPE_NOT_FOUND: { pageId: 'c', nodes: [{ id: 'a', shapeId: 'other' }] },
      ERR_SHAPE_CHANGED: { pageId: 'c', nodes: [{ id: 'a', shapeId: 's1#0000' }] },
      ERR_CONNECTOR_END: { pageId: 'c', nodes: [{ id: 'a', shapeId: 'k1' }] },
      ERR_DIAGRAM_LIMIT: { pageId: 'c', nodes: [] },
      ERR_DIAGRAM_NODE: { pageId: 'c', nodes: [{ id: 'a' }, { id: ' a ' }] },
      ERR_DIAGRAM_EDGE: { pageId: 'c', nodes: [{ id: 'api' }], edges: [{ from: 'api', to: 'apis' }] },
    },
    examples: [
      {
        pageId: 'c',
        nodes: [{ id: 'user', label: 'User', kind: 'ellipse' }, { id: 'api', label: 'API' }, { id: 'db' }],
        edges: [
          { from: 'user', to: 'api', label: 'calls' },
          { from: 'api', to: 'db' },
        ],
        direction: 'LR',
      },
      {
        pageId: 'c',
        nodes: [
          { id: 'one', shapeId: 's1' },
          { id: 'new', color: 'red' },
          { id: 'far', at: { x: -400, y: 300 } },
        ],
        edges: [
          { from: 'one', to: 'new' },
          { from: 'new', to: 'far' },
          { from: 'far', to: 'far' },
        ],
        layout: 'layered',
      },
      { pageId: 'c2', nodes: [{ id: 'a' }, { id: 'b' }], layout: 'grid', near: 'other', routing: 'straight' },
    ],
    needless: { near: { refused: { pageId: 'c2', nodes: [{ id: 'a', at: { x: 900, y: 900 } }], near: 'other' } } },
    prepare: (call, attempt) => layOut(call, attempt, deps),
  })
  return [{ ...row, run: (call) => withProgress(call, deps.timers, 'drawing the diagram', () => row.run(call)) }]
}

/** After this many layouts that a moving shape made outdated, the edit fits the next layout to the new place. [AG-106] */
const LAYOUTS_MADE_AGAIN = 2

/**
 * Computes the layout for the edit's argument `drawn`, because a live document never waits for a layout. On a refusal returns `isRefused`: the
 * edit repeats the check and reports the refusal, or is outdated when the refusal no longer applies. [DIAG-17]
 */
async function layOut(
  { access, args, signal }: ToolCall,
  attempt: number,
  { documents, layouts }: DiagramDeps,
): Promise<JsonObject> {
  const wanted = args as unknown as GenerateDiagram
  const body = dependsOnPage(wanted) ? await storedBody(documents, access, args['docId'] as string) : null
  if (body === 'none') return { isRefused: true }
  const drawn = await layouts.draw({ workspaceId: access.workspaceId, body, args: wanted, signal })
  return isRefusal(drawn) ? { isRefused: true } : { drawn, fit: attempt >= LAYOUTS_MADE_AGAIN }
}
