import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments } from '../arguments.ts'
import type { JsonObject, ToolDefinition } from '../tool.ts'
import { allTools, type ToolDeps } from './all-tools.ts'
import type { Hint } from './schema.ts'

/** Nothing is run here, so nothing is behind them. */
const tools = allTools({} as ToolDeps)

const both = (hints: string): readonly Hint[] => hints.split(' ').filter((hint) => hint !== '') as Hint[]

/** Section 2.3: title, toolset, access, and the hints that are yes. */
const TABLE: readonly (readonly [name: string, title: string, toolset: string, access: string, hints: string])[] = [
  ['list_documents', 'List documents', 'read', 'none', 'RO ID'],
  ['get_document', 'Get document', 'read', 'view', 'RO ID'],
  ['get_page', 'Get canvas page', 'read', 'view', 'RO ID'],
  ['get_shape', 'Get shape', 'read', 'view', 'RO ID'],
  ['get_prose', 'Get prose', 'read', 'view', 'RO ID'],
  ['get_outline', 'Get outline', 'read', 'view', 'RO ID'],
  ['list_references', 'List references', 'read', 'view', 'RO ID'],
  ['resolve_doi', 'Resolve DOI', 'read', 'none', 'RO ID OW'],
  ['list_fields', 'List fields', 'read', 'view', 'RO ID'],
  ['get_skills', 'Get skills', 'read', 'none', 'RO ID'],
  ['list_icons', 'List icons', 'read', 'none', 'RO ID'],
  ['list_files', 'List files', 'read', 'view', 'RO ID'],
  ['get_file', 'Get file', 'read', 'view', 'RO ID'],
  ['get_table', 'Get table', 'read', 'view', 'RO ID'],
  ['get_storage', 'Get storage', 'read', 'none', 'RO ID'],
  ['create_document', 'Create document', 'author', 'create', ''],
  ['rename_document', 'Rename document', 'author', 'edit', 'ID'],
  ['add_prose_page', 'Add prose page', 'prose', 'edit', ''],
  ['set_prose', 'Set prose', 'prose', 'edit', 'DE ID'],
  ['insert_block', 'Insert block', 'prose', 'edit', ''],
  ['delete_block', 'Delete block', 'prose', 'edit', 'DE ID'],
  ['move_block', 'Move block', 'prose', 'edit', ''],
  ['rename_prose_page', 'Rename prose page', 'prose', 'edit', 'ID'],
  ['insert_section', 'Insert section', 'structure', 'edit', ''],
  ['restructure_outline', 'Restructure outline', 'structure', 'edit', ''],
  ['edit_table', 'Edit table', 'structure', 'edit', 'DE'],
  ['add_canvas_page', 'Add canvas page', 'diagram', 'edit', ''],
  ['rename_canvas_page', 'Rename canvas page', 'diagram', 'edit', 'ID'],
  ['add_shape', 'Add shape', 'diagram', 'edit', ''],
  ['add_shapes', 'Add shapes', 'diagram', 'edit', ''],
  ['connect', 'Connect shapes', 'diagram', 'edit', ''],
  ['update_shape', 'Update shape', 'diagram', 'edit', 'ID'],
  ['generate_diagram', 'Generate diagram', 'diagram', 'edit', ''],
  ['add_file', 'Add file', 'diagram', 'edit', 'OW'],
  ['delete_shape', 'Delete shape', 'manage', 'edit', 'DE ID'],
  ['delete_prose_page', 'Delete prose page', 'manage', 'edit', 'DE ID'],
  ['delete_canvas_page', 'Delete canvas page', 'manage', 'edit', 'DE ID'],
  ['delete_document', 'Delete document', 'manage', 'owner', 'DE ID'],
  ['reorder_shapes', 'Reorder shapes', 'manage', 'edit', 'ID'],
  ['reorder_prose_pages', 'Reorder prose pages', 'manage', 'edit', 'ID'],
  ['reorder_canvas_page', 'Reorder canvas pages', 'manage', 'edit', 'ID'],
  ['add_reference', 'Add reference', 'citations', 'edit', 'ID OW'],
  ['update_reference', 'Update reference', 'citations', 'edit', 'DE ID'],
  ['delete_reference', 'Delete reference', 'citations', 'edit', 'DE ID'],
  ['set_fields', 'Set fields', 'fields', 'edit', 'ID'],
]

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const shownTo = ({ name, description, inputSchema }: ToolDefinition) => ({ name: `service_${name}`, description, inputSchema })

