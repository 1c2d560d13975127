import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyAwarenessUpdate, Awareness } from 'y-protocols/awareness'
import * as Y from 'yjs'
import { type McpAgent, mcpAgent } from '../mcp-agent.ts'
import { saved, startRelayUnderTest, until } from '../relay-under-test.ts'
import { type SharedRelay, sharedRelay } from '../shared-relay.ts'
import { encodePresence, openWire, pause, type WireClient } from '../wire-client.ts'
import { patience } from '../../kernel/testing/patience.ts'

const ANN = { sub: 'ann', role: 'member' }

let relay: SharedRelay
let agent: McpAgent
beforeAll(async () => {
  relay = await sharedRelay()
  agent = await mcpAgent(relay.mcpUrl, relay.token(ANN))
})
afterAll(() => relay?.[Symbol.asyncDispose]())

async function signedIn(sub: string, role = 'member'): Promise<WireClient> {
  const client = await openWire(relay)
  client.auth(relay.token({ sub, role }))
  await client.next(TAG.authResponse)
  return client
}

const enter = async (docId: string, sub = 'ann', role = 'member') =>
  (await openWire(relay)).enter(relay.token({ sub, role }), docId, ['ack'])

async function created(name: string) {
  const { id, prosePageId } = await agent.call('create_document', { name })
  return { docId: String(id), pageId: String(prosePageId) }
}

describe.concurrent('document events of tools', () => {
  it('[CONC-12] a tool write with an effect is one document event for all readers, as over REST', async () => {
    const reader = await signedIn('ann')
    const stranger = await signedIn('eve')
    const { docId, pageId } = await created('Events')
    const events = () =>
      reader.jsonOf(TAG.docEvent).flatMap((event) => {
        const { serverVersion, name } = (event['metadata'] ?? {}) as { readonly serverVersion?: number; readonly name?: string }
        return event['docId'] === docId ? [[event['eventType'], serverVersion, name]] : []
      })
    const at = { docId, pageId }
    const writes = async () => {
      await agent.call('set_prose', { ...at, content: 'one\n\ntwo' })
      await agent.call('delete_block', { ...at, anchor: 'two' })
      await agent.call('set_fields', { docId, fields: [{ name: 'a', value: String(events().length) }] })
      await agent.call('set_prose', { ...at, content: 'never', dryRun: true })
      await agent.call('rename_document', { docId, name: 'Events' })
      await agent.refused('delete_block', { ...at, anchor: 'not there' })
      await agent.refused('rename_document', { docId, name: 'x', expectedVersion: 1 })
    }
    await writes()
    const joined = await enter(docId)
    const versionOfLast = async () => (await agent.call('get_document', { docId })).serverVersion as number
    await writes()
    const version = await versionOfLast()
    // A body is stored after a while, which is not a change of the document.
    joined.socket.close()
    await joined.closed
    await pause(3_500)
    expect(await versionOfLast()).toBe(version)
    await agent.call('delete_document', { docId })
    await until('the deletion', () => events().at(-1)?.[0] === 'deleted')
    const updates = Array.from({ length: version - 1 }, (_, i) => ['updated', i + 2, 'Events'])
    expect(events()).toEqual([['created', 1, 'Events'], ...updates, ['deleted', undefined, undefined]])
    expect(version).toBe(7)
    expect(stranger.jsonOf(TAG.docEvent)).toEqual([])
    for (const client of [reader, stranger]) client.socket.close()
  })
})

