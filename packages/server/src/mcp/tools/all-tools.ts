import { type AddFileDeps, addFileTool } from './add-file.ts'
import { canvasPageTools } from './canvas-pages.ts'
import { type LinkDeps, withCheckedLinks } from './checked-links.ts'
import { type DiagramDeps, diagramTools } from './diagrams.ts'
import { editDocumentTool, type StepDeps } from './edit-document.ts'
import { fieldTools } from './fields.ts'
import { type FileDeps, fileTools } from './files.ts'
import { type KnowledgeDeps, knowledgeTools } from './knowledge.ts'
import { withNamedDocuments } from './named-documents.ts'
import type { PictureDeps } from './pictures.ts'
import { completeOutput } from './output-schema.ts'
import { proseTools } from './prose.ts'
import { readTools } from './reads.ts'
import type { ReadingDeps } from './reading.ts'
import { referenceTools } from './references.ts'
import type { ListedTool } from './tool-row.ts'
import { searchTool, type SearchToolDeps } from './search.ts'
import { type ShapeDeps, shapeTools } from './shapes.ts'
import { type UndoDeps, undoTool } from './undo.ts'
import { type WaitDeps, waitTool } from './wait-for-change.ts'
import { wordTools } from './words.ts'
import { type WorkspaceDeps, workspaceTools } from './workspace.ts'

/** Everything that the tools depend on. */
export interface ToolDeps
  extends ReadingDeps,
    PictureDeps,
    FileDeps,
    AddFileDeps,
    WorkspaceDeps,
    KnowledgeDeps,
    DiagramDeps,
    ShapeDeps,
    SearchToolDeps,
    WaitDeps,
    UndoDeps {
  readonly documents: WaitDeps['documents'] &
    WorkspaceDeps['documents'] &
    ReadingDeps['documents'] &
    DiagramDeps['documents'] &
    LinkDeps['documents']
  readonly layouts: DiagramDeps['layouts'] & ShapeDeps['layouts'] & StepDeps['layouts']
  readonly blobs: FileDeps['blobs'] & AddFileDeps['blobs'] & ShapeDeps['blobs']
}

/** Number of tools in the interface; a tool with a greater `place` is beyond it. [AG-90] */
export const INTERFACE_TOOLS = 45

/** Every tool of the endpoint, ordered by `place`. Throws when two tools have the same place. [TOOL-1] */
export function allTools(deps: ToolDeps): readonly ListedTool[] {
  const linked = withCheckedLinks(deps)
  const others = [
    ...workspaceTools(deps),
    ...readTools(deps),
    ...knowledgeTools(deps),
    ...fileTools(deps),
    ...proseTools(linked),
    ...canvasPageTools(deps.documents),
    ...shapeTools(deps),
    addFileTool(deps),
    ...diagramTools(deps),
    ...fieldTools(deps.documents),
    ...referenceTools(deps.documents, deps.dois),
    ...wordTools(deps.documents),
    waitTool(deps),
    searchTool(deps),
    undoTool(deps),
  ]
  const tools = [...others, editDocumentTool(linked, deps, others)].sort((a, b) => a.place - b.place)
  for (const [i, { name, place }] of tools.entries())
    if (tools[i + 1]?.place === place) throw new Error(`the tools ${name} and ${tools[i + 1]?.name} have one place`)
  return tools
    .map((tool) => withNamedDocuments(tool, deps))
    .map((tool) => ({
      ...tool,
      results: Object.keys(tool.outputSchema['properties'] as object),
      outputSchema: completeOutput(tool),
    }))
    .map((tool) => (tool.place > INTERFACE_TOOLS ? { ...tool, extra: true } : tool))
}

/** The tools of this build as data. They have no services, so they can be inspected but not run. */
export const TOOL_ROWS: readonly ListedTool[] = allTools({} as ToolDeps)

/** Names of the tools of this build, without prefix. */
export const TOOL_NAMES: ReadonlySet<string> = new Set(TOOL_ROWS.map(({ name }) => name))

/** Names of the tools that a relay offers: all, or without `extraTools` only those of the interface. [AG-90, AG-96] */
export function offeredNames(extraTools: boolean): ReadonlySet<string> {
  return extraTools ? TOOL_NAMES : new Set(TOOL_ROWS.filter(({ extra }) => extra !== true).map(({ name }) => name))
}
