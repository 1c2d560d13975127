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
    description: 'Read this first to learn the pages of a document. Returns their ids and names, fields and your access.',
    input: input(DOCUMENT),
    result: ['id', 'name', 'modifiedAt', 'lockedBy', 'access', 'collectionId', 'pages', 'prosePages', 'fields', 'referenceCount'],
  },
  {
    name: 'get_page',
    title: 'Get canvas page',
    description: 'Read a canvas page. Returns its shapes back to front.',
    input: input(PAGE, PAGED),
    result: ['pageId', 'shapes', 'shapeCount'],
    more: ['nextCursor'],
  },
  {
    name: 'get_shape',
    title: 'Get shape',
    description: 'Read one shape. Returns it as get_page does.',
    input: input({ ...PAGE, id: TEXT }),
    result: ['shape'],
  },
  {
    name: 'get_prose',
    title: 'Get prose',
    description:
      'Read prose: all, a page, a block (id) or a section (index, -1: before the first heading). Returns HTML with block ids, or Markdown.',
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
    description: 'Find the sections of a prose page. Returns index, level, title and id of its headings.',
    input: input(PAGE),
    result: ['pageId', 'outline'],
  },
  {
    name: 'list_references',
    title: 'List references',
    description: 'See what can be cited. Returns CSL-JSON items and the style.',
    input: input(DOCUMENT, PAGED),
    result: ['references', 'style', 'count'],
    more: ['nextCursor'],
  },
  {
    name: 'list_fields',
    title: 'List fields',
    description: 'See what fields there are. Returns names and values.',
    input: input(DOCUMENT),
    result: ['fields', 'count'],
  },
  {
    name: 'get_table',
    title: 'Get table',
    description: 'Read a table before edit_table, by index or a block in it. Returns its grid of cells.',
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