describe.concurrent('presence of agents', () => {
  /** Reads awareness with the library of all editors. With `echo` it sends back everything that it gets, as some editors do. */
  function watch(client: WireClient, echo = false) {
    const awareness = new Awareness(new Y.Doc())
    awareness.setLocalState(null)
    const agents = () =>
      [...awareness.getStates()].flatMap(([id, state]) =>
        (state as { user?: { kind?: string } }).user?.kind === 'agent' ? [{ id, user: (state as { user: object }).user }] : [],
      )
    client.socket.on('message', (data: Buffer) => {
      if (data[0] !== TAG.awareness) return
      const update = client.present().at(-1) ?? []
      applyAwarenessUpdate(awareness, encodePresence(update), 'relay')
      if (echo) client.presence(...update)
    })
    return { agents, end: () => awareness.destroy() }
  }

  it('[PRES-1] [PRES-2] [PRES-3] each principal has one agent presence, from its first update to 8 s after its last write', async () => {
    const { docId, pageId } = await created('Presence')
    const at = { docId, pageId }
    await agent.call('set_prose', { ...at, content: 'cold' })
    const host = await mcpAgent(relay.mcpUrl, relay.token({ sub: 'olga', role: 'owner' }))
    const ann = await enter(docId)
    const echoing = await enter(docId)
    const seen = watch(ann)
    const echoed = watch(echoing, true)
    await agent.call('get_prose', at)
    await agent.call('set_prose', { ...at, content: 'never', dryRun: true })
    await agent.refused('delete_block', { ...at, anchor: 'not there' })
    await pause(200)
    expect(ann.present()).toEqual([])
    const frames = ann.frames.length
    await agent.call('set_prose', { ...at, content: 'live' })
    await until('the delta', () => ann.doc.getXmlFragment(`prose:${pageId}`).toString().includes('live'))
    const tags = ann.frames.slice(frames).map((frame) => frame[0])
    expect(tags.indexOf(TAG.awareness)).toBeLessThan(tags.indexOf(TAG.sync))
    expect(tags).toContain(TAG.awareness)
    await host.call('set_prose', { ...at, content: 'by another' })
    const lastMs = performance.now()
    await agent.call('set_prose', { ...at, content: 'again', replace: true })
    await until('both agents', () => seen.agents().length === 2 && echoed.agents().length === 2)
    const where = { page: pageId, selection: [expect.stringMatching(/^blk-/)], callId: expect.stringMatching(/^call-/) }
    expect(seen.agents().map(({ user }) => user)).toEqual([
      { id: 'ann', name: 'Agent', color: expect.stringMatching(/^#[0-9a-f]{6}$/), kind: 'agent', ...where },
      { id: 'olga', name: 'Agent', color: expect.stringMatching(/^#[0-9a-f]{6}$/), kind: 'agent', ...where },
    ])
    expect(new Set(seen.agents().map(({ id }) => id)).size).toBe(2)
    const late = await enter(docId)
    const arrived = watch(late)
    await until('one who comes late to see them', () => late.present().flat().length === 2)
    await until('the agents to go', () => seen.agents().length === 0 && echoed.agents().length === 0, 12_000)
    // The last write was later than that moment.
    expect(performance.now() - lastMs).toBeGreaterThan(7_900)
    await pause(500)
    expect(
      ann
        .present()
        .flat()
        .filter(({ state }) => state === null),
    ).toHaveLength(2)
    for (const one of [seen, echoed, arrived]) one.end()
    for (const client of [ann, echoing, late]) client.socket.close()
  })

  it('[PRES-3] the presence of an agent ends when the relay stops', async () => {
    await using own = await startRelayUnderTest({ mcp: 'local' })
    const member = await mcpAgent(own.mcpUrl, own.token(ANN))
    const { id, prosePageId } = await member.call('create_document', {})
    const ann = await (await openWire(own)).enter(own.token(ANN), String(id), ['ack'])
    await member.call('set_prose', { docId: id, pageId: prosePageId, content: 'live' })
    await until('the agent', () => ann.present().length > 0)
    const ended = own.stop()
    await until('the agent to go', () => ann.present().flat().at(-1)?.state === null)
    expect(await ended).toBe(0)
    expect(
      ann
        .present()
        .flat()
        .map(({ client }) => client),
    ).toHaveLength(2)
  })

  it('[PRES-3] an agent is no participant: when the last person leaves, a recovery point is taken', async () => {
    const { docId, pageId } = await created('Participants')
    const ann = await enter(docId)
    await ann.write(ann.put('typed'))
    await agent.call('set_prose', { docId, pageId, content: 'live' })
    const points = async () => (await relay.rest(ANN).recoveryPoints(docId)).length
    const before = await points()
    ann.socket.close()
    await ann.closed
    await until('the point of who left last', async () => (await points()) > before)
    const after = await points()
    await agent.call('set_prose', { docId, pageId, content: 'nobody is there' })
    await pause(1_000)
    expect(await points()).toBe(after)
  })
})

it('[CONC-4] [CONC-5] [CONC-8] twenty people and five agents who edit one document at once all keep every word', {
  timeout: patience(40_000),
}, async () => {
  const { docId, pageId } = await created('Hot')
  const blocks = Array.from({ length: 5 }, (_, i) => `<p id="blk-${i}">begin</p>`).join('')
  await agent.call('set_prose', { docId, pageId, content: blocks, format: 'html' })
  const people = Array.from({ length: 20 }, () => ({ client: relay.sync(docId, ANN), text: new Y.XmlText(), words: 0 }))
  await saved(...people.map(({ client }) => client))
  let running = true
  const expected: string[] = []
  const typing = people.map(async (person, i) => {
    const paragraph = new Y.XmlElement('paragraph')
    paragraph.insert(0, [person.text])
    person.client.doc.getXmlFragment(`prose:${pageId}`).push([paragraph])
    while (running) {
      const word = `[${i}.${person.words++}]`
      expected.push(word)
      person.text.insert(person.text.length, word)
      await pause(80 + i)
    }
  })
  const last = new Map<string, string>()
  const writing = Array.from({ length: 5 }, async (_, i) => {
    for (let n = 0; running; n++) {
      const [id, word] = [`blk-${i}`, `(${i}.${n})`]
      if (n % 2 === 0) last.set(id, word)
      else expected.push(word)
      await agent.call(n % 2 === 0 ? 'set_prose' : 'insert_block', { docId, pageId, id, content: word })
    }
  })
  await until('enough words', () => expected.length > 400, 20_000)
  running = false
  await Promise.all([...typing, ...writing])
  await saved(...people.map(({ client }) => client))
  const { richTextPages } = (await relay.rest(ANN).getDocument(docId)) as {
    readonly richTextPages: { readonly content: string }[]
  }
  const stored = richTextPages[0]?.content ?? ''
  const times = (word: string) => stored.split(word).length - 1
  expect(expected.flatMap((word) => (times(word) === 1 ? [] : [`${word} ${times(word)} times`]))).toEqual([])
  for (const [id, word] of last) expect(stored).toContain(`id="${id}">${word}<`)
  const pages = () => people.map(({ client }) => client.doc.getXmlFragment(`prose:${pageId}`).toString())
  await until('all to show the same', () => new Set(pages()).size === 1)
  for (const { client } of people) client.destroy()
})
