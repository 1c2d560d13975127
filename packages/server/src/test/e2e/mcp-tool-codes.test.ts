import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

const directory = mkdtempSync(join(tmpdir(), 'mcp-codes-'))
let relay: RelayUnderTest
let agents: Readonly<Record<Caller, McpAgent>>

const BODY = {
  name: 'T',
  pages: [
    { id: 'c', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 1, y: 2 }] },
    { id: 'c2', name: 'Canvas 2', shapes: [{ id: 's2', type: 'rectangle', x: 1, y: 2 }] },
  ],
  richTextPages: [
    {
      id: 'p',
      name: 'One',
      order: 0,
      content:
        '<h1 id="blk-h">Head</h1><p id="blk-a">Alpha</p><p id="blk-b">Same</p><p id="blk-c">Same</p>' +
        '<ul><li><p id="blk-i">Item</p><p id="blk-j">Second</p></li></ul>' +
        '<table><tr><td><p id="blk-t">a</p></td><td rowspan="2"><p>b</p></td><td><p>c</p></td></tr><tr><td><p>d</p></td><td><p>e</p></td></tr></table>' +
        '<table><tr><td><p id="blk-s">x</p></td></tr></table>',
    },
    { id: 'q', name: 'Two', order: 1, content: '<p id="blk-q">Other</p><p id="blk-x">1</p><p id="blk-x">2</p>' },
  ],
}
const ONE_PAGE = { ...BODY, richTextPages: [{ id: 'p', name: 'Only', order: 0, content: '<p id="blk-1">1</p><p>2</p>' }] }

