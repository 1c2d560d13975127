import { isRefusal } from '@docrelay/model/edit'
import { runEdit } from '@docrelay/model/edits'
import { readContent } from '@docrelay/model/prose/content'
import { body, prosePage } from '@docrelay/model/testing/builders'
import { describe, expect, it } from 'vitest'
import type { ArgumentsSchema } from '../arguments.ts'
import { instructionsFor } from '../instructions.ts'
import { TOOL_NAMES, TOOL_ROWS } from './all-tools.ts'
import { getSkills } from './get-skills.ts'
import { openSkills, type SkillLibrary } from './skills.ts'
import { SPEC_ROWS } from './testing/spec-rows.ts'
import { INNER_MEMBERS, OPEN_VALUES, SHAPE_MEMBERS, STYLE_MEMBERS } from './testing/words.ts'
import { TOOL_ERRORS } from './tool-errors.ts'

const TOOLS = TOOL_ROWS.map(({ name, inputSchema, results }) => ({
  name,
  inputSchema: inputSchema as unknown as ArgumentsSchema,
  results,
}))
const ARGUMENTS = new Map(TOOLS.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties)]))
const CHOICES = TOOLS.flatMap(({ inputSchema }) =>
  Object.values(inputSchema.properties).flatMap(({ enum: choices = [] }) => choices),
)
const TOOL_VALUES = new Set([...CHOICES, ...OPEN_VALUES])
const ROW = `<tr>${'<td><p>x</p></td>'.repeat(3)}</tr>`
const WITH_TABLE = body({ richTextPages: [prosePage('p', `<table>${ROW}${ROW}</table>`)] })
let minted = 0
const ENVIRONMENT = { nowMs: 0, random: (count: number) => String(++minted).padStart(count, '0') }
const textsOf = (library: SkillLibrary): readonly (readonly [name: string, text: string])[] => [
  ['contract', library.contract],
  ...library.skills.map(({ skill }) => [skill, library.recipe(skill) ?? ''] as const),
]
const LIBRARY = openSkills(TOOL_NAMES)
const TEXTS = textsOf(LIBRARY).map(([name, text]) => ({ name, text }))
const EVERY_TOOL: ReadonlySet<string> = new Set(SPEC_ROWS.map(({ name }) => name))
const bytes = (text: string): number => Buffer.byteLength(text)

