import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TokenOptions } from '../../auth/testing/test-issuer.ts'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { type Call, rawHttp } from '../raw-http.ts'
import { logged, saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

const ANN = { sub: 'ann', role: 'member' } as const
const BEN = { ...ANN, sub: 'ben' }
const VI = { sub: 'vi', role: 'viewer' } as const

let relay: SharedRelay
let call: Call
let ann: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  call = rawHttp(relay, { as: ANN })
  ann = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const CONTENT = '<p id="blk-a">One</p><p id="blk-b">Two</p>'
const SHARES = [
  { userId: 'ben', permission: 'edit' },
  { userId: 'vi', permission: 'view' },
]
const BODY = { name: 'Plan', sharedWith: SHARES, richTextPages: [{ id: 'p', name: 'P', content: CONTENT }] }

let documents = 0
/** Runs a test on a stored document, and on a document that a person has open. */
async function coldAndLive(test: (docId: string) => Promise<void>): Promise<void> {
  for (const isLive of [false, true]) {
    const docId = `calls-${++documents}`
    await call('PUT', `/api/docs/${docId}`, { body: BODY })
    const person = isLive ? relay.sync(docId, ANN) : null
    if (person !== null) await saved(person)
    await test(docId)
    person?.destroy()
  }
}

const write = async (docId: string, id: string, content: string): Promise<string> =>
  String((await ann.call('set_prose', { docId, pageId: 'p', id, content }))['callId'])
const list = (docId: string, query = '', as: TokenOptions = ANN) => call('GET', `/api/v1/docs/${docId}/calls${query}`, { as })
const undo = (docId: string, callId: string, body: object = {}, as: TokenOptions = ANN) =>
  call('POST', `/api/v1/docs/${docId}/calls/${callId}/undo`, { as, body })
const textOf = async (docId: string): Promise<string> => (await call('GET', `/api/docs/${docId}`)).text

describe('the calls of a document over REST', () => {
  it('[AG-73] are listed newest first without content, page by page, with who undid which', async () => {
    await coldAndLive(async (docId) => {
      const first = await write(docId, 'blk-a', 'Secret words')
      const second = await write(docId, 'blk-b', 'Other words')
      const undone = (await undo(docId, first, {}, BEN)).json
      const answer = await list(docId, '', VI)
      expect(answer.json['calls']).toMatchObject([
        { callId: undone['callId'], tool: 'undo', by: 'ben', serverVersion: 4, changed: 1, removed: 0, undoable: true },
        { callId: second, tool: 'set_prose', by: 'ann', serverVersion: 3, changed: 1, removed: 0, undoable: true },
        { callId: first, by: 'ann', serverVersion: 2, undoable: false, undoneBy: undone['callId'] },
      ])
      expect(answer.text).not.toMatch(/words/)
      const page = (await list(docId, '?limit=2')).json as { calls: { callId: string }[]; nextCursor: string }
      expect(page.calls.map(({ callId }) => callId)).toEqual([undone['callId'], second])
      const rest = (await list(docId, `?limit=2&cursor=${page.nextCursor}`)).json
      expect(rest).toMatchObject({ calls: [{ callId: first }] })
      expect(rest).not.toHaveProperty('nextCursor')
    })
  })

  it('[AG-73] reject a limit above 100 and a foreign cursor with 400 and the field', async () => {
    await coldAndLive(async (docId) => {
      expect((await list(docId, '?limit=101')).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'limit', limit: 100 })
      expect((await list(docId, '?cursor=x')).json).toMatchObject({ errorCode: 'BAD_REQUEST', field: 'cursor' })
    })
  })
})

