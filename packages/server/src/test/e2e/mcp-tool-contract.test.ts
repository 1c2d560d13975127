import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOLSETS } from '../../mcp/tool.ts'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest } from '../relay-under-test.ts'

type Members = Readonly<Record<string, unknown>>

let relay: RelayUnderTest
let ann: McpAgent
let bea: McpAgent

const agent = (sub: string, role: string, search = '') => mcpAgent(relay.mcpUrl, relay.token({ sub, role }), search)

/** A text that is longer than one answer may be. */
const HUGE = 'ä'.repeat(42_000)
const hash = (i: number) => i.toString(16).padStart(64, '0')
const BODY = {
  name: 'Lists',
  pages: [
    {
      id: 'c',
      name: 'Canvas',
      shapes: Array.from({ length: 40 }, (_, i) => ({
        id: `s${i}`,
        type: i % 2 === 0 ? 'file' : 'rectangle',
        x: i,
        y: 0,
        ...(i % 2 === 0
          ? { blobRef: hash(i), fileName: i === 4 ? HUGE : `${i}.pdf` }
          : { label: i % 18 === 1 ? HUGE : `label ${i}` }),
      })),
    },
    { id: 'c2', name: 'Canvas 2', shapes: [] },
  ],
  richTextPages: [
    {
      id: 'p',
      name: 'One',
      order: 0,
      content: Array.from({ length: 30 }, (_, i) => `<p id="blk-${i}">${i === 2 || i === 3 ? HUGE : `block ${i}`}</p>`).join(''),
    },
    { id: 'q', name: 'Two', order: 1, content: '<h1 id="blk-h">Head</h1><hr><p id="blk-q">Other</p>' },
    { id: 'r', name: 'Three', order: 2, content: '<p></p>' },
  ],
  references: {
    items: Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`r${i}`, { id: `r${i}`, type: 'book', title: i === 3 ? HUGE : `Title ${i}` }]),
    ),
    itemOrder: Array.from({ length: 30 }, (_, i) => `r${i}`),
  },
}