describe('the definitions', () => {
  it('[TOOL-1] are those of the table, in its order, and nothing else', () => {
    expect(TABLE).toHaveLength(45)
    const rows = new Map(TABLE.map((row) => [row[0], row]))
    const order = TABLE.map(([name]) => name).filter((name) => tools.some((tool) => tool.name === name))
    expect(tools.map(({ name }) => name)).toEqual(order)
    for (const tool of tools) {
      const [, title, toolset, access, hints] = rows.get(tool.name) ?? []
      expect([tool.title, tool.toolset, tool.access], tool.name).toEqual([title, toolset, access])
      expect(tool.bucket, tool.name).toBe(hints?.includes('RO') ? 'read' : 'write')
      const said = both(hints ?? '')
      expect(tool.annotations, tool.name).toEqual({
        readOnlyHint: said.includes('RO'),
        destructiveHint: said.includes('DE'),
        idempotentHint: said.includes('ID'),
        openWorldHint: said.includes('OW'),
      })
    }
  })

  it('[TOOL-2] [TOOL-3] fit into what a model is willing to read', () => {
    const sizes = tools.map((tool) => bytesOf(shownTo(tool)))
    const listed = tools.map((tool) => {
      const { title, outputSchema, annotations } = tool
      return { ...shownTo(tool), title, outputSchema, annotations }
    })
    const [sum, whole] = [sizes.reduce((total, size) => total + size, 0), bytesOf(listed)]
    process.stdout.write(
      `${tools.length} tools: ${sum} of 18000 bytes, as a list ${whole} of 32000; the largest has ${Math.max(...sizes)}\n`,
    )
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_200)
    expect(sum).toBeLessThanOrEqual(18_000)
    expect(whole).toBeLessThanOrEqual(32_000)
    // What is still to come needs the rest.
    const share = tools.length / TABLE.length
    expect(sum).toBeLessThanOrEqual(16_500 * share)
    expect(whole).toBeLessThanOrEqual(32_000 * share)
  })

  it('[TOOL-2] say in two sentences when to use a tool and what comes back', () => {
    for (const { name, description } of tools) expect(description.match(/\.( |$)/g), name).toHaveLength(2)
  })

  it('[TOOL-4] [TOOL-5] have schemas that are closed for arguments and open for results', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false })
    for (const { name, inputSchema, outputSchema, access, bucket } of tools) {
      ajv.compile(inputSchema)
      const accepts = ajv.compile(outputSchema)
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema, name).toMatchObject({ type: 'object', anyOf: [{}, { required: ['code', 'message'] }] })
      expect(outputSchema['additionalProperties'], name).toBeUndefined()
      expect(accepts({ code: 'ERR_INTERNAL', message: 'failed', incident: 'inc-1' }), name).toBe(true)
      const members = Object.keys(inputSchema['properties'] as object)
      const isVersioned = bucket === 'write' && access !== 'create'
      for (const member of ['expectedVersion', 'dryRun']) expect(members.includes(member), name).toBe(isVersioned)
    }
  })
})

/** Values of the wrong and of the right kind, short and with the strange names that JSON allows. */
const someValue = fc.oneof(
  fc.string({ maxLength: 20, unit: 'binary' }),
  fc.constantFrom('markdown', 'before', 'addRow', 'promote', '__proto__', 'constructor'),
  fc.integer({ min: -3, max: 5 }),
  fc.double({ min: -9, max: 9, noNaN: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(
    fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.constant({ name: 'a', value: null }), fc.constant({ nme: 1 })),
    { maxLength: 4 },
  ),
  fc.constant({}),
)

describe('arguments', () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '[TOOL-6] %s takes what its schema says and refuses the rest',
    (_, tool) => {
      const schema = tool.inputSchema as unknown as ArgumentsSchema
      const accepts = new Ajv2020({ strict: false }).compile(tool.inputSchema)
      const known = Object.keys(schema.properties)
      const name = fc.oneof(
        { weight: 12, arbitrary: fc.constantFrom(...known, 'docId') },
        { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
      )
      const someArgs = fc
        .tuple(fc.dictionary(name, someValue, { maxKeys: 6 }), fc.boolean())
        .map(([given, isComplete]) =>
          isComplete
            ? { ...Object.fromEntries((schema.required ?? []).map((member) => [member, rightValue(schema, member)])), ...given }
            : given,
        )
      fc.assert(
        fc.property(someArgs, (args: JsonObject) => {
          const required = new Set(schema.required)
          const given = Object.fromEntries(
            Object.entries(args).filter(([member, value]) => value !== null || required.has(member) || !known.includes(member)),
          )
          const checked = checkArguments(schema, args)
          if (accepts(given)) expect(checked).toEqual({ kind: 'fit', args: given })
          else {
            expect(checked).toMatchObject({
              kind: 'failure',
              code: 'ERR_BAD_ARGUMENT',
              facts: { argument: expect.any(String), expected: expect.any(String) },
            })
            expect(JSON.stringify(checked).length).toBeLessThan(4_000)
          }
        }),
        { seed: 20261121, numRuns: 300 },
      )
    },
  )
})

function rightValue(schema: ArgumentsSchema, member: string): unknown {
  const { type, enum: choices } = schema.properties[member] ?? {}
  if (choices !== undefined) return choices[0]
  return type === 'integer' ? 1 : type === 'array' ? [{ name: 'a' }] : 'x'
}
