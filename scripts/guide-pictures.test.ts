import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type ArgumentsSchema, checkArguments } from '../packages/server/src/mcp/arguments.ts'
import { TOOL_ROWS } from '../packages/server/src/mcp/tools/all-tools.ts'
import { guidePictures } from './guide-pictures.ts'

const ROOT = join(import.meta.dirname, '..')
const pages = ['README.md', 'docs/agents-guide.md'].map((page) => readFileSync(join(ROOT, page), 'utf8')).join('')
const pictures = guidePictures()

it('[AG-109] [DIAG-4] every picture of the guides is what its call draws now; npm run pictures draws them anew', () => {
  expect(pictures.length).toBeGreaterThan(2)
  for (const { file, png } of pictures) expect(Buffer.compare(readFileSync(join(ROOT, 'docs/pictures', file)), png), file).toBe(0)
})

it('[TOOL-6] a guide shows every picture beside the call that draws it, which the tool takes', () => {
  const schema = TOOL_ROWS.find(({ name }) => name === 'generate_diagram')?.inputSchema as unknown as ArgumentsSchema
  for (const { file } of pictures) {
    const call = file.replace(/png$/, 'json')
    for (const name of [file, call]) expect(pages).toMatch(new RegExp(`\\]\\((docs/)?pictures/${name}\\)`))
    const { name, arguments: args } = JSON.parse(readFileSync(join(ROOT, 'docs/pictures', call), 'utf8')) as {
      readonly name: string
      readonly arguments: object
    }
    expect(name).toBe('service_generate_diagram')
    expect(checkArguments(schema, { ...args }), call).toMatchObject({ kind: 'fit' })
  }
})
