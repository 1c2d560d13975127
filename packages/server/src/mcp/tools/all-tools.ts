import type { ToolDefinition } from '../tool.ts'
import { fieldTools } from './fields.ts'
import { type FileDeps, fileTools } from './files.ts'
import { type KnowledgeDeps, knowledgeTools } from './knowledge.ts'
import { proseTools } from './prose.ts'
import { readTools } from './reads.ts'
import type { ReadingDeps } from './reading.ts'
import { type WorkspaceDeps, workspaceTools } from './workspace.ts'

/** What the tools run on. */
export interface ToolDeps extends ReadingDeps, FileDeps, WorkspaceDeps, KnowledgeDeps {
  readonly documents: WorkspaceDeps['documents'] & ReadingDeps['documents']
}

/** The order in which tools are listed: that of the interface. [TOOL-1] */
const ORDER: readonly string[] = [
  ...['list_documents', 'get_document', 'get_page', 'get_shape', 'get_prose', 'get_outline', 'list_references', 'resolve_doi'],
  ...['list_fields', 'get_skills', 'list_icons', 'list_files', 'get_file', 'get_table', 'get_storage'],
  ...['create_document', 'rename_document'],
  ...['add_prose_page', 'set_prose', 'insert_block', 'delete_block', 'move_block', 'rename_prose_page'],
  ...['insert_section', 'restructure_outline', 'edit_table'],
  ...['add_canvas_page', 'rename_canvas_page', 'add_shape', 'add_shapes', 'connect', 'update_shape', 'generate_diagram'],
  'add_file',
  ...['delete_shape', 'delete_prose_page', 'delete_canvas_page', 'delete_document'],
  ...['reorder_shapes', 'reorder_prose_pages', 'reorder_canvas_page'],
  ...['add_reference', 'update_reference', 'delete_reference', 'set_fields'],
]

/** Every tool of the endpoint; throws on one that has no place in the order. */
export function allTools(deps: ToolDeps): readonly ToolDefinition[] {
  const tools = [
    ...workspaceTools(deps),
    ...readTools(deps),
    ...knowledgeTools(deps),
    ...fileTools(deps),
    ...proseTools(deps.documents),
    ...fieldTools(deps.documents),
  ]
  const placeOf = ({ name }: ToolDefinition): number => {
    const place = ORDER.indexOf(name)
    if (place < 0) throw new Error(`the tool ${name} has no place in the order`)
    return place
  }
  return tools.sort((a, b) => placeOf(a) - placeOf(b))
}
