import type { ReadName } from '@docrelay/model/reads'
import type { ArgumentsSchema } from '../arguments.ts'
import { success } from '../results.ts'
import type { JsonObject, ToolDefinition } from '../tool.ts'
import { flawOf, openDocument, type ReadingDeps } from './reading.ts'
import { annotations, DOCUMENT, FLAG, FORMAT, INDEX, input, output, PAGE, PAGED, TEXT } from './schema.ts'

/** A read tool that needs nothing but the document. */
interface ReadTool extends Pick<ToolDefinition, 'title' | 'description'> {
  readonly name: Exclude<ReadName, 'list_files' | 'get_file'>
  readonly input: ArgumentsSchema & JsonObject
  readonly result: readonly string[]
  readonly more?: readonly string[]
}

/** [TOOL-get_document … TOOL-get_table] */
const TOOLS: readonly ReadTool[] = [
  {
    name: 'get_document',
    title: 'Get document',
    description: 'Learn the pages of a document. Returns ids, names, fields, access.',
    input: input(DOCUMENT),
    result: ['id', 'name', 'modifiedAt', 'lockedBy', 'access', 'collectionId', 'pages', 'prosePages', 'fields', 'referenceCount'],
  },
  {
    name: 'get_page',
    title: 'Get canvas page',
    description: 'Read a canvas page. Returns shapes back to front.',
    input: input(PAGE, PAGED),
    result: ['pageId', 'shapes', 'shapeCount'],
    more: ['nextCursor'],
  },
  {
    name: 'get_shape',
    title: 'Get shape',
    description: 'Read a shape. Returns it as get_page does.',
    input: input({ ...PAGE, id: TEXT }),
    result: ['shape'],
  },
  {
    name: 'get_prose',
    title: 'Get prose',
    description: 'Read all prose, a page, block (id) or section (index, -1: before them). Returns HTML or Markdown.',
    input: input(DOCUMENT, {
      pageId: TEXT,
      format: FORMAT,
      id: TEXT,
      index: { type: 'integer', minimum: -1 },
      ids: FLAG,
      ...PAGED,
    }),
    result: ['format'],
    more: ['page', 'pages', 'nextCursor'],
  },
  {
    name: 'get_outline',
    title: 'Get outline',
    description: 'Find sections of a page. Returns index, title and id.',
    input: input(PAGE),
    result: ['pageId', 'outline'],
  },
  {
    name: 'list_references',
    title: 'List references',
    description: 'See what can be cited. Returns CSL-JSON.',
    input: input(DOCUMENT, PAGED),
    result: ['references', 'style', 'count'],
    more: ['nextCursor'],
  },
  {
    name: 'list_fields',
    title: 'List fields',
    description: 'See the fields. Returns names, values.',
    input: input(DOCUMENT),
    result: ['fields', 'count'],
  },
  {
    name: 'get_table',
    title: 'Get table',
    description: 'Read a table by index or block in it. Returns a grid.',
    input: input(PAGE, { tableIndex: INDEX, id: TEXT, anchor: TEXT }),
    result: ['pageId', 'table'],
  },
]

export function readTools(deps: ReadingDeps): readonly ToolDefinition[] {
  return TOOLS.map((tool) => readTool(tool, deps))
}

function readTool({ name, title, description, input, result, more = [] }: ReadTool, deps: ReadingDeps): ToolDefinition {
  return {
    name,
    title,
    description,
    inputSchema: input,
    outputSchema: output([...result, 'serverVersion', 'source'], more),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'view',
    bucket: 'read',
    flaw: flawOf(name),
    async run(call) {
      const document = await openDocument(call, deps)
      if ('kind' in document) return document
      const { docId: _, ...args } = call.args
      const reading = await document.read(name, args)
      return reading.kind === 'read' ? success(reading.result) : reading
    },
  }
}
