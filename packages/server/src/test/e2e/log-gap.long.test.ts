import { TAG } from '@docrelay/protocol/frames'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { clientState, gapStore, gapStoreOnPostgres } from '../gap-store.ts'
import { mcpAgent } from '../mcp-agent.ts'
import { type RelayUnderTest, saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { storedRows } from '../store-file.ts'
import { storesUnderTest } from '../stores-under-test.ts'
import { openWire, type WireClient } from '../wire-client.ts'

const stores = await storesUnderTest()
const SOUND = ['before-0', 'behind-0', 's1']
const WHOLE = ['after-0', 'before-0', 'behind-0', 'lost-0', 's1']

describe.each(stores)('a document with a gap in its log from an earlier release, on $name', ({ env, remove }) => {
  let relay: RelayUnderTest
  let dataDir = ''
  const opened: WireClient[] = []
  beforeAll(async () => {
    const url = env['RELAY_STORAGE_URL']
    dataDir = url === undefined ? gapStore() : await gapStoreOnPostgres(url)
    relay = await startRelayUnderTest({
      dataDir,
      mcp: 'public',
      env: { RELAY_WRITES_PER_SEC: '0', RELAY_ENFORCE_PRIVATE_DOCS: 'false', ...env },
    })
  })
  afterAll(async () => {
    await relay?.[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
    await remove()
  })

  const authorized = (more: object = {}) => ({ headers: { authorization: `Bearer ${relay.token()}` }, ...more })
  async function enter(id: string): Promise<WireClient> {
    const client = await openWire(relay)
    opened.push(client)
    await client.enter(relay.token(), id, ['ack', 'joined'])
    await client.acknowledged()
    return client
  }
  const toldLevels = (client: WireClient) => client.jsonOf(TAG.joined).map(({ level }) => level)
  const shapesOf = (doc: Y.Doc) => [...doc.getMap('shapes:canvas').keys()].sort()
  async function shapesOverRest(id: string): Promise<string[]> {
    const answer = await relay.fetch(`/api/docs/${id}`, authorized())
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { pages: { shapes: { id: string }[] }[] }
    return body.pages.flatMap(({ shapes }) => shapes.map((shape) => shape.id)).sort()
  }
  const put = (id: string) =>
    relay.fetch(`/api/docs/${id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${relay.token()}`, 'content-type': 'application/json' },
      body: '{"name":"over it"}',
    })
  /** Sends an update and returns the codes of the errors that answer it. */
  async function refusalOf(client: WireClient, update: Uint8Array, subType: 'update' | 'step2' = 'update'): Promise<unknown[]> {
    const errors = client.errors().length
    client[subType](update)
    await client.acknowledged()
    return client
      .errors()
      .slice(errors)
      .map(({ code }) => code)
  }

  it('[LIFE-5] a document with a log gap can be joined and shows the content before the gap', async () => {
    const client = await enter('one-gap')
    expect(shapesOf(client.doc)).toEqual(SOUND)
    expect(client.doc.store.pendingStructs).toBeNull()
  })

  it('[LIFE-5] [WS-61] a document with a log gap is joined at level view, also by its owner', async () => {
    expect(toldLevels(await enter('one-gap'))).toEqual(['view'])
  })

  it('[LIFE-5] a read over REST of a document with a log gap includes edits that only the log has', async () => {
    expect(await shapesOverRest('one-gap')).toEqual(SOUND)
  })

  it('[LIFE-5] [REST-14] a PUT on a document with a log gap answers 409 NEEDS_REPAIR', async () => {
    const answer = await put('one-gap')
    expect([answer.status, await answer.json()]).toEqual([
      409,
      expect.objectContaining({ errorCode: 'NEEDS_REPAIR', docId: 'one-gap' }),
    ])
    expect(await shapesOverRest('one-gap')).toEqual(SOUND)
  })

  it('[LIFE-5] [TOOL-9] tools read a document with a log gap, and their writes are refused with ERR_NEEDS_REPAIR', async () => {
    const agent = await mcpAgent(relay.mcpUrl, relay.token())
    await agent.call('get_outline', { docId: 'one-gap', pageId: 'one' })
    const refused = await agent.refused('set_prose', { docId: 'one-gap', pageId: 'one', content: 'new' })
    expect(refused).toMatchObject({ code: 'ERR_NEEDS_REPAIR', docId: 'one-gap' })
  })

  it('[LIFE-5] [WS-27] edits over the socket answer ERR_EDIT_FORBIDDEN, and the connection stays open', async () => {
    const client = await enter('one-gap')
    expect(await refusalOf(client, client.put('new'))).toEqual(['ERR_EDIT_FORBIDDEN'])
    const behindTheGap = new Y.Doc()
    Y.applyUpdate(behindTheGap, clientState('one-gap'))
    const before = Y.encodeStateVector(behindTheGap)
    behindTheGap.getMap('fields').set('later', { name: 'later' })
    expect(await refusalOf(client, Y.encodeStateAsUpdate(behindTheGap, before))).toEqual(['ERR_EDIT_FORBIDDEN'])
    client.step1()
    expect((await client.next(TAG.sync)).length).toBeGreaterThan(0)
  })

  it('[LIFE-5] [WS-30] a step2 that adds nothing is accepted', async () => {
    const client = await enter('one-gap')
    expect(await refusalOf(client, Y.encodeStateAsUpdate(client.doc), 'step2')).toEqual([])
  })

  it('[LIFE-5] updates that close a log gap are refused from a caller with the right to read only', async () => {
    const client = await openWire(relay)
    await client.enter(relay.token({ sub: 'ves', role: 'viewer' }), 'two-gaps', ['ack'])
    expect(await refusalOf(client, clientState('two-gaps'))).toEqual(['ERR_EDIT_FORBIDDEN'])
    expect(shapesOf((await enter('two-gaps')).doc)).not.toContain('lost-0')
  })

  it('[LIFE-5] a document with a log gap is unchanged after a kill and after a stop', async () => {
    await relay.kill()
    await relay.restart()
    expect(await shapesOverRest('one-gap')).toEqual(SOUND)
    expect((await put('one-gap')).status).toBe(409)
    expect(await relay.stop()).toBe(0)
    await relay.restart()
    expect(shapesOf((await enter('one-gap')).doc)).toEqual(SOUND)
    expect((await put('one-gap')).status).toBe(409)
  })

  it('[LIFE-5] when a client sends the missing updates, every client gets them and may edit again', async () => {
    const reader = await enter('one-gap')
    const author = await openWire(relay)
    Y.applyUpdate(author.doc, clientState('one-gap'))
    author.following = true
    author.auth(relay.token(), ['ack'])
    author.join('one-gap')
    await until('the broadcast of what was lost', () => shapesOf(reader.doc).includes('after-0'))
    expect(shapesOf(reader.doc)).toEqual(WHOLE)
    await until('the ack', () => author.acks().length > 0)
    expect(author.errors()).toEqual([])
    expect(toldLevels(reader)).toEqual(['view', 'owner'])
    expect(await refusalOf(reader, reader.put('reader'))).toEqual([])
    expect(await shapesOverRest('one-gap')).toEqual(WHOLE)
    const late = await enter('one-gap')
    expect(await refusalOf(late, late.put('late'))).toEqual([])
    expect((await put('one-gap')).status).toBe(200)
  })

  it('[LIFE-5] a log gap that was closed stays closed after a kill', async () => {
    await relay.kill()
    await relay.restart()
    const client = relay.sync('one-gap')
    await saved(client)
    client.doc.getMap('fields').set('afterwards', { name: 'afterwards' })
    await saved(client)
    expect([...client.doc.getMap('fields').keys()]).toContain('afterwards')
  })

  it('[LIFE-5] a document with two log gaps is closed by two clients, and can be edited once both are closed', async () => {
    const whole = new Y.Doc()
    Y.applyUpdate(whole, clientState('two-gaps'))
    const first = await enter('two-gaps')
    const second = await enter('two-gaps')
    const [one, two] = lostUpdates(whole, first.doc)
    expect(await refusalOf(first, one as Uint8Array)).toEqual([])
    await until('the broadcast', () => shapesOf(second.doc).some((id) => id.startsWith('lost')))
    expect((await put('two-gaps')).status).toBe(409)
    expect(await refusalOf(second, two as Uint8Array)).toEqual([])
    expect(await shapesOverRest('two-gaps')).toEqual(shapesOf(whole))
    expect((await put('two-gaps')).status).toBe(200)
  })
})

