import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BEYOND_INTERFACE, withKnownTools } from './named-tools.ts'
import { INTERFACE_TOOLS, TOOL_NAMES, TOOL_ROWS } from './tools/all-tools.ts'

const PACKAGES = join(import.meta.dirname, '../../..')

it('[AG-96] every tool that a message of the sources names is a tool of this build', () => {
  // The file instructions.ts is excluded: a build without a tool leaves out the sentences that name it.
  const files = ['model/src/**/*.ts', 'server/src/mcp/**/*.ts', 'server/src/documents/**/*.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: PACKAGES }).filter((file) => !/\.test\.ts$|\/testing\/|\/instructions\.ts$/.test(file)),
  )
  const named = files.flatMap((file) =>
    [...readFileSync(join(PACKAGES, file), 'utf8').matchAll(/service_([a-z_]+)/g)].map(([, tool]) => [tool ?? '', file] as const),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(([tool]) => !TOOL_NAMES.has(tool))).toEqual([])
})

it('[AG-96] a clause that names a tool which the caller does not have is left out', () => {
  const has = (tool: string) => tool !== 'set_block'
  expect(withKnownTools('it stays; service_set_block changes it', has)).toBe('it stays')
  expect(withKnownTools('It stays; service_set_block changes it.', has)).toBe('It stays.')
  expect(withKnownTools('a; service_set_prose does; b', has)).toBe('a; service_set_prose does; b')
  expect(withKnownTools('service_set_block alone', has)).toBe('service_set_block alone')
})

it('[AG-96] the tools that a request may lack are those beyond the interface', () => {
  const extras = TOOL_ROWS.filter(({ place }) => place > INTERFACE_TOOLS).map(({ name }) => name)
  expect(extras.filter((name) => !BEYOND_INTERFACE.has(name))).toEqual([])
  expect(TOOL_ROWS.filter(({ name, place }) => place <= INTERFACE_TOOLS && BEYOND_INTERFACE.has(name))).toEqual([])
})