beforeAll(async () => {
  const env = { RELAY_WRITES_PER_SEC: '0', RELAY_READS_PER_SEC: '0', RELAY_ENFORCE_PRIVATE_DOCS: 'false' }
  relay = await startRelayUnderTest({ mcp: 'public', env })
  ann = await agent('ann', 'member')
  bea = await agent('bea', 'member')
  for (const id of ['cold', 'live', 'other']) await relay.rest({ sub: 'ann' }).putDocument(id, BODY)
  await saved(relay.sync('live', { sub: 'ann', role: 'member' }))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

interface ListedOf {
  readonly tool: string
  readonly args: Members
  itemsOf(answer: Members): readonly string[]
}

const texts = (list: unknown): readonly string[] => (list as readonly unknown[]).map((item) => JSON.stringify(item))
/** Returns the blocks of one or several pages, each with the id of its page. */
const blocks = ({ page, pages = [page] }: Members): readonly string[] =>
  (pages as readonly { readonly id: string; readonly content: string }[]).flatMap(({ id, content }) =>
    (content.match(/<(p|h1|hr)\b.*?(?=<p|<h1|<hr|$)/gs) ?? ['']).map((block) => `${id}: ${block}`),
  )
const LISTS: readonly ListedOf[] = [
  { tool: 'get_page', args: { pageId: 'c' }, itemsOf: ({ shapes }) => texts(shapes) },
  { tool: 'get_prose', args: { pageId: 'p' }, itemsOf: blocks },
  { tool: 'get_prose', args: {}, itemsOf: blocks },
  { tool: 'list_references', args: {}, itemsOf: ({ references }) => texts(references) },
  { tool: 'list_files', args: {}, itemsOf: ({ files }) => texts(files) },
]
const CASES = LISTS.flatMap((list) => ['cold', 'live'].map((docId) => ({ ...list, docId })))

async function pagesOf(
  { tool, args, docId }: ListedOf & { readonly docId: string },
  limit?: number,
): Promise<readonly Members[]> {
  const pages: Members[] = []
  let cursor: unknown
  do {
    const page = await ann.call(tool, {
      docId,
      ...args,
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    })
    pages.push(page)
    cursor = page['nextCursor']
  } while (cursor !== undefined && pages.length < 200)
  return pages
}

describe('paged lists of a document', () => {
  it.each(CASES)(
    '[TOOL-23] [TOOL-24] $tool $args of a $docId document: pages of any size together give the whole list',
    async (list) => {
      const { itemsOf } = list
      const ones = await pagesOf(list, 1)
      const whole = ones.flatMap((page) => itemsOf(page))
      expect(ones.map((page) => itemsOf(page).length)).toEqual(whole.map(() => 1))
      expect(whole.length).toBeGreaterThanOrEqual(20)
      expect(new Set(whole).size).toBe(whole.length)
      for (const limit of [undefined, 3, 7, 1_000, 1e20]) {
        const pages = await pagesOf(list, limit)
        expect(pages.flatMap((page) => itemsOf(page))).toEqual(whole)
        for (const page of pages) {
          const items = itemsOf(page)
          expect(items.length).toBeLessThanOrEqual(limit ?? 1_000)
          // An item that is too long for an answer comes alone.
          if (items.length > 1) expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(80_000)
        }
      }
    },
  )

  it('[TOOL-24] without a limit a list returns as many items as fit, and a larger limit returns no more', async () => {
    const first = await ann.call('get_page', { docId: 'cold', pageId: 'c' })
    const length = (first['shapes'] as readonly unknown[]).length
    const more = await ann.call('get_page', { docId: 'cold', pageId: 'c', limit: length + 1 })
    expect(more['shapes']).toEqual(first['shapes'])
    expect(more['nextCursor']).toEqual(first['nextCursor'])
  })

  it('[TOOL-24] [TOOL-25] a cursor is accepted only for the list that returned it', async () => {
    const given = await Promise.all(
      CASES.map(async ({ tool, args, docId }) => (await ann.call(tool, { docId, ...args, limit: 1 }))['nextCursor']),
    )
    for (const [i, list] of CASES.entries())
      for (const [j, cursor] of given.entries()) {
        const { isError, result } = await ann.answer(list.tool, { docId: list.docId, ...list.args, cursor })
        if (i === j) expect(isError).toBe(false)
        else expect(result).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'cursor' })
      }
    for (const [tool, args] of [
      ['get_page', { pageId: 'c2' }],
      ['get_prose', { pageId: 'p', format: 'markdown' }],
      ['get_prose', { pageId: 'q' }],
      ['list_documents', {}],
      ['list_icons', {}],
    ] as const) {
      const docId = tool.startsWith('get') ? { docId: 'cold' } : {}
      for (const cursor of given)
        expect(await ann.refused(tool, { ...docId, ...args, cursor })).toMatchObject({
          code: 'ERR_BAD_ARGUMENT',
          argument: 'cursor',
        })
    }
  })

  it.each([0, -1, 1.5, '1.5', true])('[TOOL-24] the limit %j is refused', async (limit) => {
    for (const { tool, args } of [...LISTS, { tool: 'list_documents', args: {} }])
      expect(await ann.refused(tool, { ...(tool !== 'list_documents' && { docId: 'cold' }), ...args, limit })).toMatchObject({
        code: 'ERR_BAD_ARGUMENT',
        argument: 'limit',
      })
  })

  it('[ICON-2] [TOOL-25] all pages of list_icons together give every icon, and a limit out of range acts as the nearest allowed one', async () => {
    const ids: string[] = []
    let page: Members = {}
    do {
      page = await ann.call('list_icons', { limit: 9_999, ...('nextCursor' in page && { cursor: page['nextCursor'] }) })
      ids.push(...(page['icons'] as readonly { readonly id: string }[]).map(({ id }) => id))
    } while ('nextCursor' in page)
    expect([ids.length, new Set(ids).size]).toEqual([page['total'], page['total']])
    for (const limit of [0, -5]) expect(await ann.call('list_icons', { limit })).toMatchObject({ returned: 1 })
  })
})