describe('undo over REST', () => {
  it('[AG-73] takes back the changes of a call in one write of the person, keeps later edits of others, and can be undone', async () => {
    await coldAndLive(async (docId) => {
      const told = await ann.call('set_prose', {
        docId,
        pageId: 'p',
        content: '<p id="blk-a">New one</p><p id="blk-b">New two</p>',
        format: 'html',
      })
      await write(docId, 'blk-b', 'Of somebody.')
      const { status, json } = await undo(docId, String(told['callId']), { expectedVersion: 3 }, BEN)
      const undone = { changed: 1, kept: [{ id: 'blk-b', text: 'Of somebody.' }], serverVersion: 4 }
      expect([status, json]).toEqual([200, { ...undone, callId: json['callId'] }])
      expect(await textOf(docId)).toMatch(/One.*Of somebody/)
      expect((await undo(docId, String(json['callId']))).json).toMatchObject({ changed: 1, kept: [], serverVersion: 5 })
      expect(await textOf(docId)).toMatch(/New one.*Of somebody/)
    })
  })

  it('[AG-73] answers a repeat by the same caller alike, whatever was written since; another caller gets 409', async () => {
    await coldAndLive(async (docId) => {
      const callId = await write(docId, 'blk-a', 'New')
      const asked = Array.from({ length: 3 }, () => undo(docId, callId, { expectedVersion: 2 }))
      const [first, ...repeats] = (await Promise.all(asked)).map(({ status, json }) => ({ status, json }))
      expect(first).toMatchObject({ status: 200, json: { changed: 1, kept: [], serverVersion: 3 } })
      expect(repeats).toEqual([first, first])
      await write(docId, 'blk-b', 'Later')
      expect((await undo(docId, callId, { expectedVersion: 2 })).json).toEqual(first?.json)
      const other = await undo(docId, callId, {}, BEN)
      expect([other.status, other.json]).toMatchObject([409, { errorCode: 'NOT_UNDOABLE', callId, reason: 'undone' }])
      expect((await list(docId)).json['calls']).toHaveLength(3)
    })
  })

  it('[AG-73] [AG-21] is shown to an agent that wrote the blocks as a change by a person', async () => {
    await coldAndLive(async (docId) => {
      const callId = await write(docId, 'blk-a', 'New')
      await ann.call('get_prose', { docId, pageId: 'p' })
      await undo(docId, callId, {}, BEN)
      const refused = await ann.refused('delete_block', { docId, pageId: 'p', id: 'blk-a' })
      expect(refused).toMatchObject({ code: 'ERR_BLOCK_CHANGED', changedBy: { id: 'ben', kind: 'person' } })
    })
  })

  it('[AG-73] writes nothing when somebody changed everything since', async () => {
    await coldAndLive(async (docId) => {
      const callId = await write(docId, 'blk-a', 'New')
      await write(docId, 'blk-a', 'Newer')
      const kept = [{ id: 'blk-a', text: 'Newer' }]
      expect((await undo(docId, callId)).json).toEqual({ changed: 0, kept, serverVersion: 3 })
    })
  })

  it.each([
    [{ max_doc_bytes: 100 }, { status: 413, errorCode: 'DOC_TOO_LARGE', maxBytes: 100, source: 'claim' }],
    [{ quota_bytes: 100 }, { status: 507, errorCode: 'STORAGE_QUOTA', quotaBytes: 100, source: 'claim' }],
  ])('[AG-73] is refused above %j when it grows the document, as a PUT is, and changes nothing', async (claim, refusal) => {
    await coldAndLive(async (docId) => {
      await write(docId, 'blk-a', 'Long words. '.repeat(50))
      const callId = await write(docId, 'blk-a', 'Short')
      const before = await textOf(docId)
      const limited = { sub: 'ann', wsp: [{ id: relay.workspace, role: 'member', ...claim }] }
      const { status, json } = await undo(docId, callId, {}, limited)
      expect({ status, ...json }).toMatchObject(refusal)
      expect(await textOf(docId)).toBe(before)
    })
  })

  it('[AG-73] refuses an unknown call, another version, a viewer, another workspace and a deleted document', async () => {
    await coldAndLive(async (docId) => {
      const callId = await write(docId, 'blk-a', 'New')
      const refusalOf = async (answer: ReturnType<typeof undo>) => {
        const { status, json } = await answer
        return { status, ...json }
      }
      const unknown = { status: 404, errorCode: 'NOT_FOUND', resource: 'call' }
      expect(await refusalOf(undo(docId, 'call-000000000000'))).toMatchObject(unknown)
      const conflict = { status: 409, errorCode: 'VERSION_CONFLICT', currentVersion: 2 }
      expect(await refusalOf(undo(docId, callId, { expectedVersion: 1 }))).toMatchObject(conflict)
      const bad = { status: 400, errorCode: 'BAD_REQUEST', field: 'expectedVersion' }
      expect(await refusalOf(undo(docId, callId, { expectedVersion: '2' }))).toMatchObject(bad)
      expect(await refusalOf(undo(docId, callId, {}, VI))).toMatchObject({ status: 403, errorCode: 'EDIT_FORBIDDEN' })
      const foreign = { sub: 'eve', role: 'owner', workspace: 'w2' } as const
      const none = { status: 404, errorCode: 'NOT_FOUND', resource: 'document' }
      expect(await refusalOf(undo(docId, callId, {}, foreign))).toMatchObject(none)
      expect(await refusalOf(list(docId, '', foreign))).toMatchObject(none)
      expect(await textOf(docId)).toContain('New')
      await call('DELETE', `/api/docs/${docId}`)
      expect(await refusalOf(undo(docId, callId))).toMatchObject({ status: 410, errorCode: 'TOMBSTONED', lastServerVersion: 2 })
      expect(await refusalOf(list(docId))).toMatchObject(none)
      await call('PUT', `/api/docs/${docId}?overrideTombstone=true`, { body: BODY })
      expect((await list(docId)).json).toEqual({ calls: [] })
      expect(await refusalOf(undo(docId, callId))).toMatchObject(unknown)
    })
  })

  it('[AG-73] [OPS-7] is audited, like the list of calls, with caller, action and document', async () => {
    const docId = 'calls-audited'
    await call('PUT', `/api/docs/${docId}`, { body: BODY })
    const undid = await write(docId, 'blk-a', 'New')
    const { callId } = (await undo(docId, undid, {}, BEN)).json
    await list(docId, '', VI)
    await logged(relay, 'document.calls_listed', '"vi"', docId)
    const lines = relay.logLines.filter((line) => line.includes(docId)).map((line) => JSON.parse(line) as { event: string })
    const who = { audit: true, workspace: relay.workspace, docId }
    const undone = { ...who, sub: 'ben', undid, callId, changed: 1, version: 3 }
    expect(lines.filter(({ event }) => event === 'document.call_undone')).toMatchObject([undone])
    expect(lines.filter(({ event }) => event === 'document.calls_listed')).toMatchObject([{ ...who, sub: 'vi' }])
  })
})