beforeAll(async () => {
  writeFileSync(join(directory, 'local.json'), JSON.stringify(BODY))
  const env = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0', RELAY_MCP_LOCAL_DOCUMENTS_DIR: directory }
  relay = await startRelayUnderTest({ mcp: 'local', env })
  const token = (sub: string, entry: Members) => relay.token({ sub, wsp: [{ id: 'default', role: 'member', ...entry }] })
  const { mcpUrl } = relay
  agents = {
    ann: await mcpAgent(mcpUrl, token('ann', {})),
    bob: await mcpAgent(mcpUrl, token('bob', {})),
    viewer: await mcpAgent(mcpUrl, token('vic', { role: 'viewer' })),
    small: await mcpAgent(mcpUrl, token('ann', { max_doc_bytes: 100 })),
    poor: await mcpAgent(mcpUrl, token('ann', { quota_bytes: 100 })),
    reader: await mcpAgent(mcpUrl, token('ann', {}), '?readonly=1'),
  }
  const rest = relay.rest({ sub: 'ann' })
  for (const id of ['cold', 'live', 'gone']) await rest.putDocument(id, BODY)
  await rest.putDocument('one-page', ONE_PAGE)
  await rest.deleteDocument('gone')
  await saved(relay.sync('live', { sub: 'ann', role: 'member' }))
})
afterAll(async () => {
  await relay?.[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

type Caller = 'ann' | 'bob' | 'viewer' | 'small' | 'poor' | 'reader'
/** A refused call. Facts are all members of the refusal besides code and message. */
type Row = readonly [code: string, facts: string, tool: string, args: Members, caller?: Caller]

const p = { pageId: 'p' }
const q = { pageId: 'q' }
const text = { ...p, content: 'New words.' }
const first = { ...p, tableIndex: 0 }
const LARGE = 'x'.repeat(1_048_577)
const HASH = 'ab'.repeat(32)

/** Refusals that hold for any document with the sample body. */
const OF_DOCUMENTS: readonly Row[] = [
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'get_page', { pageId: 'c', limit: 'x' }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'get_page', { pageId: 'c', limit: 0 }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'insert_block', { ...text, id: 'blk-a', side: 'below' }],
  ['ERR_BAD_ARGUMENT', 'argument expected', 'get_page', {}],
  ['ERR_BAD_ARGUMENT', 'argument expected nearest known', 'get_page', { pageID: 'c' }],
  ['ERR_TOOL_DISABLED', 'tool toolset', 'rename_document', { name: 'x' }, 'reader'],
  ['ERR_VIEW_FORBIDDEN', 'docId', 'get_document', {}, 'bob'],
  ['ERR_EDIT_FORBIDDEN', 'docId role', 'rename_document', { name: 'x' }, 'bob'],
  ['ERR_EDIT_FORBIDDEN', 'docId role', 'rename_document', { name: 'x', dryRun: true }, 'viewer'],
  ['ERR_DELETE_FORBIDDEN', 'docId role', 'delete_document', {}, 'bob'],
  ['ERR_DELETE_FORBIDDEN', 'docId role', 'delete_document', {}, 'viewer'],
  ['ERR_PAGE_NOT_FOUND', 'pageId kind pages', 'get_outline', { pageId: 'nope' }],
  ['ERR_PAGE_NOT_FOUND', 'pageId kind otherKind pages', 'get_page', p],
  ['ERR_PAGE_NOT_FOUND', 'pageId kind otherKind pages', 'delete_prose_page', { pageId: 'c' }],
  ['ERR_NOT_PERMUTATION', 'missing unknown duplicate', 'reorder_prose_pages', { order: ['p', 'p', 'z'] }],
  ['ERR_VERSION_CONFLICT', 'expectedVersion serverVersion', 'rename_document', { name: 'x', expectedVersion: 99 }],
  ['ERR_VERSION_CONFLICT', 'expectedVersion serverVersion', 'delete_document', { expectedVersion: 99 }],
  ['ERR_DOC_TOO_LARGE', 'sizeBytes maxBytes source', 'insert_block', { ...text, id: 'blk-a' }, 'small'],
  ['ERR_DOC_TOO_LARGE', 'sizeBytes maxBytes source', 'insert_block', { ...text, id: 'blk-a', dryRun: true }, 'small'],
  ['ERR_STORAGE_QUOTA', 'usedBytes addedBytes quotaBytes source', 'insert_block', { ...text, id: 'blk-a' }, 'poor'],
  ['ERR_STORAGE_QUOTA', 'usedBytes addedBytes quotaBytes source', 'insert_block', { ...text, id: 'blk-a', dryRun: true }, 'poor'],
  ['ERR_PROSE_TOO_LARGE', 'bytes maxBytes', 'set_prose', { ...p, content: LARGE }],
  ['ERR_PROSE_TOO_LARGE', 'bytes maxBytes', 'add_prose_page', { content: LARGE }],
  ['ERR_PROSE_TOO_LARGE', 'bytes maxBytes', 'insert_block', { ...p, content: LARGE, id: 'blk-a' }],
  ['ERR_PROSE_TOO_LARGE', 'bytes maxBytes', 'insert_section', { ...p, level: 1, title: 't', body: LARGE }],
  ['ERR_TARGET_MISSING', '', 'insert_block', text],
  ['ERR_TARGET_MISSING', '', 'delete_block', p],
  ['ERR_TARGET_MISSING', '', 'move_block', { ...p, id: 'blk-a' }],
  ['ERR_ANCHOR_EMPTY', 'which', 'set_prose', { ...text, anchor: ' ' }],
  ['ERR_ANCHOR_EMPTY', 'which', 'get_table', { ...p, anchor: ' ' }],
  ['ERR_ANCHOR_NOT_FOUND', 'anchor nearest', 'delete_block', { ...p, anchor: 'Alph' }],
  ['ERR_ANCHOR_NOT_FOUND', 'anchor nearest', 'get_table', { ...p, anchor: 'Alph' }],
  ['ERR_ANCHOR_AMBIGUOUS', 'count matches', 'set_prose', { ...text, anchor: 'Same' }],
  ['ERR_ANCHOR_RANGE', 'from until', 'set_prose', { ...text, id: 'blk-a', untilId: 'blk-i' }],
  ['ERR_ANCHOR_RANGE', 'from until', 'set_prose', { ...text, anchor: 'Alpha', anchorUntil: 'Head' }],
  ['ERR_ID_NOT_FOUND', 'id nearest', 'get_prose', { ...p, id: 'blk-z' }],
  ['ERR_ID_NOT_FOUND', 'id otherPage', 'delete_block', { ...p, id: 'blk-q' }],
  ['ERR_ID_AMBIGUOUS', 'id count matches', 'get_prose', { ...q, id: 'blk-x' }],
  ['ERR_ID_AMBIGUOUS', 'id count matches', 'delete_block', { ...q, id: 'blk-x' }],
  ['ERR_BLOCK_CHANGED', 'id current', 'delete_block', { ...p, id: 'blk-a#0000' }],
  ['ERR_ID_ANCHOR_MISMATCH', 'id currentText', 'delete_block', { ...p, id: 'blk-a', anchor: 'Same' }],
  ['ERR_INSERT_EMPTY', '', 'insert_block', { ...p, content: ' \n ', id: 'blk-a' }],
  ['ERR_MOVE_SELF', 'id', 'move_block', { ...p, id: 'blk-a', targetId: 'blk-a' }],
  ['ERR_MOVE_INTO_SELF', 'id', 'move_block', { ...p, id: 'blk-i', targetId: 'blk-j' }],
  ['ERR_MOVE_CROSS_CONTEXT', 'from to hint', 'move_block', { ...p, id: 'blk-a', targetId: 'blk-i' }],
  ['ERR_SECTION_INDEX', 'index sectionCount', 'get_prose', { ...p, index: 7 }],
  ['ERR_SECTION_INDEX', 'index sectionCount', 'restructure_outline', { ...p, op: 'demote', index: 7 }],
  ['ERR_SECTION_INDEX', 'index sectionCount', 'restructure_outline', { ...q, op: 'move', index: 0, toIndex: 0 }],
  ['ERR_TABLE_NOT_FOUND', 'pageId', 'get_table', q],
  ['ERR_TABLE_NOT_FOUND', 'pageId', 'edit_table', { ...q, op: 'toggleHeaderRow' }],
  ['ERR_TABLE_AMBIGUOUS', 'tableCount', 'get_table', p],
  ['ERR_TABLE_AMBIGUOUS', 'tableCount', 'edit_table', { ...p, op: 'toggleHeaderRow' }],
  ['ERR_TABLE_INDEX', 'tableIndex tableCount', 'get_table', { ...p, tableIndex: 9 }],
  ['ERR_TARGET_NOT_IN_TABLE', 'id', 'get_table', { ...p, id: 'blk-a' }],
  ['ERR_TARGET_NOT_IN_TABLE', '', 'edit_table', { ...p, op: 'toggleHeaderRow', anchor: 'Alpha' }],
  ['ERR_CELL_RANGE', 'rows cols', 'edit_table', { ...first, op: 'addRow', row: 2 }],
  ['ERR_CELL_RANGE', 'rows cols', 'edit_table', { ...first, op: 'splitCell', row: 0, col: 1e20 }],
  ['ERR_TABLE_LAST_ROW', 'rows', 'edit_table', { ...p, tableIndex: 1, op: 'deleteRow', row: 0 }],
  ['ERR_TABLE_LAST_COLUMN', 'cols', 'edit_table', { ...p, id: 'blk-s', op: 'deleteColumn', col: 0 }],
  ['ERR_MERGE_SINGLE_CELL', 'row col', 'edit_table', { ...first, op: 'mergeCells', fromRow: 1, fromCol: 1, toRow: 0, toCol: 1 }],
  [
    'ERR_MERGE_PARTIAL_SPAN',
    'rect cell',
    'edit_table',
    { ...first, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 2 },
  ],
  ['ERR_SPLIT_NOT_MERGED', 'row col', 'edit_table', { ...first, op: 'splitCell', row: 1, col: 0 }],
  ['ERR_CELL_ATTR', 'allowed', 'edit_table', { ...first, op: 'setCellAttrs', row: 0, col: 0 }],
  ['ERR_CELL_ATTR', 'attribute allowed', 'edit_table', { ...first, op: 'setCellAttrs', row: 0, col: 0, align: 'middle' }],
  ['ERR_CELL_ATTR', 'attribute allowed', 'edit_table', { ...first, op: 'setCellAttrs', row: 0, col: 0, scope: 'row' }],
  ['ERR_TABLE_HAS_MERGES', 'cells', 'edit_table', { ...first, op: 'moveRow', from: 0, to: 1 }],
  ['ERR_SHAPE_NOT_FOUND', 'shapeId pageId', 'get_shape', { pageId: 'c', id: 's9' }],
  ['ERR_SHAPE_NOT_FOUND', 'shapeId pageId otherPage', 'get_shape', { pageId: 'c', id: 's2' }],
  ['ERR_BAD_BLOB_REF', 'got', 'get_file', { blobRef: 'blob://x' }],
  ['ERR_FILE_NOT_FOUND', 'id', 'get_file', { id: 's1' }],
  ['ERR_FILE_NOT_FOUND', 'hash', 'get_file', { blobRef: `blob://${HASH}` }],
  ['ERR_BAD_FIELD_NAME', 'index name', 'set_fields', { fields: [{ name: 'a' }, { name: 'b}' }] }],
]

const OTHERS: readonly Row[] = [
  ['ERR_DOC_NOT_FOUND', 'docId', 'get_document', { docId: 'never' }],
  ['ERR_DOC_NOT_FOUND', 'docId', 'rename_document', { docId: 'never', name: 'x' }],
  ['ERR_DOC_NOT_FOUND', 'docId', 'delete_document', { docId: 'never' }],
  ['ERR_DOC_NOT_FOUND', 'docId deleted', 'get_document', { docId: 'gone' }],
  ['ERR_DOC_NOT_FOUND', 'docId deleted', 'rename_document', { docId: 'gone', name: 'x' }],
  ['ERR_DOC_NOT_FOUND', 'docId deleted', 'delete_document', { docId: 'gone' }],
  ['ERR_EDIT_FORBIDDEN', 'role', 'create_document', {}, 'viewer'],
  ['ERR_STORAGE_QUOTA', 'usedBytes addedBytes quotaBytes source', 'create_document', {}, 'poor'],
  ['ERR_LOCAL_READ_ONLY', 'docId promote', 'rename_document', { docId: 'local', name: 'x' }],
  ['ERR_LOCAL_READ_ONLY', 'docId promote', 'delete_document', { docId: 'local' }],
  ['ERR_PAGE_NOT_FOUND', 'pageId kind pages', 'get_page', { docId: 'local', pageId: 'nope' }],
  ['ERR_LAST_PAGE', 'pageId kind', 'delete_prose_page', { docId: 'one-page', pageId: 'p' }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'list_documents', { cursor: 'x' }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'list_documents', { query: 'x'.repeat(201) }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'list_icons', { cursor: 'x' }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'create_document', { name: ' ' }],
  ['ERR_BAD_ARGUMENT', 'argument expected got', 'create_document', { requestId: 'r'.repeat(129) }],
  ['ERR_BAD_ARGUMENT', 'argument expected known', 'get_storage', { all: true }],
  ['ERR_DOI_INVALID', 'doi', 'resolve_doi', { doi: 'none' }],
  ['ERR_SKILL_NOT_FOUND', 'skill known', 'get_skills', { skill: 'nope' }],
]

describe('refused tool calls', () => {
  const cases = [
    ...OTHERS.map((row) => ['', row] as const),
    ...['cold', 'live'].flatMap((docId) => OF_DOCUMENTS.map((row) => [docId, row] as const)),
  ]
  it.each(cases.map(([docId, [code, facts, tool, args, caller = 'ann']]) => ({ docId, code, facts, tool, args, caller })))(
    '[TOOL-8] [TOOL-9] $code of $tool $docId, %#: its facts are those of the table and appear in its message',
    async ({ docId, code, facts, tool, args, caller }) => {
      const refused = await agents[caller].refused(tool, docId === '' ? args : { docId, ...args })
      const { code: told, message, ...rest } = refused
      expect([told, Object.keys(rest).sort()]).toEqual([code, facts.split(' ').filter(Boolean).sort()])
      expect(scalarsOf(rest).filter((fact) => !String(message).includes(fact))).toEqual([])
      expect(JSON.stringify(refused).length).toBeLessThan(3_000)
    },
  )

  it('[TOOL-9] [TOOL-20] [TOOL-21] a refused call does not change the document', async () => {
    for (const docId of ['cold', 'live'])
      expect(await agents.ann.call('get_document', { docId })).toMatchObject({ name: 'T', serverVersion: 1 })
  })

  it('[TOOL-25] [TOOL-22] ERR_CURSOR_EXPIRED and ERR_REQUEST_ID_REUSED follow the calls that cause them', async () => {
    const at = { docId: 'one-page', pageId: 'p' }
    const insert = { ...at, content: 'x', id: 'blk-1', requestId: 'r1' }
    await agents.ann.call('insert_block', insert)
    const docId = 'one-page'
    const { id: added } = await agents.ann.call('add_prose_page', { docId, content: 'one\n\ntwo' })
    const [first] = (await agents.ann.call('get_prose', { docId }))['pages'] as readonly { readonly content: string }[]
    const blocks = first?.content.match(/<p/g)?.length ?? 0
    const { nextCursor: cursor } = await agents.ann.call('get_prose', { docId, limit: blocks + 1 })
    const { serverVersion } = await agents.ann.call('delete_prose_page', { docId, pageId: added })
    const expired = { code: 'ERR_CURSOR_EXPIRED', message: expect.stringContaining(String(serverVersion)), serverVersion }
    expect(await agents.ann.refused('get_prose', { docId, cursor })).toEqual(expired)
    const reused = { code: 'ERR_REQUEST_ID_REUSED', message: expect.stringContaining('r1'), requestId: 'r1' }
    expect(await agents.ann.refused('insert_block', { ...insert, content: 'y' })).toEqual(reused)
  })
})

/** Facts for programs, which the message for a model omits. */
const SILENT = new Set(['role', 'source', 'deleted', 'toolset', 'rowspan', 'colspan'])

/** Returns the texts and numbers in a fact, without the silent members. */
function scalarsOf(fact: unknown): readonly string[] {
  if (Array.isArray(fact)) return fact.flatMap(scalarsOf)
  if (typeof fact !== 'object') return [String(fact)]
  return Object.entries(fact ?? {}).flatMap(([name, member]) => (SILENT.has(name) ? [] : scalarsOf(member)))
}
