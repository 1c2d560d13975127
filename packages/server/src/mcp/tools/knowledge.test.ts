import { describe, expect, it } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { DoiResolver } from '../../citations/doi-resolver.ts'
import { systemClock } from '../../kernel/clock.ts'
import { systemRandom } from '../../kernel/ids.ts'
import { createToolServer } from '../registry.ts'
import type { CallContext, JsonObject } from '../tool.ts'
import { iconCatalogue, openIconCatalogue } from './icon-catalogue.ts'
import { knowledgeTools } from './knowledge.ts'
import { TOOL_NAMES } from './all-tools.ts'
import { openSkills } from './skills.ts'

const dois: DoiResolver = {
  resolve: async (workspaceId, doi) =>
    doi === '10.1000/1'
      ? { kind: 'resolved', doi, reference: { id: doi, workspaceId }, cached: true }
      : { kind: 'refused', code: 'ERR_DOI_NOT_FOUND', message: 'no such DOI.', facts: { doi } },
}
const small = iconCatalogue({ B: 'car big-box', A: 'a1' })
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const context: CallContext = {
  access: {
    sub: 'ann',
    workspaceId: 'w',
    role: 'viewer',
    limits: NO_LIMITS,
  },
  isStatic: false,
  view: { toolsets: null, readonly: true, extra: true },
  clientName: null,
  signal: new AbortController().signal,
  progress: () => undefined,
}

function serverOf(icons = openIconCatalogue()) {
  const tools = knowledgeTools({ icons, skills: () => openSkills(TOOL_NAMES), dois })
  return createToolServer({ tools, clock: systemClock, random: systemRandom, log: silent, metrics: { add: () => undefined } })
}

const server = serverOf()
const call = async (name: string, args: JsonObject = {}, on = server) =>
  (await on.call(`service_${name}`, args, context)) as { structuredContent: Record<string, unknown>; isError: boolean }
const listed = async (args: JsonObject, on = server) => (await call('list_icons', args, on)).structuredContent

describe('list_icons', () => {
  it('[ICON-1] there are at least 500 icons, sorted by id, each with a slug, a name and a category', async () => {
    const { icons, categories } = openIconCatalogue()
    expect(icons.length).toBeGreaterThanOrEqual(500)
    expect(icons.map(({ id }) => id)).toEqual([...new Set(icons.map(({ id }) => id))].sort())
    for (const { id, name, category } of icons) {
      expect(id).toMatch(/^builtin:[a-z0-9]+(-[a-z0-9]+)*$/)
      expect(`builtin:${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`).toBe(id)
      expect(categories).toContain(category)
    }
  })

  it('[ICON-2] [TOOL-list_icons] list_icons counts all matches and returns fifty, with all categories sorted', async () => {
    const all = await listed({})
    const { icons } = openIconCatalogue()
    expect([all['total'], all['returned'], (all['icons'] as unknown[]).length]).toEqual([icons.length, 50, 50])
    const one = await listed({ query: ' BOX ', category: 'B' }, serverOf(small))
    expect(one).toEqual({
      icons: [{ id: 'builtin:big-box', name: 'Big box', category: 'B' }],
      returned: 1,
      total: 1,
      categories: ['A', 'B'],
    })
    expect((await listed({ query: 'g b' }, serverOf(small)))['total']).toBe(1)
    expect((await listed({ query: '   ' }, serverOf(small)))['total']).toBe(3)
    expect((await listed({ category: 'b' }, serverOf(small)))['total']).toBe(0)
  })

  it('[ICON-2] list_icons with a limit outside 1 to 200 uses the nearest bound', async () => {
    for (const [limit, returned] of [
      [-5, 1],
      [0, 1],
      [1, 1],
      [200, 200],
      [1_000_000, 200],
    ] as const)
      expect((await listed({ limit }))['returned']).toBe(returned)
  })

  it('[TOOL-24] [TOOL-25] each page of list_icons continues where the one before ended', async () => {
    const seen: unknown[] = []
    let cursor: string | undefined
    do {
      const page: Record<string, unknown> = await listed({ query: 'account', limit: 37, ...(cursor && { cursor }) })
      seen.push(...(page['icons'] as unknown[]))
      cursor = page['nextCursor'] as string | undefined
    } while (cursor !== undefined)
    expect(seen).toEqual(openIconCatalogue().icons.filter(({ id }) => id.includes('account')))
    expect(await call('list_icons', { cursor: 'x' })).toMatchObject({
      isError: true,
      structuredContent: { code: 'ERR_BAD_ARGUMENT', argument: 'cursor' },
    })
  })
})

describe('get_skills', () => {
  it('[SKILL-1] [TOOL-get_skills] get_skills returns the contract and the catalogue, or one recipe', async () => {
    const { structuredContent } = await call('get_skills')
    expect(Object.keys(structuredContent)).toEqual(['contentContract', 'skills'])
    const { skills } = openSkills(TOOL_NAMES)
    expect(structuredContent['skills']).toMatchObject(skills.map(({ skill, title, whenToUse }) => ({ skill, title, whenToUse })))
    const listed = structuredContent['skills'] as typeof skills
    expect(listed.find(({ skill }) => skill === 'edit-tables')?.arguments).toEqual([
      ...[{ name: 'docId', required: true }, { name: 'goal', required: true }, { name: 'pageId' }],
    ])
    const recipe = (await call('get_skills', { skill: 'edit-tables' })).structuredContent
    expect(recipe).toEqual({ skill: 'edit-tables', content: expect.stringMatching(/^# Edit a table\n/) })
  })

  it('[SKILL-1] an unknown recipe name is refused with the known names', async () => {
    expect(await call('get_skills', { skill: 'contract' })).toMatchObject({
      isError: true,
      structuredContent: {
        code: 'ERR_SKILL_NOT_FOUND',
        skill: 'contract',
        known: openSkills(TOOL_NAMES).skills.map(({ skill }) => skill),
      },
    })
  })
})

it('[TOOL-14] text quoted in a refusal is cut between characters', async () => {
  const long = `x${'😀'.repeat(200)}`
  for (const [name, args] of [
    ['get_skills', { skill: long }],
    ['get_skills', { [long]: 1 }],
    ['get_skills', { skill: 'x', [long]: 1 }],
    ['list_icons', { cursor: long }],
    ['list_icons', { limit: long }],
  ] as const) {
    const { structuredContent } = await call(name, args)
    const text = JSON.stringify(structuredContent)
    expect(text).toContain('😀')
    expect(text, name).not.toMatch(/\\ud[89a-f]/)
    expect(text.length, name).toBeLessThan(1_500)
  }
})

it('[TOOL-resolve_doi] resolve_doi returns the reference of the resolver, or its refusal', async () => {
  const found = await call('resolve_doi', { doi: '10.1000/1' })
  expect(found.structuredContent).toEqual({ reference: { id: '10.1000/1', workspaceId: 'w' }, doi: '10.1000/1', cached: true })
  expect(await call('resolve_doi', { doi: '10.1000/2' })).toMatchObject({
    isError: true,
    structuredContent: { code: 'ERR_DOI_NOT_FOUND', doi: '10.1000/2' },
  })
  expect(await call('resolve_doi', { doi: '1'.repeat(301) })).toMatchObject({ structuredContent: { code: 'ERR_BAD_ARGUMENT' } })
})
