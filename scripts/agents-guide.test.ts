import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments } from '../packages/server/src/mcp/arguments.ts'
import { TOOLSETS } from '../packages/server/src/mcp/tool.ts'
import { TOOL_ROWS } from '../packages/server/src/mcp/tools/all-tools.ts'
import { TOOL_ERRORS } from '../packages/server/src/mcp/tools/tool-errors.ts'

const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'agents-guide.md'), 'utf8')
const tools = new Map(TOOL_ROWS.map((tool) => [`service_${tool.name}`, tool]))

it('[TOOL-6] every call in the guide has arguments that its tool accepts', () => {
  const calls = [...page.matchAll(/^\{"name": .*$/gm)].map(([line]) => JSON.parse(line) as { name: string; arguments: object })
  expect(calls.length).toBeGreaterThan(5)
  for (const { name, arguments: args } of calls) {
    const schema = tools.get(name)?.inputSchema as unknown as ArgumentsSchema
    expect(checkArguments(schema, { ...args }), name).toMatchObject({ kind: 'fit' })
  }
})

it('[TOOL-9] [TOOL-10] the guide names only existing tools, codes and toolsets', () => {
  const named = [...page.matchAll(/service_\w+/g)].map(([name]) => name)
  expect(named.filter((name) => !tools.has(name))).toEqual([])
  const codes = [...page.matchAll(/ERR_\w+/g)].map(([code]) => code)
  expect(codes.filter((code) => !Object.hasOwn(TOOL_ERRORS, code))).toEqual([])
  const present = TOOLSETS.filter((name) => [...tools.values()].some(({ toolset }) => toolset === name))
  const told = `Tools come in sets: ${present.map((name) => `\`${name}\``).join(', ')}.`
  expect(page.replaceAll(/\s+/g, ' ')).toContain(told)
})
