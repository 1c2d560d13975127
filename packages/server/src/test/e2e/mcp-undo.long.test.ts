import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TOOL_ROWS } from '../../mcp/tools/all-tools.ts'
import { SAMPLE_DOCUMENT } from '../../mcp/tools/testing/sample-document.ts'
import { canonicalHtml } from '../../sync/binding/binding-prose.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
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

/** The sample without its duplicate block id, because undoing an undo cannot tell two blocks with one id apart. */
const SAMPLE = JSON.parse(JSON.stringify(SAMPLE_DOCUMENT).replace('blk-x\\">on two', 'blk-y\\">on two')) as Members

let documents = 0
/** Runs a test on a stored document, and on a document that a person has open. */
async function coldAndLive(test: (docId: string) => Promise<void>, body: Members = SAMPLE): Promise<void> {
  for (const isLive of [false, true]) {
    const docId = `undo-${++documents}`
    await relay.rest({ sub: 'ann' }).putDocument(docId, body)
    const person = isLive ? relay.sync(docId, { sub: 'ann', role: 'member' }) : null
    if (person !== null) await saved(person)
    await test(docId)
    person?.destroy()
  }
}

const page = { pageId: 'p' }
const EXAMPLES = TOOL_ROWS.flatMap(({ name, examples, access }) =>
  access === 'edit' ? examples.map((args, i) => ({ name, i, args })) : [],
)

/** Returns the canonical HTML of a page. */
async function htmlOf(docId: string, pageId = 'p'): Promise<string> {
  const { page: shown } = await ann.call('get_prose', { docId, pageId, format: 'html' })
  const { content } = shown as { readonly content: string }
  expect(typeof content).toBe('string')
  return content
}

/** Returns what a write may change of a document: the REST body without versions and times, with canonical HTML. */
async function contentOf(docId: string): Promise<unknown> {
  const { name, pages, richTextPages, references, fields } = await relay.rest({ sub: 'ann' }).getDocument(docId)
  const prose = (richTextPages as readonly { readonly content: string }[]).map((shown) => ({
    ...shown,
    content: canonicalHtml(shown.content),
  }))
  return { name, pages, prose, references, fields }
}

describe('undo of a call', () => {
  it.each(EXAMPLES)(
    '[AG-71] [AG-69] example $i of $name and its undo restore the document, and the undo can be undone, cold and live',
    async ({ name, args }) => {
      await coldAndLive(async (docId) => {
        const before = await contentOf(docId)
        const { callId, changed } = await ann.call(name, { docId, ...args })
        if (changed === 0) return
        const after = await contentOf(docId)
        const undone = await ann.call('undo', { docId, callId })
        expect(undone).toMatchObject({ undone: [callId], serverVersion: 3 })
        expect(undone).not.toHaveProperty('kept')
        expect(await contentOf(docId)).toEqual(before)
        const redone = await ann.call('undo', { docId, callId: undone['callId'] })
        expect(redone).toMatchObject({ undone: [undone['callId']], serverVersion: 4 })
        expect(await contentOf(docId)).toEqual(after)
      })
    },
  )
})

const text = (id: string, words: string) => `<p id="${id}">${words}</p>`
const TYPED = {
  name: 'Typed',
  pages: [
    { id: 'c', name: 'Canvas', shapes: [{ id: 's1', type: 'rectangle', x: 0, y: 0, width: 90, height: 60, label: 'One' }] },
  ],
  richTextPages: [
    { id: 'p', name: 'P', order: 0, content: ['a', 'b', 'c'].map((id) => text(`blk-${id}`, `Words ${id}`)).join('') },
  ],
}

describe('undo beside others', () => {
  it('[AG-69] [AG-70] an undo keeps and reports what somebody changed since, and restores the rest', async () => {
    await coldAndLive(async (docId) => {
      const content = '<p id="blk-a">New a</p><p id="blk-b">New b</p><p>More</p>'
      const { callId } = await ann.call('set_prose', { docId, ...page, content, format: 'html' })
      await ann.call('set_prose', { docId, ...page, id: 'blk-b', content: 'Changed by a person.' })
      await ann.call('insert_block', { docId, ...page, id: 'blk-a', content: 'Between.' })
      const told = await ann.call('undo', { docId, callId })
      expect(told).toMatchObject({ undone: [callId], kept: [{ id: 'blk-b', text: 'Changed by a person.' }] })
      const html = String(await htmlOf(docId))
      expect(html).toMatch(/Words a.*Between\..*Changed by a person\..*Words c/)
      expect(html).not.toMatch(/New|More/)
    }, TYPED)
  })

  it('[AG-69] of a shape only the changes of the call are undone, and a place that somebody chose since stays', async () => {
    await coldAndLive(async (docId) => {
      const { callId } = await ann.call('update_shape', { docId, pageId: 'c', id: 's1', patch: { text: 'Two', x: 50 } })
      await ann.call('update_shape', { docId, pageId: 'c', id: 's1', patch: { x: 300 } })
      await ann.call('undo', { docId, callId })
      const { result } = await ann.answer('get_shape', { docId, pageId: 'c', id: 's1' })
      expect(JSON.stringify(result)).toMatch(/"text":"One"/)
      expect(JSON.stringify(result)).toMatch(/"x":300/)
    }, TYPED)
  })

  it('[AG-70] a page that somebody changed since stays, and when everything is kept nothing changes', async () => {
    await coldAndLive(async (docId) => {
      const made = await ann.call('add_prose_page', { docId, name: 'New', content: 'One.' })
      const blocks = made['blocks'] as readonly { readonly id: string }[]
      await ann.call('set_prose', { docId, pageId: made['id'], id: blocks[0]?.id, content: 'Theirs.' })
      const told = await ann.call('undo', { docId, callId: made['callId'] })
      expect(told).toMatchObject({
        undone: [],
        changed: 0,
        serverVersion: 3,
        kept: [{ id: made['id'], text: 'New' }],
        warnings: [{ reason: expect.stringContaining('somebody changed everything since') }],
      })
      expect(told).not.toHaveProperty('callId')
    }, TYPED)
  })
})

