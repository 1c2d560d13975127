import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, startRelayUnderTest } from '../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

let relay: RelayUnderTest
let ann: McpAgent
let viewer: McpAgent

beforeAll(async () => {
  relay = await startRelayUnderTest({ mcp: 'local', env: { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0' } })
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
  viewer = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'vic', role: 'viewer' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const LARGE = 'x'.repeat(1_048_577)
const at = { pageId: 'p' }

/** What shows in the arguments themselves, on a document that is not there and to callers who may not write. */
const FLAWS: readonly (readonly [tool: string, args: Members, code: string, argument?: string])[] = [
  ['get_prose', { id: 'b' }, 'ERR_BAD_ARGUMENT', 'pageId'],
  ['get_prose', { ...at, id: 'b', index: 0 }, 'ERR_BAD_ARGUMENT', 'index'],
  ['get_prose', { cursor: 'x' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['get_page', { ...at, cursor: '1.0.1.abc' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['list_references', { cursor: '' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['list_files', { cursor: 'x' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['get_table', { ...at, tableIndex: 0, anchor: 'a' }, 'ERR_BAD_ARGUMENT', 'tableIndex'],
  ['get_table', { ...at, anchor: ' ' }, 'ERR_ANCHOR_EMPTY'],
  ['get_file', {}, 'ERR_BAD_ARGUMENT', 'id'],
  ['get_file', { hash: 'x' }, 'ERR_BAD_BLOB_REF'],
  ['rename_document', { name: ' ' }, 'ERR_BAD_ARGUMENT', 'name'],
  ['add_prose_page', { name: '\u0000' }, 'ERR_BAD_ARGUMENT', 'name'],
  ['add_prose_page', { content: LARGE }, 'ERR_PROSE_TOO_LARGE'],
  ['rename_prose_page', { ...at, name: '' }, 'ERR_BAD_ARGUMENT', 'name'],
  ['set_prose', { ...at, content: LARGE }, 'ERR_PROSE_TOO_LARGE'],
  ['set_prose', { ...at, content: 'x', untilId: 'b' }, 'ERR_BAD_ARGUMENT', 'id'],
  ['set_prose', { ...at, content: 'x', id: '@0' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['set_prose', { ...at, content: 'x', id: 'b', untilId: '@0' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['set_prose', { ...at, content: 'x', anchor: '' }, 'ERR_ANCHOR_EMPTY'],
  ['insert_block', { ...at, content: 'x' }, 'ERR_TARGET_MISSING'],
  ['insert_block', { ...at, content: LARGE, id: 'b' }, 'ERR_PROSE_TOO_LARGE'],
  ['insert_block', { ...at, content: 'x', id: '@1' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['delete_block', at, 'ERR_TARGET_MISSING'],
  ['delete_block', { ...at, id: '@1' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['move_block', { ...at, id: 'b' }, 'ERR_TARGET_MISSING'],
  ['move_block', { ...at, id: 'b', targetAnchor: '\t' }, 'ERR_ANCHOR_EMPTY'],
  ['move_block', { ...at, id: 'b', targetId: '@1' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['insert_section', { ...at, level: 1, title: ' ' }, 'ERR_BAD_ARGUMENT', 'title'],
  ['insert_section', { ...at, level: 1, title: 't', body: LARGE }, 'ERR_PROSE_TOO_LARGE'],
  ['restructure_outline', { ...at, op: 'move', index: 0 }, 'ERR_BAD_ARGUMENT', 'toIndex'],
  ['edit_table', { ...at, op: 'addRow' }, 'ERR_BAD_ARGUMENT', 'row'],
  ['edit_table', { ...at, op: 'addRow', row: 0, col: 0 }, 'ERR_BAD_ARGUMENT', 'col'],
  ['edit_table', { ...at, op: 'toggleHeaderRow', tableIndex: 0, id: 'b' }, 'ERR_BAD_ARGUMENT', 'tableIndex'],
  ['edit_table', { ...at, op: 'toggleHeaderRow', id: '@0' }, 'ERR_BAD_ARGUMENT', 'expectedVersion'],
  ['edit_table', { ...at, op: 'setCellAttrs', row: 0, col: 0 }, 'ERR_CELL_ATTR'],
  ['edit_table', { ...at, op: 'setCellAttrs', row: 0, col: 0, align: 'middle' }, 'ERR_CELL_ATTR'],
  ['set_fields', { fields: [{ name: 'a{b' }] }, 'ERR_BAD_FIELD_NAME'],
  ['set_fields', { fields: [{ name: 'a', value: 'x'.repeat(65_537) }] }, 'ERR_BAD_ARGUMENT', 'fields[0].value'],
]

describe('the order of checks', () => {
  it.each(FLAWS.map(([tool, args, code, argument]) => ({ tool, args, expected: { code, ...(argument && { argument }) } })))(
    '[MCP-3] what shows in the arguments of $tool comes before the document and the right: $expected.code, %#',
    async ({ tool, args, expected }) => {
      for (const agent of [ann, viewer]) expect(await agent.refused(tool, { docId: 'never', ...args })).toMatchObject(expected)
    },
  )
})
