import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
let ann: McpAgent

beforeAll(async () => {
  relay = await sharedRelay()
  ann = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let documents = 0
/** Runs a test on a stored document, and on a document that a person has open. */
async function coldAndLive(
  test: (docId: string) => Promise<void>,
  body: Readonly<Record<string, unknown>> = SAMPLE_DOCUMENT,
): Promise<void> {
  for (const isLive of [false, true]) {
    const docId = `changed-${++documents}`
    await relay.rest({ sub: 'ann' }).putDocument(docId, body)
    const person = isLive ? relay.sync(docId, { sub: 'ann', role: 'member' }) : null
    if (person !== null) await saved(person)
    await test(docId)
    person?.destroy()
  }
}

const CALL_ID = /^call-[A-Za-z0-9_-]{12}$/
const page = { pageId: 'p' }
const EXAMPLES = TOOL_ROWS.flatMap(({ name, examples, access, inputSchema }) =>
  access !== 'edit'
    ? []
    : examples.map((args, i) => ({ name, i, args, takesDryRun: 'dryRun' in (inputSchema['properties'] as object) })),
)

/** Calls with the number of parts of the sample document that each changes. */
const COUNTED: readonly (readonly [number, string, object])[] = [
  [1, 'set_prose', { ...page, id: 'blk-a', content: 'New.' }],
  [2, 'set_prose', { ...page, id: 'blk-a', untilId: 'blk-b', content: 'One for two.' }],
  [1, 'set_prose', { ...page, id: 'blk-t', content: 'In a cell.' }],
  // Changes the list and the new item.
  [2, 'insert_block', { ...page, id: 'blk-i', content: '- one more' }],
  // Adds a list and two items.
  [3, 'insert_block', { ...page, id: 'blk-a', content: '- a\n- b' }],
  // Removes the list and everything in it.
  [3, 'delete_block', { ...page, id: 'blk-i' }],
  [1, 'move_block', { ...page, id: 'blk-a', targetId: 'blk-c', side: 'after' }],
  [1, 'rename_document', { name: 'Other' }],
  [1, 'rename_canvas_page', { pageId: 'c', name: 'Other' }],
  [2, 'delete_prose_page', { pageId: 'q' }],
  // Removes the box and the connector at it.
  [2, 'delete_shape', { pageId: 'c', id: 's1' }],
  // Changes the field and the block with its chip.
  [2, 'set_fields', { fields: [{ name: 'client', value: 'Bob' }] }],
  [1, 'delete_reference', { id: 'knuth' }],
]

describe('the changes that a write reports', () => {
  it.each(EXAMPLES)(
    '[AG-29] [AG-32] example $i of $name reports its change, cold and live: nothing without a new version, as in a dry run',
    async ({ name, args, takesDryRun }) => {
      await coldAndLive(async (docId) => {
        const tried = takesDryRun ? await ann.call(name, { docId, ...args, dryRun: true }) : null
        const { changed, callId, serverVersion, warnings } = await ann.call(name, { docId, ...args })
        expect(tried ?? { changed }).toMatchObject({ changed })
        expect(tried ?? {}).not.toHaveProperty('callId')
        if (changed === 0) expect([callId, serverVersion, (warnings as object[]).length > 0]).toEqual([undefined, 1, true])
        else expect([Number(changed) > 0, CALL_ID.test(String(callId)), serverVersion]).toEqual([true, true, 2])
      })
    },
  )

  it.each(COUNTED)(
    '[AG-29] a call that changes %i blocks, shapes, pages, references and fields reports that number: %s %o',
    async (count, tool, args) => {
      await coldAndLive(async (docId) => {
        expect(await ann.call(tool, { docId, ...args })).toMatchObject({ changed: count })
      })
    },
  )

  it('[AG-29] a new document counts its pages, deleting one counts nothing, and a repeat has the call id of the first', async () => {
    const made = await ann.call('create_document', { name: 'New', requestId: 'made' })
    expect(made).toMatchObject({ changed: 2, callId: expect.stringMatching(CALL_ID) })
    expect(await ann.call('create_document', { name: 'New', requestId: 'made' })).toEqual({ ...made, replayed: true })
    expect(await ann.call('delete_document', { docId: made['id'] })).toEqual({ deleted: made['id'] })
    await coldAndLive(async (docId) => {
      const call = { docId, ...page, id: 'blk-a', content: 'x', requestId: `again ${docId}` }
      const first = await ann.call('insert_block', call)
      expect(await ann.call('insert_block', call)).toEqual({ ...first, replayed: true })
    })
  })

  it('[AG-32] a call that finds its work done succeeds with changed 0, the same version and the reason', async () => {
    const calls: readonly (readonly [string, object, RegExp])[] = [
      ['rename_document', { name: 'Sample' }, /already has this name/],
      ['set_prose', { ...page, id: 'blk-a', content: 'Alpha' }, /not stored already/],
      ['restructure_outline', { ...page, op: 'promote', index: 0 }, /already has this level/],
      ['reorder_prose_pages', { order: ['p', 'q'] }, /already stand in this order/],
      ['set_fields', { fields: [{ name: 'client', value: 'Ada' }] }, /already have these values/],
      ['update_shape', { pageId: 'c', id: 's1', patch: { text: 'One' } }, /nothing was changed/],
    ]
    await coldAndLive(async (docId) => {
      for (const [tool, args, reason] of calls) {
        const told = await ann.call(tool, { docId, ...args })
        expect(told, tool).toMatchObject({ changed: 0, serverVersion: 1, warnings: [{ reason: expect.stringMatching(reason) }] })
        expect(told).not.toHaveProperty('callId')
      }
    })
  })
})

describe('the removals that a write reports', () => {
  it('[AG-30] a call that removes blocks beyond those it names lists their ids and texts', async () => {
    await coldAndLive(async (docId) => {
      const told = await ann.call('delete_block', { docId, ...page, id: 'blk-i' })
      expect(told).toMatchObject({ deleted: ['blk-i', 'blk-j'], removed: [{ id: 'blk-j', text: 'Second' }] })
      expect(await ann.call('delete_block', { docId, ...page, id: 'blk-a' })).not.toHaveProperty('removed')
      expect(await ann.call('set_prose', { docId, ...page, id: 'blk-b', content: 'Put in its place.' })).not.toHaveProperty(
        'removed',
      )
      const { removed } = await ann.call('delete_shape', { docId, pageId: 'c', id: 's1' })
      expect(removed).toEqual([{ id: 'k1', text: '' }])
    })
  })

  it('[AG-30] a whole-page write and a deleted page list removed blocks, at most 20, and the number of all', async () => {
    await coldAndLive(async (docId) => {
      expect(await ann.call('delete_prose_page', { docId, pageId: 'q' })).toMatchObject({
        removed: [{ id: 'blk-q', text: 'Other' }],
      })
      const told = await ann.call('set_prose', { docId, ...page, content: '# Head\n\nAlpha' })
      const removed = told['removed'] as readonly { readonly id: string }[]
      expect(removed.map(({ id }) => id)).toContain('blk-t')
      expect(removed.map(({ id }) => id)).not.toContain('blk-a')
    })
    const content = Array.from({ length: 30 }, (_, i) => `<p id="blk-${i}">${'word '.repeat(40)}</p>`).join('')
    const long = { name: 'Long', pages: [], richTextPages: [{ id: 'p', name: 'P', content: `${content}<hr>` }] }
    await coldAndLive(async (docId) => {
      const told = await ann.call('set_prose', { docId, ...page, content: 'New.' })
      const removed = told['removed'] as readonly { readonly text: string }[]
      expect([removed.length, told['removedTotal'], Math.max(...removed.map(({ text }) => [...text].length))]).toEqual([
        20, 30, 121,
      ])
    }, long)
  })

  it('[AG-42] an answer lists only the blocks that the call wrote, with the start of texts that the caller knows', async () => {
    await coldAndLive(async (docId) => {
      const at = { docId, pageId: 'q' }
      const long = 'word '.repeat(30).trim()
      const whole = await ann.call('set_prose', { ...at, content: `# One\n\n- a\n- b\n\n${long}\n\nlast`, replace: true })
      expect(whole).toMatchObject({ unchanged: 0 })
      const listed = whole['blocks'] as readonly { readonly id: string; readonly type: string; readonly text?: string }[]
      expect(listed.map(({ type, text }) => [type, text])).toEqual([
        ['heading', 'One'],
        ['bulletList', undefined],
        ['paragraph', 'a'],
        ['paragraph', 'b'],
        ['paragraph', `${long.slice(0, 48)}…`],
        ['paragraph', 'last'],
      ])
      expect(listed.every(({ id }) => id.includes('#'))).toBe(true)
      const one = await ann.call('set_prose', { ...at, content: `# One\n\n- a\n- b\n\n${long}\n\nother` })
      expect(one).toMatchObject({ changed: 1, unchanged: 5, blocks: [{ type: 'paragraph', text: 'other' }] })
      const none = await ann.call('set_prose', { ...at, content: `# One\n\n- a\n- b\n\n${long}\n\nother` })
      expect(none).toMatchObject({ changed: 0, unchanged: 6, blocks: [] })
      // This call did not bring the text itself, so the answer contains more of it.
      const moved = await ann.call('move_block', { ...at, id: listed[4]?.id, targetId: listed[0]?.id, side: 'before' })
      expect(moved['blocks']).toMatchObject([{ text: `${long.slice(0, 120)}…` }])
    })
  })

  it('[AG-42] for a page sent back with ids, the answer lists only changes of the caller, not of a person', async () => {
    await coldAndLive(async (docId) => {
      const at = { docId, pageId: 'q' }
      await ann.call('set_prose', { ...at, content: '- a\n- b\n\nc', replace: true })
      const { page } = (await ann.call('get_prose', { ...at, ids: true })) as { readonly page: { readonly content: string } }
      const id = /blk-[\w-]+(?=#\w+ -->b)/.exec(page.content)?.[0]
      const { richTextPages, ...others } = (await relay.rest({ sub: 'ann' }).getDocument(docId)) as unknown as {
        readonly richTextPages: readonly { readonly id: string; readonly content: string }[]
      }
      const edited = richTextPages.map((each) => ({ ...each, content: each.content.replace('>b<', '>b by Ann<') }))
      await relay.rest({ sub: 'ann' }).putDocument(docId, { ...others, richTextPages: edited } as never)
      const content = page.content.replace(/a\n/, 'a by me\n')
      expect(content).not.toBe(page.content)
      const { blocks } = await ann.call('set_prose', { ...at, content })
      expect((blocks as readonly { readonly text?: string }[]).map(({ text }) => text)).toContain('a by me')
      expect(JSON.stringify(blocks)).not.toContain(String(id))
    })
  })

  it('[AG-42] icons come with their categories on the first page only', async () => {
    const { nextCursor, categories } = await ann.call('list_icons', { query: 'arrow', limit: 5 })
    expect((categories as readonly string[]).length).toBeGreaterThan(10)
    const second = await ann.call('list_icons', { query: 'arrow', limit: 5, cursor: nextCursor })
    expect(second).toMatchObject({ returned: 5 })
    expect(second).not.toHaveProperty('categories')
  })

  it('[AG-43] a brief answer omits blocks, table and outline, and keeps what the call did', async () => {
    await coldAndLive(async (docId) => {
      const calls: readonly (readonly [string, object, string])[] = [
        ['insert_block', { id: 'blk-a', content: 'x' }, 'blocks'],
        ['set_prose', { id: 'blk-a', content: '<p onclick="x">y</p>', format: 'html' }, 'blocks'],
        ['restructure_outline', { op: 'demote', index: 0 }, 'outline'],
        ['edit_table', { op: 'addRow', row: 0, tableIndex: 2 }, 'table'],
      ]
      for (const [tool, args, member] of calls) {
        const call = { docId, ...page, ...args, dryRun: true }
        const whole = await ann.call(tool, call)
        const { [member]: left, [`${member}Total`]: _, ...others } = whole
        expect(left, tool).toBeDefined()
        expect(await ann.call(tool, { ...call, brief: true }), tool).toEqual(others)
      }
      expect((await ann.call('insert_block', { docId, ...page, id: 'blk-a', content: 'x', brief: true }))['callId']).toMatch(
        CALL_ID,
      )
    })
  })
})
