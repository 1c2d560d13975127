import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mcpSession } from '../mcp-session.ts'
import { rawHttp } from '../raw-http.ts'
import { saved } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'

let relay: SharedRelay
beforeAll(async () => {
  relay = await sharedRelay()
})
afterAll(() => relay?.[Symbol.asyncDispose]())

const BODY = {
  name: 'Shared',
  richTextPages: [{ id: 'p', name: 'P', order: 0, content: '<p id="blk-a">Words a</p><p id="blk-b">Words b</p>' }],
}
const ANN = { sub: 'ann', role: 'member' } as const

let documents = 0
/** Runs a test on a stored document, and on a document that a person has open. */
async function coldAndLive(test: (docId: string) => Promise<void>): Promise<void> {
  for (const isLive of [false, true]) {
    const docId = `callers-${++documents}`
    await relay.rest(ANN).putDocument(docId, BODY)
    const person = isLive ? relay.sync(docId, ANN) : null
    if (person !== null) await saved(person)
    await test(docId)
    person?.destroy()
  }
}

type Session = Awaited<ReturnType<typeof mcpSession>>

/** Opens a new session of the same client of Ann. */
const session = (caller?: string): Promise<Session> => mcpSession(relay.mcpUrl, relay.token(ANN), 'One client', caller)

/** Sets the words of a block, and returns the id of the call. */
async function set(by: Session, docId: string, id: string, content: string): Promise<string> {
  return String((await by('set_prose', { docId, pageId: 'p', id, content }))['callId'])
}

async function wordsOf(docId: string): Promise<string> {
  const { richTextPages } = (await relay.rest(ANN).getDocument(docId)) as {
    readonly richTextPages: readonly { readonly content: string }[]
  }
  return richTextPages.map(({ content }) => content.replaceAll(/<[^>]*>/g, ' ')).join()
}

describe('undo of the last calls where one principal has several agents', () => {
  it('[AG-68] undoes calls of its own session, also when another session of the same client wrote later', async () => {
    await coldAndLive(async (docId) => {
      const [first, second] = [await session(), await session()]
      const own = await set(first, docId, 'blk-a', 'First')
      await set(second, docId, 'blk-b', 'Second')
      expect(await first('undo', { docId, last: 1 })).toMatchObject({ undone: [own], changed: 1 })
      expect(await wordsOf(docId)).toMatch(/Words a .* Second/)
    })
  })

  it('[AG-72] [AG-68] the newest calls that a refusal lists are those of the session alone', async () => {
    await coldAndLive(async (docId) => {
      const [first, second] = [await session(), await session()]
      const own = await set(first, docId, 'blk-a', 'First')
      await set(second, docId, 'blk-b', 'Second')
      const unknown = await first('undo', { docId, callId: 'call-000000000000' })
      expect(unknown).toMatchObject({ code: 'ERR_CALL_NOT_FOUND', calls: [{ callId: own }] })
      expect(unknown['calls']).toHaveLength(1)
    })
  })

  it('[AG-68] a new session has no last calls, is told so, and can undo calls of an earlier session by callId', async () => {
    await coldAndLive(async (docId) => {
      const before = await set(await session(), docId, 'blk-a', 'Before')
      const again = await session()
      expect(await again('undo', { docId, last: 1 })).toMatchObject({
        ...{ code: 'ERR_CALL_NOT_FOUND', callId: null, calls: [] },
        message: expect.stringContaining('Undo any other by its callId'),
      })
      expect(await again('undo', { docId, callId: before })).toMatchObject({ undone: [before] })
      expect(await wordsOf(docId)).toMatch(/Words a .* Words b/)
    })
  })

  it('[AG-68] [AG-18] an agent that names itself finds its last calls in every session, and none of another name', async () => {
    await coldAndLive(async (docId) => {
      const own = await set(await session('writer'), docId, 'blk-a', 'Named')
      await set(await session('other'), docId, 'blk-b', 'Other')
      expect(await (await session('writer'))('undo', { docId, last: 5 })).toMatchObject({ undone: [own] })
      expect(await wordsOf(docId)).toMatch(/Words a .* Other/)
    })
  })

  it('[AG-66] [AG-73] neither the list of calls nor an answer shows which session made a call', async () => {
    const docId = `callers-${++documents}`
    await relay.rest(ANN).putDocument(docId, BODY)
    const first = await session()
    await set(first, docId, 'blk-a', 'First')
    const { json } = await rawHttp(relay, { as: ANN })('GET', `/api/v1/docs/${docId}/calls`)
    const [listed] = json['calls'] as readonly object[]
    const members = ['at', 'by', 'callId', 'changed', 'removed', 'serverVersion', 'tool', 'undoable']
    expect(Object.keys(listed ?? {}).sort()).toEqual(members)
    const refused = await first('undo', { docId, callId: 'call-000000000000' })
    expect((refused['calls'] as readonly object[]).map((call) => Object.keys(call).sort())).toEqual([['at', 'callId', 'tool']])
  })
})
