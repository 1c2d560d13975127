import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let ann: McpAgent
let viewer: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
  await relay.rest({ sub: 'ann' }).putDocument('doc', {
    name: 'T',
    pages: [{ id: 'c', name: 'Canvas', shapes: [{ id: 's', type: 'rectangle', x: 1, y: 2 }] }],
    richTextPages: [{ id: 'p', name: 'One', order: 0, content: '<h1 id="b">Head</h1><table><tr><td><p>a</p></td></tr></table>' }],
  })
  viewer = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'vic', role: 'viewer' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const LARGE = 'x'.repeat(1_048_577)
const at = { pageId: 'p' }

/** Errors that show in the arguments alone, also for a missing document and a caller without the right to write. */
const FLAWS: readonly (readonly [tool: string, args: Members, code: string, argument?: string])[] = [
  ['get_prose', { id: 'b' }, 'ERR_BAD_ARGUMENT', 'pageId'],
  ['get_prose', { ...at, id: 'b', index: 0 }, 'ERR_BAD_ARGUMENT', 'index'],
  ['get_prose', { cursor: 'x' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['get_page', { ...at, cursor: '1.0.1.abc' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['list_references', { cursor: '?' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['list_files', { cursor: 'x' }, 'ERR_BAD_ARGUMENT', 'cursor'],
  ['get_table', { ...at, tableIndex: 0, anchor: 'a' }, 'ERR_BAD_ARGUMENT', 'tableIndex'],
  ['get_table', { ...at, anchor: ' ' }, 'ERR_ANCHOR_EMPTY'],
  ['add_file', { ...at, fileName: 'a' }, 'ERR_BAD_SOURCE'],
  ['add_file', { ...at, fileName: 'a/b', base64: 'QQ==' }, 'ERR_BAD_FILE_NAME'],
  ['add_file', { ...at, fileName: 'a', base64: 'x' }, 'ERR_BAD_BASE64'],
  ['add_file', { ...at, fileName: 'a', blobRef: 'x' }, 'ERR_BAD_BLOB_REF'],
  ['add_file', { ...at, fileName: 'a', url: 'x' }, 'ERR_BAD_URL'],
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
  ['set_prose', { ...at, content: 'x', anchor: ' ' }, 'ERR_ANCHOR_EMPTY'],
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
    '[MCP-3] an argument error of $tool is reported before document and right are checked: $expected.code, %#',
    async ({ tool, args, expected }) => {
      for (const agent of [ann, viewer]) expect(await agent.refused(tool, { docId: 'never', ...args })).toMatchObject(expected)
    },
  )
})

/** The refusals of the tool rows that show without a document. */
const ROW_FLAWS = TOOL_ROWS.flatMap((row) =>
  Object.entries(row.errors).flatMap(([code, args]) =>
    args !== null && row.bucket === 'write' && row.flaw?.(args) ? [{ name: row.name, code, args }] : [],
  ),
)

describe('errors of the tool rows', () => {
  it.each(ROW_FLAWS)('[MCP-3] $code of $name is reported before document and right are checked', async ({ name, code, args }) => {
    for (const agent of [ann, viewer]) expect(await agent.refused(name, { docId: 'never', ...args })).toMatchObject({ code })
  })
})

interface Schema {
  readonly type?: unknown
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
}

/** Returns a value that a schema accepts. */
function fitting(name: string, { type, enum: choices, items, minItems = 0, properties, required = [] }: Schema): unknown {
  const known: Members = { docId: 'doc', pageId: 'p', id: 'b', dryRun: true }
  if (Object.hasOwn(known, name)) return known[name]
  if (choices !== undefined) return choices[0]
  if (type === 'object') return Object.fromEntries(required.map((each) => [each, fitting(each, properties?.[each] ?? {})]))
  if (type === 'array') return Array.from({ length: minItems }, () => fitting('', items ?? {}))
  return type === 'integer' || type === 'number' ? 1 : type === 'boolean' ? false : 'x'
}

/** Arguments that their tools refuse with codes of their own. */
const JUDGED_BY_TOOL = ['update_reference.item']

const takesText = ({ type, enum: choices }: Schema): boolean => choices === undefined && [type].flat().includes('string')

/** Returns values of every type that a schema does not accept. */
function misfitting(schema: Schema): readonly unknown[] {
  const { type, enum: choices } = schema
  const isNumber = type === 'integer' || type === 'number'
  return [
    ...[{}, { a: 1 }].filter(() => type !== 'object'),
    ...[[], ['x']].filter(() => type !== 'array'),
    // A JSON text of the right type and an empty text are accepted. [AG-93]
    ...(takesText(schema) ? [] : ['x', '__proto__', ...(isNumber ? [] : ['1']), ...(type === 'boolean' ? [] : ['true'])]),
    ...(isNumber ? [] : [0, -1, 1.5]),
    ...(type === 'boolean' ? [] : [true, false]),
    ...(type === 'integer' ? [1.5, -1e-9] : []),
    // Some choices are already in capital letters.
    ...(choices ?? [])
      .slice(0, 1)
      .flatMap((one) => [`${one},${one}`, `${one} `, ...(one === one.toUpperCase() ? [] : [one.toUpperCase()])]),
  ]
}

/** Unusual values for a text argument. */
const STRANGE = ['', ' ', '\u0000', '@0', '@999999999', '__proto__', 'constructor', '../x', '🙂'.repeat(200), 'x'.repeat(300_000)]

/** Returns the code of each call of a tool. Checks every answer against the output schema. */
async function codesOf(tool: string, calls: readonly Members[]): Promise<readonly Members[]> {
  return Promise.all(calls.map(async (args) => (await ann.answer(tool, args)).result))
}

describe('the arguments of every tool', () => {
  it('[TOOL-6] [TOOL-9] [MCP-53] an argument of a wrong type is refused by its name, and unusual texts get a valid answer', async () => {
    const wrong: string[] = []
    for (const { name, inputSchema } of ann.tools) {
      const tool = String(name).slice('service_'.length)
      const { properties = {}, required = [] } = inputSchema as Schema
      // Tools that write run as dry runs.
      const names = [...required, ...(Object.hasOwn(properties, 'dryRun') ? ['dryRun'] : [])]
      const right = Object.fromEntries(names.map((each) => [each, fitting(each, properties[each] ?? {})]))
      for (const [argument, schema] of Object.entries(properties)) {
        const misfits = misfitting(schema).map((value) => ({ ...right, [argument]: value }))
        const missing = required.includes(argument) ? [{ ...right, [argument]: null }] : []
        if (JUDGED_BY_TOOL.includes(`${tool}.${argument}`)) continue
        for (const refused of await codesOf(tool, [...misfits, ...missing]))
          if (refused['code'] !== 'ERR_BAD_ARGUMENT' || !String(refused['argument']).startsWith(argument))
            wrong.push(`${tool}.${argument}: ${JSON.stringify(refused).slice(0, 200)}`)
        if (!takesText(schema)) continue
        for (const result of await codesOf(
          tool,
          STRANGE.map((value) => ({ ...right, [argument]: value })),
        ))
          if (result['code'] === 'ERR_INTERNAL' || JSON.stringify(result).length > 10_000)
            wrong.push(`${tool}.${argument}: ${JSON.stringify(result).slice(0, 200)}`)
      }
      const [unknown] = await codesOf(tool, [{ ...right, ['x'.repeat(10_000)]: 1 }])
      if (unknown?.['code'] !== 'ERR_BAD_ARGUMENT' || JSON.stringify(unknown).length > 3_000) wrong.push(`${tool}: long name`)
    }
    expect(wrong).toEqual([])
    expect(relay.logLines.filter((line) => line.includes('mcp.tool_failed'))).toEqual([])
  })

  it('[TOOL-6] null for an optional argument counts as absent', async () => {
    for (const { name, inputSchema } of ann.tools) {
      const tool = String(name).slice('service_'.length)
      if (tool === 'create_document') continue
      const { properties = {}, required = [] } = inputSchema as Schema
      const dry = Object.hasOwn(properties, 'dryRun') ? { dryRun: true } : {}
      // Without `timeoutSecs` this tool waits half a minute.
      const soon = tool === 'wait_for_change' ? { timeoutSecs: 1 } : {}
      const given = Object.fromEntries(required.map((each) => [each, fitting(each, properties[each] ?? {})]))
      const right = { ...given, ...dry, ...soon }
      const nulls = Object.fromEntries(Object.keys(properties).map((each) => [each, null]))
      const [without, withNull] = await codesOf(tool, [right, { ...nulls, ...right }])
      const comparable = (result: unknown) => JSON.stringify(result).replace(/(blk|page)-[\w-]{10,12}/g, '')
      expect(comparable(withNull), tool).toBe(comparable(without))
    }
  })

  it.each([
    ['{"docId":"never","docId":"doc"}', { id: 'doc' }],
    ['{"docId":"doc","__proto__":{"docId":"x"}}', { code: 'ERR_BAD_ARGUMENT', argument: '__proto__' }],
    ['{"__proto__":{"docId":"doc"}}', { code: 'ERR_BAD_ARGUMENT', argument: '__proto__' }],
    ['{"docId":"doc","constructor":1}', { code: 'ERR_BAD_ARGUMENT', argument: 'constructor' }],
    ['{"docId":{"__proto__":"doc"}}', { code: 'ERR_BAD_ARGUMENT', argument: 'docId' }],
  ])('[TOOL-6] a message with the raw arguments %s is refused', async (args, expected) => {
    const answer = await fetch(relay.mcpUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${relay.token({ sub: 'ann', role: 'member' })}`, 'content-type': 'application/json' },
      body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"service_get_document","arguments":${args}}}`,
    })
    expect(await answer.json()).toMatchObject({ result: { structuredContent: expected } })
  })
})
