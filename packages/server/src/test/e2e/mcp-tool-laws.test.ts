import { anyCharacter } from '@docrelay/model/testing/any-character'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { comparable, failureFlaw } from '../mcp-answers.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

type Members = Readonly<Record<string, unknown>>

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const content = (name: string) => ({
  name,
  pages: [{ id: 'canvas', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 1, y: 2 }] }],
  richTextPages: [
    {
      id: 'one',
      name: 'One',
      order: 0,
      content:
        '<h1 id="blk-head">Head</h1><p id="blk-p">Text <strong>bold</strong></p><ul><li><p id="blk-i">Item</p></li></ul>' +
        '<table><tr><td><p>a</p></td><td><p>b</p></td></tr></table><p>{{client}}</p>',
    },
    { id: 'two', name: 'Two', order: 1, content: '<p id="blk-other">Other</p>' },
  ],
  fields: { fields: { client: { name: 'client', value: 'Ada' } }, order: ['client'] },
})

/** Puts the document, and opens it when it is to be live. */
async function opened(docId: string, isLive: boolean): Promise<Disposable> {
  await relay.rest({ sub: 'ann' }).putDocument(docId, content('T'))
  if (!isLive) return { [Symbol.dispose]() {} }
  const person = relay.sync(docId, { sub: 'ann', role: 'member' })
  await saved(person)
  return { [Symbol.dispose]: () => person.destroy() }
}

const at = { pageId: 'one' }
/** A sequence of calls, whose last results depend on all earlier ones. */
const STORY: readonly (readonly [tool: string, args: Members])[] = [
  ['set_prose', { ...at, id: 'blk-p', content: 'New *text* with <mark>marks</mark><blink>no</blink>' }],
  ['insert_block', { ...at, content: '- a\n- b', anchor: 'Item', side: 'before' }],
  ['move_block', { ...at, id: 'blk-i', targetAnchor: 'a', side: 'after' }],
  ['edit_table', { ...at, op: 'addColumn', col: 1 }],
  ['edit_table', { ...at, op: 'mergeCells', fromRow: 0, fromCol: 0, toRow: 0, toCol: 1 }],
  ['edit_table', { ...at, op: 'deleteRow', row: 0 }],
  ['insert_section', { ...at, level: 9, title: 'Section', body: 'Body of it.' }],
  ['restructure_outline', { ...at, op: 'move', index: 1, toIndex: 0 }],
  ['restructure_outline', { ...at, op: 'demote', index: 0 }],
  ['restructure_outline', { ...at, op: 'move', index: 7, toIndex: 0 }],
  ['set_fields', { fields: [{ name: 'client', value: 'Bob' }, { name: 'new' }] }],
  ['set_fields', { fields: [{ name: 'b{d', value: '' }] }],
  ['delete_block', { ...at, anchor: 'Body of it.' }],
  ['delete_block', { ...at, anchor: 'Body of it.' }],
  ['add_prose_page', { content: '# More\n\n{{client}}' }],
  ['rename_prose_page', { pageId: 'two', name: 'Zwei' }],
  ['reorder_prose_pages', { order: ['one'] }],
  ['delete_prose_page', { pageId: 'two' }],
  ['rename_document', { name: ' Renamed ' }],
  ['set_prose', { pageId: 'one', content: 'All of it.', format: 'html', dryRun: true }],
  ['get_prose', {}],
  ['get_outline', at],
  ['list_fields', {}],
  ['get_document', {}],
]