/** Returns the content and language of each code example, fenced by three or more backticks. */
function examples(text: string): readonly { readonly language: string; readonly code: string }[] {
  return [...text.matchAll(/^(`{3,})(\w+)\n([\s\S]*?)\n\1$/gm)].map(([, , language = '', code = '']) => ({ language, code }))
}
const prose = (text: string): string => text.replace(/^(`{3,})\w+\n[\s\S]*?\n\1$/gm, '')
const spans = (text: string): readonly string[] => [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

describe('the library of recipes', () => {
  const library = LIBRARY

  it('[SKILL-1] the contract has at most 6,000 bytes and each recipe 4,000', () => {
    expect(bytes(library.contract)).toBeLessThanOrEqual(6_000)
    for (const { skill } of library.skills) expect(bytes(library.recipe(skill) ?? ''), skill).toBeLessThanOrEqual(4_000)
  })

  it.each([
    ['this build', TOOL_NAMES],
    ['a build with every tool', EVERY_TOOL],
  ])(
    '[SKILL-1] a model reads at most 8,000 bytes before its first write: instructions and get_skills of %s',
    async (_, tools) => {
      const { structured } = (await getSkills(() => openSkills(tools)).run({ args: {} } as never)) as {
        readonly structured: object
      }
      expect(structured).toHaveProperty('contentContract', openSkills(tools).contract)
      expect(bytes(instructionsFor(tools)) + bytes(JSON.stringify(structured))).toBeLessThanOrEqual(8_000)
    },
  )

  it('[SKILL-1] each recipe has numbered steps that name tools, and ends with a check', () => {
    for (const { skill } of library.skills) {
      const steps = prose(library.recipe(skill) ?? '').match(/^\d+\. .*$/gm) ?? []
      expect(steps.map((line) => Number.parseInt(line, 10))).toEqual(steps.map((_step, index) => index + 1))
      expect(steps.length, skill).toBeGreaterThanOrEqual(6)
      expect(steps.at(-1)).toMatch(/^\d+\. Check: .*`service_/)
    }
  })

  it('[SKILL-3] the contract has a section for every topic', () => {
    const parts = [...library.contract.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    expect(parts).toEqual([
      ...[
        'Targets',
        'Edits',
        'Answers',
        'Formats',
        'Structure',
        'Math, fields, callouts',
        'Citing',
        'Images and files',
        'Shapes',
      ],
    ])
  })
})

it('[SKILL-4] with every tool built there are the seven recipes with their arguments', () => {
  const { skills } = openSkills(new Set([...TOOL_NAMES, 'generate_diagram']))
  const shown = skills.map(({ skill, arguments: list }) => [skill, ...list.map((a) => (a.required ? `${a.name}*` : a.name))])
  expect(shown).toEqual([
    ['architecture-rfc', 'system*', 'title', 'docId'],
    ['document-codebase-module', 'module*', 'paths', 'docId'],
    ['diagram-from-description', 'description*', 'docId', 'pageId'],
    ['meeting-notes-to-doc', 'notes*', 'title'],
    ['attach-files', 'docId*', 'files'],
    ['edit-tables', 'docId*', 'goal*', 'pageId'],
    ['research-writeup', 'topic*', 'dois', 'docId'],
  ])
})

it('[SKILL-4] in a build without the diagram tool the recipe for diagrams is left out', () => {
  const { skills, recipe } = openSkills(new Set(['get_page', 'connect']))
  expect(skills.map(({ skill }) => skill)).not.toContain('diagram-from-description')
  expect(recipe('diagram-from-description')).toBeNull()
})

it('[AG-96] [MCP-60] no instruction, contract, recipe or description names a tool missing in this build', () => {
  const texts = [
    instructionsFor(TOOL_NAMES),
    JSON.stringify(LIBRARY.skills),
    JSON.stringify(TOOL_ROWS),
    ...TEXTS.map(({ text }) => text),
  ]
  const named = texts.flatMap((text) => [...text.matchAll(/service_([a-z_]+)/g)].map(([, name]) => name ?? ''))
  expect([...new Set(named)].filter((name) => !TOOL_NAMES.has(name))).toEqual([])
  // Names without the prefix count too, except single words such as `connect`, which are also ordinary words.
  const missing = SPEC_ROWS.map((row) => row.name).filter((name) => !TOOL_NAMES.has(name) && name.includes('_'))
  for (const text of texts) for (const name of missing) expect(text).not.toMatch(new RegExp(`\\b${name}\\b`))
})

describe.each(TEXTS)('recipe $name', ({ text }) => {
  const arguments_ = new Set([...ARGUMENTS.values()].flat())
  const members = [...SHAPE_MEMBERS, ...STYLE_MEMBERS, ...INNER_MEMBERS, ...TOOLS.flatMap(({ results }) => results)]
  const facts = Object.values(TOOL_ERRORS).flatMap((error) => error.facts)
  const words = new Set([...arguments_, ...TOOL_VALUES, ...members, ...facts])
  /** Code spans that name no tool or argument: Markdown and HTML signs, URLs, ids, and names in examples. */
  const other =
    /^(- \[x\].*|\$.*\$|POST \/api\/blobs\/\{hash\}|\{hash\}|\{\{name\}\}|\[![A-Z]+\]|blk-…#rcsb|@\d(#\w{4})?|blob:\/\/|data:image\/|colspan|rowspan|data-ref-id|data-locator|<figure>|id#stamp|<div data-gallery>|system|owner|status|relay:\/\/.*|\{"text": "Reader"\})$/

  it('[SKILL-2] the recipe names only existing tools and arguments', () => {
    for (const span of spans(text)) {
      const tool = /^service_(\w+)\(([^)]*)\)$/.exec(span)
      if (tool) {
        const [, name = '', args = ''] = tool
        const known = ARGUMENTS.get(name)
        expect([...TOOL_NAMES], span).toContain(name)
        const given = args.split(', ').filter((part) => part !== '')
        for (const arg of given) expect(known, span).toContain(arg)
        // An agent may copy the call from the text, so the call must have all required arguments.
        const built = TOOLS.find((one) => one.name === name)
        expect(given, span).toEqual(expect.arrayContaining([...(built?.inputSchema.required ?? [])]))
      } else if (span.startsWith('ERR_')) expect(TOOL_ERRORS).toHaveProperty(span)
      else if (!other.test(span)) expect([...words], span).toContain(span)
    }
    expect(prose(text).match(/service_\w+(?!\w*\()/g) ?? []).toEqual([])
    for (const code of prose(text).match(/\bERR_[A-Z_]+/g) ?? []) expect(TOOL_ERRORS).toHaveProperty(code)
  })

  it('[SKILL-2] examples of prose are accepted without fixes', () => {
    const libraries = { fields: undefined, references: undefined, nowMs: 0 }
    for (const { language, code } of examples(text)) {
      if (language !== 'markdown' && language !== 'html') continue
      const content = readContent({ content: code, format: language }, libraries)
      if (isRefusal(content)) throw new Error(content.message)
      expect(content.fixes, code).toEqual([])
    }
  })

  it('[SKILL-2] examples of fields and table operations give the described result without fixes', () => {
    for (const { language, code } of examples(text)) {
      if (language !== 'json') continue
      const args = JSON.parse(code) as Record<string, unknown>
      const edited = args['fields']
        ? runEdit('set_fields', WITH_TABLE, args, ENVIRONMENT)
        : args['op']
          ? runEdit('edit_table', WITH_TABLE, { pageId: 'p', ...args }, ENVIRONMENT)
          : null
      if (edited !== null) expect(edited, code).toMatchObject({ kind: 'edited', fixes: [], warnings: [] })
    }
  })

  it('[SKILL-2] examples of arguments have only known members, and edges refer to existing nodes', () => {
    for (const { language, code } of examples(text)) {
      if (language !== 'json') continue
      const args = JSON.parse(code) as Record<string, unknown>
      for (const [name, value] of Object.entries(args)) {
        expect(arguments_, code).toContain(name)
        if (name === 'op') expect([...TOOL_VALUES]).toContain(value)
      }
      const list = (name: string) => (args[name] ?? []) as readonly Record<string, unknown>[]
      const ids = [...list('nodes'), ...list('shapes')].map(({ id }) => id)
      const shapes = [...list('shapes'), ...(args['patch'] ? [args['patch'] as Record<string, unknown>] : [])]
      for (const node of list('nodes')) expect(['id', 'label', 'kind', 'type']).toEqual(expect.arrayContaining(Object.keys(node)))
      for (const edge of list('edges')) {
        expect(['from', 'to', 'label']).toEqual(expect.arrayContaining(Object.keys(edge)))
        for (const end of [edge['from'], edge['to']]) expect(ids).toContain(end)
      }
      for (const shape of shapes) {
        expect([...SHAPE_MEMBERS]).toEqual(expect.arrayContaining(Object.keys(shape)))
        expect([...STYLE_MEMBERS]).toEqual(expect.arrayContaining(Object.keys((shape['style'] as object | undefined) ?? {})))
        for (const end of ['startShapeId', 'endShapeId']) if (shape[end] !== undefined) expect(ids).toContain(shape[end])
      }
      for (const kind of [...list('nodes'), ...list('shapes')].map(({ kind }) => kind ?? 'rectangle'))
        expect([...TOOL_VALUES]).toContain(kind)
      for (const item of list('items')) expect(item).toMatchObject({ id: expect.any(String), type: expect.any(String) })
    }
  })
})