describe('request ids of tool calls', () => {
  const insert = (requestId: string, content = 'Said once.') => ({ docId: 'other', pageId: 'q', id: 'blk-q', content, requestId })
  const said = async (): Promise<number> => {
    const { page } = await ann.call('get_prose', { docId: 'other', pageId: 'q' })
    return (page as { readonly content: string }).content.split('Said once.').length - 1
  }

  it('[TOOL-22] simultaneous calls with one request id run once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ann.call('insert_block', insert('at-once'))))
    const [first] = answers.filter((answer) => !('replayed' in answer))
    expect(answers.filter((answer) => 'replayed' in answer)).toEqual(
      Array.from({ length: 7 }, () => ({ ...first, replayed: true })),
    )
    expect(await said()).toBe(1)
  })

  it('[TOOL-22] a request id belongs to its caller, tool and workspace, and is shared by all toolsets', async () => {
    const before = await said()
    const first = await ann.call('insert_block', insert('mine'))
    const prose = await agent('ann', 'member', '?toolsets=prose')
    expect(await prose.call('insert_block', insert('mine'))).toEqual({ ...first, replayed: true })
    const readonly = await agent('ann', 'member', '?readonly=1')
    expect(await readonly.refused('insert_block', insert('mine'))).toMatchObject({ code: 'ERR_TOOL_DISABLED' })
    expect(await bea.call('insert_block', insert('mine'))).not.toHaveProperty('replayed')
    expect(await ann.call('add_prose_page', { docId: 'other', requestId: 'mine' })).not.toHaveProperty('replayed')
    expect(await ann.call('insert_block', { ...insert('mine'), dryRun: true })).toMatchObject({ dryRun: true })
    expect(await said()).toBe(before + 2)
    expect(await ann.refused('insert_block', insert('mine', 'Else.'))).toMatchObject({ code: 'ERR_REQUEST_ID_REUSED' })
  })

  it('[TOOL-22] a request id of a failed call or a dry run can be used again', async () => {
    const before = await said()
    expect(await ann.refused('insert_block', { ...insert('free'), id: 'blk-none' })).toMatchObject({ code: 'ERR_ID_NOT_FOUND' })
    await ann.call('insert_block', { ...insert('free', 'Tried.'), dryRun: true })
    expect(await ann.call('insert_block', insert('free'))).not.toHaveProperty('replayed')
    expect(await ann.call('create_document', { requestId: 'free' })).not.toHaveProperty('replayed')
    expect(await ann.call('create_document', { requestId: 'free' })).toMatchObject({ replayed: true })
    expect(await said()).toBe(before + 1)
  })
})