describe('laws of all tools', () => {
  it('[CONC-1] [CONC-2] the same calls on a cold and on a live document give the same content and the same answers', async () => {
    const tell = async (docId: string, isLive: boolean) => {
      using _open = await opened(docId, isLive)
      const told = []
      for (const [tool, args] of STORY) {
        const { result, isError } = await ann.answer(tool, { docId, ...args })
        told.push([tool, isError, result])
      }
      return told
    }
    const [cold, live] = [await tell('cold-story', false), await tell('live-story', true)]
    for (const i of STORY.keys()) expect(comparable(live[i], 'live-story')).toBe(comparable(cold[i], 'cold-story'))
    // Six of the calls name something that does not exist.
    expect(cold.filter(([, isError]) => isError === true).length).toBeGreaterThanOrEqual(4)
  })

  it.each([false, true])(
    '[CONC-3] [CONC-5] [CONC-8] agents that write at the same time all keep their words (live: %s)',
    async (isLive) => {
      const docId = `crowd-${isLive}`
      using _open = await opened(docId, isLive)
      const bea = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'bea', role: 'owner' }))
      const words = Array.from({ length: 12 }, (_, i) => `word-${i}`)
      const written = await Promise.all(
        words.map((word, i) =>
          (i % 2 === 0 ? ann : bea).call('insert_block', { docId, pageId: 'one', content: word, id: 'blk-p' }),
        ),
      )
      const versions = written.map(({ serverVersion }) => Number(serverVersion)).sort((a, b) => a - b)
      expect(new Set(versions).size).toBe(words.length)
      const { page, serverVersion } = await ann.call('get_prose', { docId, pageId: 'one' })
      expect(serverVersion).toBe(versions.at(-1))
      for (const word of words) expect((page as Members)['content']).toContain(word)
    },
  )

  it('[TOOL-5] [TOOL-6] [TOOL-9] every tool answers any arguments with a result of its schema or a code of the table', async () => {
    const open = [await opened('fuzz-cold', false), await opened('fuzz-live', true)]
    const codes = new Set<string>()
    for (const tool of ann.tools) {
      const name = String(tool['name']).slice('service_'.length)
      // A deleted document would make all later calls fail alike.
      const keep = name === 'delete_document' ? { dryRun: true } : name === 'wait_for_change' ? { timeoutSecs: 1 } : {}
      // Each call of this tool waits, so there are fewer of them.
      const numRuns = name === 'wait_for_change' ? 5 : 25
      for (const args of fc.sample(argsOf(tool['inputSchema'] as Members), { seed: 7, numRuns })) {
        const { result, isError } = await ann.answer(name, { ...args, ...keep })
        if (!isError) continue
        codes.add(String(result.code))
        expect(failureFlaw(name, result), JSON.stringify(result)).toBeNull()
      }
    }
    for (const one of open) one[Symbol.dispose]()
    expect([...codes]).not.toContain('ERR_INTERNAL')
    expect(codes.size).toBeGreaterThan(8)
    expect(relay.logLines.filter((line) => line.includes('mcp.tool_failed'))).toEqual([])
  })
})

const WORDS = [
  'fuzz-cold',
  'fuzz-live',
  'one',
  'two',
  'canvas',
  's1',
  'blk-p',
  'blk-i',
  'blk-head',
  '@0',
  '@9',
  'Item',
  'Head',
  '# H\n\n- x',
  '<td>x',
  '',
]
const text = fc.oneof(fc.constantFrom(...WORDS), fc.string({ maxLength: 12, unit: anyCharacter }))

/** Generates arguments that mostly fit a schema. */
function argsOf(schema: Members): fc.Arbitrary<Members> {
  const properties = Object.entries(schema['properties'] as Readonly<Record<string, Members>>)
  const required = (schema['required'] ?? []) as readonly string[]
  const members = Object.fromEntries(
    properties.map(([name, member]) => [
      name,
      name === 'docId'
        ? fc.constantFrom('fuzz-cold', 'fuzz-live')
        : name === 'pageId'
          ? fc.constantFrom('one', 'two', 'canvas', 'x')
          : valueOf(member),
    ]),
  )
  return fc.record(members, { requiredKeys: [...required] })
}

function valueOf(schema: Members): fc.Arbitrary<unknown> {
  const junk = fc.oneof(text, fc.integer(), fc.constant(null), fc.constant([]), fc.constant({}))
  const fit = (): fc.Arbitrary<unknown> => {
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as string[]))
    if (schema['type'] === 'integer') return fc.integer({ min: Number(schema['minimum'] ?? 0), max: 4 })
    if (schema['type'] === 'boolean') return fc.boolean()
    if (schema['type'] === 'array')
      return fc.array(valueOf((schema['items'] ?? {}) as Members), { minLength: Number(schema['minItems'] ?? 0), maxLength: 3 })
    if (schema['type'] === 'object') return schema['properties'] === undefined ? fc.constant({}) : argsOf(schema)
    return text
  }
  return fc.oneof({ weight: 14, arbitrary: fit() }, { weight: 1, arbitrary: junk })
}
