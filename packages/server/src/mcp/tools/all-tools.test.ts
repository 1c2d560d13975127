import { anyCharacter } from '@docrelay/model/testing/any-character'
import { gzipSync } from 'node:zlib'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments } from '../arguments.ts'
import type { JsonObject, ToolDefinition } from '../tool.ts'
import { INTERFACE_TOOLS, TOOL_ROWS } from './all-tools.ts'
import { SPEC_ROWS } from './testing/spec-rows.ts'

const tools = TOOL_ROWS

/** Result members of every write, and the argument `brief` of writes whose answer can be shortened. [AG-29, AG-30, AG-43] */
const OF_WRITES = ['changed', 'callId', 'removed', 'brief']

/** The arguments of operations on a table. */
const TABLE_7 = 'row col side fromRow fromCol toRow toCol backgroundColor align scope from to width'

/** Arguments that decide what a write replaces or removes. */
const DECIDES = new Set(
  'id untilId content replace expectedVersion find all occurrence withSubsections outside at index steps'.split(' '),
)

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
const shownTo = ({ name, description, inputSchema }: ToolDefinition) => ({ name: `service_${name}`, description, inputSchema })

describe('tool definitions', () => {
  it('[TOOL-1] [TOOL-27] the tools are exactly those of the specification, in its order', () => {
    expect(SPEC_ROWS).toHaveLength(52)
    for (const { name, title, toolset, access, bucket, annotations, place } of tools) {
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations
      const hints = [readOnlyHint, destructiveHint, idempotentHint, openWorldHint]
      expect(SPEC_ROWS[place - 1]).toMatchObject({ name, title, toolset, access, hints })
      expect(bucket, name).toBe(readOnlyHint ? 'read' : 'write')
    }
  })

  it('[TOOL-29] every tool has exactly the arguments and results of the specification', () => {
    for (const { name, place, inputSchema, results } of tools) {
      const said = SPEC_ROWS[place - 1]
      const args = `${said?.arguments ?? ''}${name === 'edit_table' ? ` ${TABLE_7}` : ''}`
      const { properties, required = [] } = inputSchema as unknown as ArgumentsSchema
      const isIn = (cell: string) => (member: string) => OF_WRITES.includes(member) || new RegExp(`\\b${member}\\b`).test(cell)
      const isRequired = (member: string) =>
        new RegExp(`\\b${member}(?![\\w?])`).test(said?.arguments.replace(/exactly one of [^;]*|\(with [^)]*\)/g, '') ?? '')
      expect(Object.keys(properties).filter((member) => !isIn(args)(member))).toEqual([])
      expect(Object.keys(properties).filter((member) => isRequired(member) && !required.includes(member))).toEqual([])
      expect(results.filter((member) => !isIn(said?.result ?? '')(member))).toEqual([])
    }
  })

  it('[AG-90] each argument that decides what a call destroys has a description, as do sixty arguments in all', () => {
    const argumentsOf = (schema: JsonObject): readonly (readonly [string, JsonObject])[] =>
      Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>).flatMap(([name, member]) => [
        [name, member] as const,
        ...argumentsOf((member['items'] ?? member) as JsonObject),
      ])
    const all = tools.flatMap((tool) =>
      argumentsOf(tool.inputSchema).map(([name, { description }]) => ({
        tool: tool.name,
        bucket: tool.bucket,
        name,
        description,
      })),
    )
    const silent = all.filter(
      ({ bucket, name, description }) => bucket === 'write' && DECIDES.has(name) && description === undefined,
    )
    expect(silent).toEqual([])
    expect(new Set(all.filter(({ description }) => description !== undefined).map(({ name }) => name))).toEqual(DECIDES)
    expect(all.filter(({ description }) => description !== undefined).length).toBeGreaterThanOrEqual(60)
  })

  it('[AG-90] [TOOL-2] [TOOL-3] the tool list stays within its size budget', () => {
    const sizes = tools.map((tool) => bytesOf(shownTo(tool)))
    const listed = tools.map((tool) => {
      const { title, outputSchema, annotations } = tool
      return { ...shownTo(tool), title, outputSchema, annotations }
    })
    const sum = sizes.reduce((total, size) => total + size, 0)
    const ofInterface = sizes.slice(0, INTERFACE_TOOLS).reduce((total, size) => total + size, 0)
    const [whole, packed] = [bytesOf(listed), gzipSync(JSON.stringify(listed)).length]
    process.stdout.write(
      `${tools.length} tools: ${sum} of 24000 bytes, ${ofInterface} of 21000 without those beyond the interface; as a list ${whole} of 110000, ${packed} of 14000 after gzip; the largest has ${Math.max(...sizes)}\n`,
    )
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1_400)
    expect(sum).toBeLessThanOrEqual(24_000)
    expect(ofInterface).toBeLessThanOrEqual(21_000)
    expect(whole).toBeLessThanOrEqual(110_000)
    expect(packed).toBeLessThanOrEqual(14_000)
  })

  it('[TOOL-4] [LIM-8] the schema of generate_diagram states the limits of nodes and edges', () => {
    const tool = tools.find(({ name }) => name.endsWith('generate_diagram'))
    expect(tool?.inputSchema).toMatchObject({
      properties: { nodes: { minItems: 1, maxItems: 500 }, edges: { maxItems: 1000 } },
    })
  })

  it('[TOOL-2] each tool description says in two sentences when to use the tool and what it returns', () => {
    for (const { name, description } of tools) expect(description.match(/\.( |$)/g), name).toHaveLength(2)
  })

  it('[AG-92] argument schemas are flat: one type for each value, and no keyword that clients read differently', () => {
    const flaws: string[] = []
    const look = (schema: JsonObject, path: string) => {
      for (const word of ['$ref', '$defs', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'const', 'patternProperties'])
        if (Object.hasOwn(schema, word)) flaws.push(`${path} has ${word}`)
      if (typeof schema['type'] !== 'string') flaws.push(`${path} has no type of its own`)
      if (schema['type'] === 'array' && schema['items'] === undefined) flaws.push(`${path} does not say what its items are`)
      if (schema['items'] !== undefined) look(schema['items'] as JsonObject, `${path}[]`)
      for (const [name, member] of Object.entries((schema['properties'] ?? {}) as JsonObject))
        look(member as JsonObject, `${path}.${name}`)
    }
    for (const tool of tools) {
      look(JSON.parse(JSON.stringify(tool.inputSchema)) as JsonObject, tool.name)
      expect(`mcp__docrelay__service_${tool.name}`.length).toBeLessThanOrEqual(60)
    }
    expect(flaws).toEqual([])
  })

  it('[TOOL-4] [TOOL-5] argument schemas are closed and result schemas are open', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allowUnionTypes: true })
    for (const { name, inputSchema, outputSchema, access, bucket } of tools) {
      ajv.compile(inputSchema)
      const accepts = ajv.compile(outputSchema)
      expect(inputSchema, name).toMatchObject({ type: 'object', additionalProperties: false })
      expect(outputSchema, name).toMatchObject({ type: 'object', anyOf: [{}, { required: ['code', 'message'] }] })
      expect(outputSchema['additionalProperties'], name).toBeUndefined()
      expect(accepts({ code: 'ERR_INTERNAL', message: 'failed', incident: 'inc-1' }), name).toBe(true)
      const members = Object.keys(inputSchema['properties'] as object)
      expect(members.includes('expectedVersion'), name).toBe(bucket === 'write' && access !== 'create')
      expect(members.includes('dryRun'), name).toBe(bucket === 'write')
    }
  })
})

/** Values of right and wrong types, including member names that are unusual but valid in JSON. */
const someValue = fc.oneof(
  fc.string({ maxLength: 20, unit: anyCharacter }),
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

describe('arguments of a tool', () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))(
    '[TOOL-6] %s accepts arguments of its schema and refuses others',
    (_, tool) => {
      const schema = tool.inputSchema as unknown as ArgumentsSchema
      const accepts = new Ajv2020({ strict: false }).compile(tool.inputSchema)
      // The tool checks values of `item` itself, so they are left out here.
      const known = Object.keys(schema.properties).filter((member) => member !== 'item')
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
          if (checked.kind === 'fit') {
            // Accepted arguments match the listed schema, except for `null` in a field and for values that a fix repaired.
            expect(accepts(checked.args) || JSON.stringify(args).includes('"value":null')).toBe(true)
            if (accepts(given) && checked.fixes.length === 0) expect(checked.args).toEqual(given)
            else expect(checked.fixes.length > 0 || JSON.stringify(args).includes('"value":null')).toBe(true)
          } else {
            expect(accepts(given)).toBe(false)
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
  return type === 'integer' ? 1 : type === 'object' ? {} : type === 'array' ? [{ name: 'a' }] : 'x'
}