describe('which calls are undone', () => {
  it('[TOOL-undo] [AG-68] last undoes the newest undoable calls in one write, and goes further back each time', async () => {
    await coldAndLive(async (docId) => {
      const before = await htmlOf(docId)
      const calls = []
      for (const id of ['a', 'b', 'c'])
        calls.push((await ann.call('set_prose', { docId, ...page, id: `blk-${id}`, content: 'x' }))['callId'])
      const dry = await ann.call('undo', { docId, last: 2, dryRun: true })
      expect(dry).toMatchObject({ undone: [calls[2], calls[1]], changed: 2, serverVersion: 4, dryRun: true })
      expect(await ann.call('undo', { docId, last: 2 })).toMatchObject({
        undone: [calls[2], calls[1]],
        changed: 2,
        serverVersion: 5,
      })
      expect(await ann.call('undo', { docId, last: 5 })).toMatchObject({ undone: [calls[0]], serverVersion: 6 })
      expect(await htmlOf(docId)).toBe(before)
      expect(await ann.refused('undo', { docId, last: 1 })).toMatchObject({ code: 'ERR_CALL_NOT_FOUND', callId: null })
    }, TYPED)
  })

  it.each([1, 2])(
    '[AG-68] concurrent undos of the last %i calls each take back other calls, until none is left',
    async (last) => {
      await coldAndLive(async (docId) => {
        const before = await htmlOf(docId)
        const calls = []
        for (const words of ['x', 'y'])
          for (const id of ['a', 'b'])
            calls.push((await ann.call('set_prose', { docId, ...page, id: `blk-${id}`, content: words }))['callId'])
        const undo = () => ann.call('undo', { docId, last })
        const told = await Promise.all(Array.from({ length: calls.length / last }, undo))
        expect(told.flatMap(({ undone }) => undone).toSorted()).toEqual(calls.toSorted())
        for (const answer of told) expect(answer).not.toHaveProperty('kept')
        expect(await htmlOf(docId)).toBe(before)
      }, TYPED)
    },
  )

  it('[AG-72] a call is undone once; an unknown call, one of another document and a creation are refused with the reason', async () => {
    const made = await ann.call('create_document', { name: 'Made' })
    expect(await ann.refused('undo', { docId: made['id'], callId: made['callId'] })).toMatchObject({
      code: 'ERR_NOT_UNDOABLE',
      reason: 'tool',
    })
    await coldAndLive(async (docId) => {
      const { callId } = await ann.call('rename_document', { docId, name: 'Other' })
      const { callId: undoneBy } = await ann.call('undo', { docId, callId })
      const again = { code: 'ERR_NOT_UNDOABLE', callId, reason: 'undone', undoneBy }
      expect(await ann.refused('undo', { docId, callId })).toMatchObject(again)
      const calls = [
        { callId: undoneBy, tool: 'undo' },
        { callId, tool: 'rename_document' },
      ]
      const unknown = await ann.refused('undo', { docId, callId: made['callId'] })
      expect(unknown).toMatchObject({ code: 'ERR_CALL_NOT_FOUND', callId: made['callId'], calls })
      for (const args of [{}, { callId, last: 1 }])
        expect(await ann.refused('undo', { docId, ...args })).toMatchObject({ code: 'ERR_BAD_ARGUMENT' })
    }, TYPED)
  })

  it('[AG-72] [AG-68] of concurrent undos of one call one succeeds, and the others learn that it was undone', async () => {
    await coldAndLive(async (docId) => {
      const { callId } = await ann.call('rename_document', { docId, name: 'Other' })
      const answers = await Promise.all(Array.from({ length: 3 }, () => ann.answer('undo', { docId, callId })))
      const [done, ...others] = answers.toSorted((a, b) => Number(a.isError) - Number(b.isError)).map(({ result }) => result)
      expect(done).toMatchObject({ undone: [callId], changed: 1 })
      for (const other of others)
        expect(other).toMatchObject({ code: 'ERR_NOT_UNDOABLE', reason: 'undone', undoneBy: done?.['callId'] })
    }, TYPED)
  })

  it('[AG-72] of concurrent undos of a removed list or a block without id one restores it, and the others learn that', async () => {
    const LISTED = '<p id="blk-a">Words a</p><ul><li><p>Item</p></li></ul><p>Nameless</p><p id="blk-b">Words b</p>'
    const body = { name: 'Listed', pages: [], richTextPages: [{ id: 'p', name: 'P', order: 0, content: LISTED }] }
    for (const removed of ['Item', 'Nameless']) {
      await coldAndLive(async (docId) => {
        const before = await htmlOf(docId)
        const kept = before.replace(removed === 'Item' ? /<ul.*<\/ul>/ : /<p[^>]*>Nameless<\/p>/, '')
        const { callId } = await ann.call('set_prose', { docId, ...page, content: kept, format: 'html' })
        expect(await htmlOf(docId)).not.toContain(removed)
        const answers = await Promise.all(Array.from({ length: 3 }, () => ann.answer('undo', { docId, callId })))
        const [done, ...others] = answers.toSorted((a, b) => Number(a.isError) - Number(b.isError)).map(({ result }) => result)
        expect(done).toMatchObject({ undone: [callId], serverVersion: 3 })
        for (const other of others)
          expect(other).toMatchObject({ code: 'ERR_NOT_UNDOABLE', reason: 'undone', undoneBy: done?.['callId'] })
        expect((await htmlOf(docId)).split(removed)).toHaveLength(2)
      }, body)
    }
  })

  it('[AG-72] [TOOL-22] a repeated undo with one request id gets its first answer', async () => {
    await coldAndLive(async (docId) => {
      const { callId } = await ann.call('rename_document', { docId, name: 'Other' })
      const call = { docId, callId, requestId: `undo ${docId}` }
      const first = await ann.call('undo', call)
      expect(await ann.call('undo', call)).toEqual({ ...first, replayed: true })
    }, TYPED)
  })

  it('[AG-67] a call above 1 MiB is done, reports that it cannot be undone, and its undo is refused as too large', async () => {
    const content = Array.from({ length: 12 }, (_, i) => text(`blk-${i}`, `${i} ${'long words '.repeat(9_000)}`)).join('')
    await coldAndLive(
      async (docId) => {
        const told = await ann.call('set_prose', { docId, ...page, content: 'Short.' })
        expect(told).toMatchObject({ undoable: false })
        expect(await ann.refused('undo', { docId, callId: told['callId'] })).toMatchObject({ reason: 'too-large' })
      },
      { name: 'Long', pages: [], richTextPages: [{ id: 'p', name: 'P', content }] },
    )
  })
})

