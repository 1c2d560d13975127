import type { ReadName } from '@docrelay/model/reads'
import type { ArgumentsSchema } from '../arguments.ts'
import { success } from '../results.ts'
import type { JsonObject } from '../tool.ts'
import { flawOf, openDocument, type ReadingDeps } from './reading.ts'
import { type PictureDeps, readTokens, readWithPicture } from './pictures.ts'
import { annotations, DOCUMENT, FLAG, FORMAT, INDEX, input, PAGE, PAGED, TEXT } from './schema.ts'
import { listOf, members, type OutputMembers } from './output-members.ts'
import { output } from './output-schema.ts'
import { targetErrors } from './target-errors.ts'
import type { ToolRow } from './tool-row.ts'

/** A read tool that depends only on the document. */
interface ReadTool extends Pick<ToolRow, 'place' | 'title' | 'description' | 'errors' | 'examples' | 'needless'> {
  readonly name: Exclude<ReadName, 'list_files' | 'get_file' | 'link_targets'>
  readonly input: ArgumentsSchema & JsonObject
  readonly result: readonly string[]
  readonly more?: readonly string[]
  /** Schemas of result members that have another meaning in this tool than in others. */
  readonly members?: OutputMembers
}

/** The tools that are one read of one document. [TOOL-get_document … TOOL-get_table] */
const TOOLS: readonly ReadTool[] = [
  {
    name: 'get_document',
    place: 2,
    title: 'Get document',
    description: 'See a document. Returns pages, fields, access.',
    input: input(DOCUMENT),
    result: ['id', 'name', 'modifiedAt', 'lockedBy', 'access', 'collectionId', 'pages', 'prosePages', 'fields', 'referenceCount'],
    members: { pages: listOf(members({ string: 'id name', integer: 'shapeCount' })) },
    errors: {},
    examples: [{}],
  },
  {
    name: 'get_page',
    place: 3,
    title: 'Get canvas page',
    description: 'Read a canvas page; image shows it, lint finds faults. Returns shapes.',
    input: input(PAGE, { lint: FLAG, image: FLAG, ...PAGED }),
    result: ['pageId', 'shapes', 'shapeCount'],
    more: ['nextCursor', 'lint', 'lintTotal', 'lintPartial', 'warnings'],
    errors: {},
    examples: [{ pageId: 'c' }, { pageId: 'c', lint: true }],
  },
  {
    name: 'get_shape',
    place: 4,
    title: 'Get shape',
    description: 'Read a shape; image shows it. Returns it.',
    input: input({ ...PAGE, id: TEXT }, { image: FLAG }),
    result: ['shape'],
    more: ['warnings'],
    errors: { ERR_SHAPE_NOT_FOUND: { pageId: 'c', id: 's9' } },
    examples: [{ pageId: 'c', id: 's1' }],
  },
  {
    name: 'get_prose',
    place: 5,
    title: 'Get prose',
    description:
      'Read prose: all, a page, block or section (index -1: before them); for edits ids: true; limit counts blocks. Returns HTML, with ids Markdown.',
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
    members: { pages: listOf(members({ string: 'id name content', number: 'order' })) },
    errors: {
      ERR_ID_NOT_FOUND: { pageId: 'p', id: 'blk-z' },
      ERR_ID_AMBIGUOUS: { pageId: 'p', id: 'blk-x' },
      ERR_SECTION_INDEX: { pageId: 'p', index: 7 },
    },
    examples: [{ pageId: 'p', format: 'markdown', ids: true }, {}, { pageId: 'p', id: 'blk-a' }, { pageId: 'p', index: 0 }],
    needless: {
      index: { refused: { pageId: 'p', id: 'blk-a', index: 0 } },
      limit: { refused: { pageId: 'p', id: 'blk-a', limit: 5 } },
      cursor: { refused: { pageId: 'p', id: 'blk-a', cursor: 'x' } },
    },
  },
  {
    name: 'get_outline',
    place: 6,
    title: 'Get outline',
    description: 'Find sections. Returns titles and ids.',
    input: input(DOCUMENT, { pageId: TEXT, ...PAGED }),
    result: [],
    more: ['pageId', 'words', 'outline', 'pages', 'nextCursor'],
    members: { pages: listOf(members({ string: 'pageId name', integer: 'words', array: 'outline' })) },
    errors: {},
    examples: [{ pageId: 'p' }, {}],
    needless: { limit: { refused: { pageId: 'p', limit: 5 } }, cursor: { refused: { pageId: 'p', cursor: 'x' } } },
  },
  {
    name: 'list_references',
    place: 7,
    title: 'List references',
    description: 'See what can be cited. Returns CSL-JSON.',
    input: input(DOCUMENT, PAGED),
    result: ['references', 'style', 'count'],
    more: ['nextCursor'],
    errors: {},
    examples: [{}],
  },
  {
    name: 'list_fields',
    place: 9,
    title: 'List fields',
    description: 'See the fields. Returns names, values.',
    input: input(DOCUMENT),
    result: ['fields', 'count'],
    errors: {},
    examples: [{}],
  },
  {
    name: 'get_table',
    place: 14,
    title: 'Get table',
    description: 'Read a table by index or block in it. Returns a grid.',
    input: input(PAGE, { tableIndex: INDEX, id: TEXT, anchor: TEXT }),
    result: ['pageId', 'table'],
    errors: {
      ...targetErrors({}),
      ERR_TABLE_NOT_FOUND: { pageId: 'q' },
      ERR_TABLE_AMBIGUOUS: { pageId: 'p' },
      ERR_TABLE_INDEX: { pageId: 'p', tableIndex: 9 },
      ERR_TARGET_NOT_IN_TABLE: { pageId: 'p', id: 'blk-a' },
    },
    examples: [
      { pageId: 'p', tableIndex: 0 },
      { pageId: 'p', id: 'blk-t' },
    ],
    needless: { tableIndex: { refused: { pageId: 'p', id: 'blk-t', tableIndex: 0 } } },
  },
]

export function readTools(deps: ReadingDeps & PictureDeps): readonly ToolRow[] {
  return TOOLS.map((tool) => readTool(tool, deps))
}

function readTool({ input, result, more = [], members: own, ...row }: ReadTool, deps: ReadingDeps & PictureDeps): ToolRow {
  const { name } = row
  return {
    ...row,
    inputSchema: input,
    outputSchema: output([...result, 'serverVersion', 'source'], more, own),
    annotations: annotations('RO', 'ID'),
    toolset: 'read',
    access: 'view',
    bucket: 'read',
    ...(Object.hasOwn(input.properties, 'image') && { tokens: readTokens }),
    flaw: flawOf(name),
    async run(call) {
      if (call.args['image'] === true) return readWithPicture(name, call, deps)
      const document = await openDocument(call, deps)
      if ('kind' in document) return document
      const { docId: _, image: __, ...args } = call.args
      const reading = await document.read(name, args)
      return reading.kind === 'read' ? success(reading.result) : reading
    },
  }
}