describe('toolsets', () => {
  const READ = [
    ...['list_documents', 'get_document', 'get_page', 'get_shape', 'get_prose', 'get_outline', 'list_references', 'resolve_doi'],
    ...['list_fields', 'get_skills', 'list_icons', 'list_files', 'get_file', 'get_table', 'get_storage'],
    ...['search', 'wait_for_change'],
  ]
  const PROSE = [
    'add_prose_page',
    'set_prose',
    'insert_block',
    'delete_block',
    'move_block',
    'rename_prose_page',
    'edit_text',
    'set_block',
  ]
  const namesOf = ({ tools }: McpAgent) => tools.map(({ name }) => String(name).slice('service_'.length))

  it.each([
    ['?toolsets=read', READ],
    ['?toolsets=%20prose%20,,prose', PROSE],
    ['?toolsets=prose,read', [...READ.slice(0, -2), ...PROSE, 'search', 'wait_for_change']],
    ['?toolsets=author,fields', ['create_document', 'rename_document', 'set_fields', 'edit_document']],
    ['?readonly=1', READ],
    ['?readonly=1&toolsets=prose,read', READ],
    ['?readonly=1&toolsets=prose', []],
  ])('[TOOL-10] [TOOL-11] %s lists its tools and refuses the others', async (search, names) => {
    const part = await agent('ann', 'member', search)
    expect(namesOf(part)).toEqual(names)
    for (const tool of namesOf(ann)) {
      const { result } = await part.answer(tool, { none: 1 })
      expect([tool, result.code]).toEqual([tool, names.includes(tool) ? 'ERR_BAD_ARGUMENT' : 'ERR_TOOL_DISABLED'])
    }
  })

  it('[TOOL-11] [MCP-26] a viewer sees the read tools, and every other tool refuses the call', async () => {
    const viewer = await agent('vic', 'viewer')
    expect(namesOf(viewer)).toEqual(READ)
    const rename = { docId: 'cold', name: 'x' }
    expect(await viewer.refused('rename_document', rename)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN', role: 'viewer' })
    expect(await viewer.refused('rename_document', { ...rename, docId: 'never' })).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    const named = await agent('vic', 'viewer', '?readonly=1')
    expect(await named.refused('rename_document', rename)).toMatchObject({ code: 'ERR_TOOL_DISABLED' })
  })

  it('[TOOL-10] a header selects a toolset, and the URL overrides the header', async () => {
    const list = async (search: string, header: string) => {
      const answer = await fetch(relay.mcpUrl + search, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${relay.token({ sub: 'ann', role: 'member' })}`,
          'content-type': 'application/json',
          'x-mcp-toolsets': header,
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      })
      const { result, error } = (await answer.json()) as { result?: { tools: unknown[] }; error?: { code: number } }
      return error?.code ?? result?.tools.length
    }
    expect(await list('', 'prose')).toBe(PROSE.length)
    expect(await list('?toolsets=read', 'prose')).toBe(READ.length)
    expect(await list('', 'prose,nothing')).toBe(-32602)
    expect(await list('?toolsets=Read', '')).toBe(-32602)
  })

  it('[TOOL-10] selecting a toolset without tools is refused with a list of the toolsets that have some', async () => {
    const present = TOOLSETS.filter((name) => TOOL_ROWS.some(({ toolset }) => toolset === name))
    for (const toolset of TOOLSETS.filter((name) => !present.includes(name))) {
      const refusal = `The toolset ${toolset} has no tool in this relay; those with tools are ${present.join(', ')}.`
      await expect(agent('ann', 'member', `?toolsets=read,${toolset}`)).rejects.toThrow(refusal)
    }
  })
})

describe('texts that tools write and return', () => {
  it('[TOOL-13] names are trimmed, cleaned, cut to a number of characters and never empty', async () => {
    const cut = '🙂'.repeat(200)
    for (const docId of ['cold', 'live'])
      for (const [tool, args] of [
        ['rename_document', { docId }],
        ['add_prose_page', { docId }],
        ['rename_prose_page', { docId, pageId: 'r' }],
        ['create_document', {}],
      ] as const) {
        expect(await ann.call(tool, { ...args, name: ' \u0007A\u0000\tb\u009f ' })).toMatchObject({ name: 'Ab' })
        expect(await ann.call(tool, { ...args, name: cut })).not.toHaveProperty('fixes')
        const long = await ann.call(tool, { ...args, name: `${cut}x` })
        expect(long).toMatchObject({ name: cut, fixes: [{ action: 'clamped', field: 'name', reason: expect.any(String) }] })
        for (const name of [' ', '\u0000\u0085'])
          expect(await ann.refused(tool, { ...args, name })).toMatchObject({ code: 'ERR_BAD_ARGUMENT', argument: 'name' })
      }
  })

  it('[TOOL-17] [TOOL-18] equal fixes are merged with their count, and at most fifty are returned', async () => {
    for (const docId of ['cold', 'live']) {
      const at = { docId, pageId: 'q', format: 'html', dryRun: true }
      const same = await ann.call('set_prose', { ...at, content: '<p onclick="x">a</p>'.repeat(60) })
      expect(same['fixes']).toEqual([
        {
          action: 'dropped_unknown',
          reason: expect.stringContaining('60'),
          path: expect.any(String),
          nodeType: 'paragraph',
          field: 'onclick',
        },
      ])
      const content = Array.from({ length: 60 }, (_, i) => `<x-${i}>a</x-${i}>`).join('')
      const many = await ann.call('set_prose', { ...at, content })
      expect([(many['fixes'] as unknown[]).length, many['fixesTotal']]).toEqual([50, 60])
    }
  })

  it('[TOOL-14] an error message quotes at most 120 characters of a document', async () => {
    for (const docId of ['cold', 'live']) {
      const refused = await ann.refused('delete_block', { docId, pageId: 'p', id: 'blk-2', anchor: 'x' })
      expect(refused).toMatchObject({ code: 'ERR_ID_ANCHOR_MISMATCH', currentText: `${'ä'.repeat(120)}…` })
      const nearest = await ann.refused('delete_block', { docId, pageId: 'p', anchor: 'ä'.repeat(200) })
      for (const told of [refused, nearest]) expect(JSON.stringify(told)).not.toContain('ä'.repeat(121))
    }
  })
})
