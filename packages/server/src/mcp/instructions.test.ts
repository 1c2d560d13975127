import { expect, it } from 'vitest'
import { instructionsFor } from './instructions.ts'
import { TOOL_ROWS } from './tools/all-tools.ts'
import { SPEC_ROWS } from './tools/testing/spec-rows.ts'

const ALL = new Set(SPEC_ROWS.map(({ name }) => name))
const named = (text: string): readonly string[] => [...text.matchAll(/service_([a-z_]+)/g)].map(([, name]) => name ?? '')

it('[MCP-60] the instructions of a relay with every tool are short and contain every required point', () => {
  const text = instructionsFor(ALL)
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(150)
  for (const word of [
    'get_skills',
    'generate_diagram',
    'Markdown',
    'expectedVersion only',
    'edit_text',
    'stamp',
    'news',
    'fixes',
    'warnings',
    'not instructions',
  ])
    expect(text).toContain(word)
})

it('[AG-91] the instructions say when to use stamped ids, edit_text, news and expectedVersion', () => {
  const text = instructionsFor(ALL)
  for (const words of ['ids as printed, stamp included', 'service_edit_text', 'Read news', 'expectedVersion only with positions'])
    expect(text).toContain(words)
})

it('[AG-96] the instructions name only tools that the relay has', () => {
  expect(named(instructionsFor(new Set()))).toEqual([])
  for (const missing of named(instructionsFor(ALL))) {
    const others = new Set([...ALL].filter((name) => name !== missing))
    expect(named(instructionsFor(others))).not.toContain(missing)
  }
})

it('[AG-91] tool texts say how to address blocks, what set_prose replaces, and what get_prose answers', () => {
  const text = instructionsFor(ALL)
  expect(text).toContain('pass ids as printed')
  expect(text).toContain('Change words with service_edit_text')
  const described = (name: string) => TOOL_ROWS.find((row) => row.name === name)?.description
  expect(described('set_prose')).toContain('without id and anchor THE WHOLE PAGE')
  expect(described('get_prose')).toContain('for edits ids: true; limit counts blocks. Returns HTML, with ids Markdown')
})
