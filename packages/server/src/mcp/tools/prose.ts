import { tableOpNames } from '@docrelay/model/prose/tables/op-args'
import type { Documents } from '../../documents/documents.ts'
import type { ToolDefinition } from '../tool.ts'
import { type EditTool, editTool } from './edit-tool.ts'
import { CONTENT, DOCUMENT, FORMAT, INDEX, input, INTEGER, PAGE, REPEATABLE, SIDE, TEXT, VERSIONED } from './schema.ts'

const ADDRESS = { id: TEXT, anchor: TEXT } as const
const BLOCKS = ['pageId', 'ok', 'blocks'] as const

/** [TOOL-add_prose_page … TOOL-edit_table] */
const TOOLS: readonly EditTool[] = [
  {
    name: 'add_prose_page',
    title: 'Add prose page',
    description: 'Append a prose page. Returns id and blocks.',
    toolset: 'prose',
    input: input(DOCUMENT, { name: TEXT, content: CONTENT, format: FORMAT, ...VERSIONED, ...REPEATABLE }),
    result: ['id', 'name', 'order', 'blocks'],
  },
  {
    name: 'set_prose',
    title: 'Set prose',
    description: 'Replace a page, block (id, or anchor: its whole text) or blocks up to untilId. Returns the blocks.',
    toolset: 'prose',
    input: input({ ...PAGE, content: CONTENT }, { format: FORMAT, ...ADDRESS, untilId: TEXT, anchorUntil: TEXT, ...VERSIONED }),
    result: BLOCKS,
    hints: ['DE', 'ID'],
  },
  {
    name: 'insert_block',
    title: 'Insert block',
    description: 'Put content beside a block (id or anchor). Returns blocks.',
    toolset: 'prose',
    input: input({ ...PAGE, content: CONTENT }, { format: FORMAT, ...ADDRESS, side: SIDE, ...VERSIONED, ...REPEATABLE }),
    result: BLOCKS,
  },
  {
    name: 'delete_block',
    title: 'Delete block',
    description: 'Delete a block (id or anchor). Returns ids.',
    toolset: 'prose',
    input: input(PAGE, { ...ADDRESS, ...VERSIONED }),
    result: ['pageId', 'ok', 'deleted'],
    hints: ['DE', 'ID'],
  },
  {
    name: 'move_block',
    title: 'Move block',
    description: 'Move a block on its page. Returns blocks.',
    toolset: 'prose',
    input: input(PAGE, { ...ADDRESS, targetId: TEXT, targetAnchor: TEXT, side: SIDE, ...VERSIONED }),
    result: BLOCKS,
  },
  {
    name: 'rename_prose_page',
    title: 'Rename prose page',
    description: 'Rename a prose page. Returns the name.',
    toolset: 'prose',
    input: input({ ...PAGE, name: TEXT }, VERSIONED),
    result: ['pageId', 'name'],
    hints: ['ID'],
  },
  {
    name: 'insert_section',
    title: 'Insert section',
    description: 'Add a section at the end, start or after one. Returns blocks.',
    toolset: 'structure',
    input: input(
      { ...PAGE, level: INTEGER, title: TEXT },
      {
        body: CONTENT,
        format: FORMAT,
        position: { enum: ['start', 'end'] },
        afterIndex: INDEX,
        ...VERSIONED,
        ...REPEATABLE,
      },
    ),
    result: ['pageId', 'ok', 'index', 'blocks'],
  },
  {
    name: 'restructure_outline',
    title: 'Restructure outline',
    description: 'Shift a heading or move its section. Returns the outline.',
    toolset: 'structure',
    input: input({ ...PAGE, op: { enum: ['promote', 'demote', 'move'] }, index: INDEX }, { toIndex: INDEX, ...VERSIONED }),
    result: ['pageId', 'outline'],
  },
  {
    name: 'edit_table',
    title: 'Edit table',
    description: 'Change rows, columns, cells, not text. Returns the grid.',
    toolset: 'structure',
    input: input(
      { ...PAGE, op: { enum: tableOpNames } },
      {
        ...Object.fromEntries(['row', 'col', 'fromRow', 'fromCol', 'toRow', 'toCol', 'from', 'to'].map((name) => [name, INDEX])),
        side: SIDE,
        width: { type: 'number' },
        backgroundColor: TEXT,
        align: TEXT,
        scope: TEXT,
        tableIndex: INDEX,
        ...ADDRESS,
        ...VERSIONED,
      },
    ),
    result: ['pageId', 'ok', 'table'],
    hints: ['DE'],
  },
  {
    name: 'delete_prose_page',
    title: 'Delete prose page',
    description: 'Delete a prose page, not the last. Returns its id.',
    toolset: 'manage',
    input: input(PAGE, VERSIONED),
    result: ['deleted'],
    hints: ['DE', 'ID'],
  },
  {
    name: 'reorder_prose_pages',
    title: 'Reorder prose pages',
    description: 'Order pages by all ids. Returns them.',
    toolset: 'manage',
    input: input({ ...DOCUMENT, order: { type: 'array', items: TEXT } }, VERSIONED),
    result: ['order', 'ok'],
    hints: ['ID'],
  },
]

export function proseTools(documents: Pick<Documents, 'edit'>): readonly ToolDefinition[] {
  return TOOLS.map((tool) => editTool(documents, tool))
}
