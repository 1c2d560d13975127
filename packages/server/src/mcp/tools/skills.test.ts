import { isRefusal } from '@docrelay/model/edit'
import { readContent } from '@docrelay/model/prose/content'
import { describe, expect, it } from 'vitest'
import { openSkills, SKILLS } from './skills.ts'
import { RESULT_MEMBERS, SHAPE_MEMBERS, STYLE_MEMBERS, TOOL_ARGUMENTS, TOOL_CODES, TOOL_VALUES } from './testing/tool-table.ts'

const library = openSkills()
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['contract', library.contract],
  ...SKILLS.map(({ skill }) => [skill, library.recipe(skill) ?? ''] as const),
]
const bytes = (text: string): number => Buffer.byteLength(text)

/** What stands in fences of three or more backticks, with its language. */
function examples(text: string): readonly { readonly language: string; readonly code: string }[] {
  return [...text.matchAll(/^(`{3,})(\w+)\n([\s\S]*?)\n\1$/gm)].map(([, , language = '', code = '']) => ({ language, code }))
}
const prose = (text: string): string => text.replace(/^(`{3,})\w+\n[\s\S]*?\n\1$/gm, '')
const spans = (text: string): readonly string[] => [...prose(text).matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)

it('[SKILL-1] the contract has at most 6,000 bytes and a recipe 4,000', () => {
  expect(bytes(library.contract)).toBeLessThanOrEqual(6_000)
  for (const { skill } of SKILLS) expect(bytes(library.recipe(skill) ?? '')).toBeLessThanOrEqual(4_000)
})

it('[SKILL-1] recipes are numbered steps that name tools, and end with a check', () => {
  for (const { skill } of SKILLS) {
    const steps =
      (library.recipe(skill) ?? '').match(/^\d+\. .*$/gm)?.filter((line) => !/^\d+\. (Ship|Keep the old)/.test(line)) ?? []
    expect(steps.map((line) => Number.parseInt(line, 10))).toEqual(steps.map((_, index) => index + 1))
    expect(steps.length).toBeGreaterThanOrEqual(6)
    expect(steps.at(-1)).toMatch(/^\d+\. Check: .*`service_|^\d+\. Check: read the page/)
  }
})

it('[SKILL-3] the contract has a part for every topic', () => {
  const parts = [...library.contract.matchAll(/^## (.*)$/gm)].map(([, title]) => title)
  expect(parts).toEqual([
    ...['Formats', 'Structure', 'Math, fields, callouts', 'Citing', 'Images and files', 'Targets', 'Shapes', 'Answers'],
  ])
})

it('[SKILL-4] the seven recipes with their arguments', () => {
  const shown = SKILLS.map(({ skill, arguments: list }) => [skill, ...list.map((a) => (a.required ? `${a.name}*` : a.name))])
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

it('[SKILL-2] the table of tools has all of them', () => expect(Object.keys(TOOL_ARGUMENTS)).toHaveLength(45))

describe.each(TEXTS)('%s', (_, text) => {
  const arguments_ = new Set(Object.values(TOOL_ARGUMENTS).flat())
  const words = new Set([...arguments_, ...TOOL_VALUES, ...SHAPE_MEMBERS, ...STYLE_MEMBERS, ...RESULT_MEMBERS])
  /** What is no word of the tools: Markdown and HTML signs, URLs, ids, and names within examples. */
  const other =
    /^(\$.*\$|\{\{name\}\}|\[![A-Z]+\]|blk-…|@\d|blob:\/\/|data:image\/|colspan|rowspan|data-ref-id|data-locator|system|owner|status|relay:\/\/.*|\{"text": "Reader"\})$/

  it('[SKILL-2] names only what there is', () => {
    for (const span of spans(text)) {
      const tool = /^service_(\w+)\(([^)]*)\)$/.exec(span)
      if (tool) {
        const [, name = '', args = ''] = tool
        const known = TOOL_ARGUMENTS[name]
        expect(known, span).toBeDefined()
        for (const arg of args.split(', ').filter((part) => part !== '')) expect(known, span).toContain(arg)
      } else if (span.startsWith('ERR_')) expect(TOOL_CODES).toContain(span)
      else if (!other.test(span)) expect([...words], span).toContain(span)
    }
    expect(prose(text).match(/service_\w+(?!\w*\()/g) ?? []).toEqual([])
    for (const code of prose(text).match(/\bERR_[A-Z_]+/g) ?? []) expect(TOOL_CODES).toContain(code)
  })

  it('[SKILL-2] examples of prose are taken without fixes', () => {
    const libraries = { fields: undefined, references: undefined, nowMs: 0 }
    for (const { language, code } of examples(text)) {
      if (language !== 'markdown' && language !== 'html') continue
      const content = readContent({ content: code, format: language }, libraries)
      if (isRefusal(content)) throw new Error(content.message)
      expect(content.fixes, code).toEqual([])
    }
  })

  it('[SKILL-2] examples of arguments have known members, and edges that meet nodes', () => {
    for (const { language, code } of examples(text)) {
      if (language !== 'json') continue
      const args = JSON.parse(code) as Record<string, unknown>
      for (const [name, value] of Object.entries(args)) {
        expect(arguments_, code).toContain(name)
        if (name === 'op') expect(TOOL_VALUES).toContain(value)
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
        expect(TOOL_VALUES).toContain(kind)
      for (const item of list('items')) expect(item).toMatchObject({ id: expect.any(String), type: expect.any(String) })
    }
  })
})
