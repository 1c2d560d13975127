import { blockTypes, calloutKinds } from '@docrelay/model/prose/set-block'
import { type Editable, type EditTool, editTool } from './edit-tool.ts'
import { stampErrors } from './target-errors.ts'
import { AS_PRINTED, described, DOCUMENT, FLAG, input, oneOf, PAGE, REPEATABLE, TEXT, VERSIONED } from './schema.ts'
import type { ToolRow } from './tool-row.ts'

const EDIT = {
  type: 'object',
  properties: {
    find: described({ type: 'string', minLength: 1, maxLength: 1_000 }, 'within a block'),
    replace: described({ type: 'string', maxLength: 10_000 }, 'plain text'),
    id: described(TEXT, 'only there'),
    sectionIndex: { type: 'integer', minimum: -1 },
    all: described(FLAG, 'every match'),
    occurrence: described({ type: 'integer', minimum: 1 }, 'which match'),
  },
  required: ['find', 'replace'],
  additionalProperties: false,
} as const

const find = (words: string, more: object = {}) => ({ edits: [{ find: words, replace: 'x', ...more }] })

/** The tools that change words or the type of a block while people type there. [TOOL-edit_text, TOOL-set_block] */
const TOOLS: readonly EditTool[] = [
  {
    name: 'edit_text',
    place: 46,
    title: 'Edit text',
    description: 'Replace words and nothing else, also where people type. Returns how often, and where.',
    toolset: 'prose',
    input: input(
      { ...DOCUMENT, edits: { type: 'array', minItems: 1, maxItems: 50, items: EDIT } },
      { pageId: TEXT, scope: oneOf('prose', 'canvas', 'all'), ...VERSIONED, ...REPEATABLE },
    ),
    result: ['edits', 'blocks'],
    hints: ['DE'],
    errors: {
      ERR_TEXT_NOT_FOUND: find('Gamma'),
      ERR_TEXT_AMBIGUOUS: find('Same'),
      ERR_ID_NOT_FOUND: find('Alpha', { id: 'blk-z' }),
      ERR_ID_AMBIGUOUS: find('One', { id: 'blk-x' }),
      ERR_BLOCK_CHANGED: find('Alpha', { id: 'blk-a#0000' }),
      ERR_SECTION_INDEX: { pageId: 'p', ...find('Alpha', { sectionIndex: 7 }) },
      ERR_SHAPE_NOT_FOUND: { scope: 'canvas', ...find('One', { id: 'zz' }) },
      ERR_SHAPE_CHANGED: { scope: 'canvas', ...find('One', { id: 's1#0000' }) },
    },
    examples: [
      { edits: [{ find: 'Alpha', replace: 'Beta' }] },
      {
        edits: [
          { find: 'Same', replace: 'Other', all: true },
          { find: 'Head', replace: 'Start' },
        ],
        pageId: 'p',
      },
      { edits: [{ find: 'One', replace: 'First', id: 's1' }], scope: 'canvas' },
    ],
    needless: {
      'edits[0].occurrence': { refused: find('Same', { all: true, occurrence: 1 }) },
      'edits[0].sectionIndex': { refused: { pageId: 'p', ...find('Alpha', { id: 'blk-a', sectionIndex: 0 }) } },
      'edits[0].replace': { refused: { edits: [{ find: 'Same', replace: 'Same', all: true }] } },
    },
  },
  {
    name: 'set_block',
    place: 47,
    title: 'Set block',
    description: 'Change what a block is, not its text: heading, code, list, callout, ticked task. Returns it.',
    toolset: 'prose',
    input: input(
      { ...PAGE, id: AS_PRINTED },
      {
        type: oneOf(...blockTypes),
        level: { type: 'integer', minimum: 1, maximum: 6 },
        checked: FLAG,
        language: TEXT,
        kind: oneOf(...calloutKinds),
        ...VERSIONED,
        ...REPEATABLE,
      },
    ),
    result: ['pageId', 'ok', 'blocks'],
    hints: ['ID'],
    errors: {
      ERR_ID_NOT_FOUND: { pageId: 'p', id: 'blk-z', level: 2 },
      ERR_ID_AMBIGUOUS: { pageId: 'p', id: 'blk-x', level: 2 },
      ...stampErrors({ level: 2 }),
      ERR_BLOCK_KIND: { pageId: 'p', id: 'blk-a', checked: true },
    },
    examples: [
      { pageId: 'p', id: 'blk-a', level: 2 },
      { pageId: 'p', id: '@0', level: 3, expectedVersion: 1 },
      { pageId: 'p', id: 'blk-i', type: 'taskList', checked: true },
      { pageId: 'p', id: 'blk-j', type: 'codeBlock', language: 'sql' },
    ],
    needless: {
      level: { refused: { pageId: 'p', id: 'blk-i', type: 'bulletList', level: 2 } },
      checked: { refused: { pageId: 'p', id: 'blk-i', type: 'bulletList', checked: true } },
      language: { refused: { pageId: 'p', id: 'blk-a', type: 'heading', language: 'sql' } },
    },
  },
]

export function wordTools(documents: Editable): readonly ToolRow[] {
  return TOOLS.map((tool) => editTool(documents, tool))
}