describe('the records kept for an undo', () => {
  const paragraphs = (from: number, count: number): string =>
    Array.from({ length: count }, (_, i) => text(`blk-${from + i}`, `Words ${from + i}`)).join('')
  const pages = (...contents: readonly string[]): Members => ({
    name: 'Kept',
    pages: [],
    richTextPages: contents.map((content, i) => ({ id: `p${i}`, name: 'P', content })),
  })
  const asBen = () => ({ headers: { authorization: `Bearer ${relay.token({ sub: 'ben' })}` } })

  it('[LIFE-19] [AG-31] a recovery point is taken before a tool removes five blocks or a page, though the newest point is young', async () => {
    const ben = relay.rest({ sub: 'ben' })
    let renames = 0
    await coldAndLive(
      async (docId) => {
        const points = async () => (await ben.recoveryPoints(docId)).length
        /** Renames the document as another person, then calls the tool. Returns how many recovery points that adds. */
        const added = async (tool: string, args: Members): Promise<number> => {
          await ben.putDocument(docId, { ...(await ben.getDocument(docId)), name: `Kept ${++renames}` })
          const before = await points()
          await ann.call(tool, { docId, ...args })
          return (await points()) - before
        }
        await ann.call('set_prose', { docId, pageId: 'p0', id: 'blk-0', content: 'The first edit makes a point.' })
        expect(await added('delete_block', { pageId: 'p0', id: 'blk-1', untilId: 'blk-4' })).toBe(0)
        expect(await added('delete_block', { pageId: 'p0', id: 'blk-5', untilId: 'blk-9' })).toBe(1)
        expect(await added('delete_prose_page', { pageId: 'p1' })).toBe(1)
        const kept: string[] = []
        for (const { id } of await ben.recoveryPoints(docId))
          kept.push(await (await relay.fetch(`/api/docs/${docId}/recovery/${id}`, asBen())).text())
        expect(kept.filter((body) => /first edit.*Words 5/.test(body))).toHaveLength(1)
        expect(kept.filter((body) => !body.includes('Words 5') && body.includes('Words 20'))).toHaveLength(1)
      },
      pages(paragraphs(0, 12), paragraphs(20, 2)),
    )
  })
})
