import { type Editable, type EditTool, editTool } from './edit-tool.ts'
import { STRING } from './output-members.ts'
import { DOCUMENT, input, PAGE, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'

/** The tools that edit the list of canvas pages. [TOOL-add_canvas_page … TOOL-reorder_canvas_page] */
const TOOLS: readonly EditTool[] = [
  {
    name: 'add_canvas_page',
    place: 27,
    title: 'Add canvas page',
    description: 'Append a blank canvas page. Returns its id.',
    toolset: 'diagram',
    input: input(DOCUMENT, { name: TEXT, ...VERSIONED, ...REPEATABLE }),
    result: ['id', 'name'],
    errors: {},
    examples: [{ name: 'Overview' }, {}],
  },
  {
    name: 'rename_canvas_page',
    place: 28,
    title: 'Rename canvas page',
    description: 'Rename a canvas page. Returns the name.',
    toolset: 'diagram',
    input: input({ ...PAGE, name: TEXT }, VERSIONED),
    result: ['pageId', 'name'],
    hints: ['ID'],
    errors: {},
    examples: [{ pageId: 'c', name: 'Overview' }],
  },
  {
    name: 'delete_canvas_page',
    place: 37,
    title: 'Delete canvas page',
    description: 'Delete a canvas page, not the last. Returns its id.',
    toolset: 'manage',
    input: input(PAGE, VERSIONED),
    result: ['deleted'],
    members: { deleted: STRING },
    hints: ['DE', 'ID'],
    errors: { ERR_LAST_PAGE: null },
    examples: [{ pageId: 'c2' }],
  },
  {
    name: 'reorder_canvas_page',
    place: 41,
    title: 'Reorder canvas pages',
    description: 'Order pages by all ids. Returns them.',
    toolset: 'manage',
    input: input({ ...DOCUMENT, order: { type: 'array', items: TEXT } }, VERSIONED),
    result: ['order', 'ok'],
    hints: ['ID'],
    errors: { ERR_NOT_PERMUTATION: { order: ['c', 'c', 'z'] } },
    examples: [{ order: ['c2', 'c'] }],
  },
]

export function canvasPageTools(documents: Editable): readonly ToolRow[] {
  return TOOLS.map((tool) => editTool(documents, tool))
}