it('[LIFE-22] [LIFE-5] a document with a log gap can be captured, restored and deleted, and its log is kept aside with the new document', async () => {
  const folder = gapStore()
  await using other = await startRelayUnderTest({ dataDir: folder })
  const call = async (method: string, path: string) => {
    const answer = await other.fetch(`/api/docs/${path}`, { method, headers: { authorization: `Bearer ${other.token()}` } })
    return { status: answer.status, text: await answer.text() }
  }
  expect((await call('POST', 'one-gap/recovery/capture')).status).toBe(200)
  const { recoveryPoints } = JSON.parse((await call('GET', 'one-gap/recovery')).text) as { recoveryPoints: { id: string }[] }
  const restored = await call('POST', `one-gap/recovery/${recoveryPoints[0]?.id}/restore`)
  expect(restored.status).toBe(200)
  expect((await call('GET', 'one-gap')).status).toBe(404)
  expect(storedRows(other, 'select count(*) as rows from set_aside')).toEqual([{ rows: 4 }])
  expect((await call('DELETE', 'two-gaps')).status).toBe(204)
  rmSync(folder, { recursive: true, force: true })
})

/** Returns, for each of the two clients of `two-gaps`, an update with only its own content that `known` lacks. */
function lostUpdates(whole: Y.Doc, known: Y.Doc): Uint8Array[] {
  const vector = Y.decodeStateVector(Y.encodeStateVector(known))
  const clients = [...Y.decodeStateVector(Y.encodeStateVector(whole))].filter(
    ([client, clock]) => (vector.get(client) ?? 0) < clock,
  )
  return clients.map(([client]) => {
    const but = new Map(Y.decodeStateVector(Y.encodeStateVector(whole)))
    but.set(client, vector.get(client) ?? 0)
    return Y.encodeStateAsUpdate(whole, encodeVector(but))
  })
}

function encodeVector(vector: ReadonlyMap<number, number>): Uint8Array {
  const bytes: number[] = []
  const put = (value: number): void => {
    let rest = value
    for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
    bytes.push(rest)
  }
  put(vector.size)
  for (const [client, clock] of vector) {
    put(client)
    put(clock)
  }
  return Uint8Array.from(bytes)
}
