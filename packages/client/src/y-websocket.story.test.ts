import type { RelayError } from './errors.ts'
import { relayWebSocket } from './y-websocket.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { type RelayUnderTest, startRelayUnderTest, until } from '../../server/src/test/relay-under-test.ts'

const ANN = { sub: 'ann', role: 'member' }
let server: RelayUnderTest
const providers: WebsocketProvider[] = []
beforeAll(async () => {
  server = await startRelayUnderTest()
})
afterEach(() => {
  for (const provider of providers.splice(0)) provider.destroy()
})
afterAll(() => server?.[Symbol.asyncDispose]())

let made = 0
async function newDocument(more: object = {}): Promise<string> {
  const id = `y-${++made}`
  await server.rest(ANN).putDocument(id, { name: id, ...more })
  return id
}
interface Person {
  readonly who?: object
  readonly token?: (request: { readonly fresh: boolean }) => string
  /** One WebSocket class for several providers. */
  readonly polyfill?: typeof WebSocket
}
function provide(id: string, { who = ANN, token = () => server.token(who), polyfill }: Person = {}) {
  const errors: RelayError[] = []
  const asked: boolean[] = []
  const own = relayWebSocket({
    token: (request) => {
      asked.push(request.fresh)
      return token(request)
    },
    onError: (error) => errors.push(error),
  })
  const ydoc = new Y.Doc()
  const provider = new WebsocketProvider(server.wsUrl, id, ydoc, { WebSocketPolyfill: polyfill ?? own, disableBc: true })
  providers.push(provider)
  const closed: { code: number; reason: string }[] = []
  provider.on('closed', (event) => closed.push(event))
  return { provider, ydoc, errors, asked, closed, map: ydoc.getMap<unknown>('fields') }
}

describe('y-websocket through relayWebSocket', () => {
  it('[WS-31] two unmodified providers edit one document together, see each other, and the relay stores it', async () => {
    const id = await newDocument()
    const [one, two] = [provide(id), provide(id)]
    await until('both to be synced', () => one.provider.synced && two.provider.synced)
    one.map.set('a', { name: 'a', value: '1' })
    two.map.set('b', { name: 'b', value: '2' })
    one.provider.awareness.setLocalStateField('user', { name: 'Ann' })
    await until('both edits', () => one.map.size === 2 && two.map.size === 2)
    await until('the presence', () => two.provider.awareness.getStates().get(one.ydoc.clientID)?.['user'] !== undefined)
    await until('the body', async () => {
      const body = (await server.rest(ANN).getDocument(id)) as { fields?: { fields: object } }
      return Object.keys(body.fields?.fields ?? {}).length === 2
    })
  })

  it('[WS-35] a paste that is longer than a message goes in chunks', async () => {
    const id = await newDocument()
    const [one, two] = [provide(id), provide(id)]
    await until('both to be synced', () => one.provider.synced && two.provider.synced)
    const value = 'x'.repeat(1_500_000)
    one.map.set('long', { name: 'long', value })
    await until('the paste', () => (two.map.get('long') as { value?: string })?.value?.length === value.length)
  })

  it('[WS-58] after a restart of the relay a provider reconnects and sends what was typed meanwhile', async () => {
    const id = await newDocument()
    const one = provide(id)
    await until('the sync', () => one.provider.synced)
    await server.kill()
    await until('the loss', () => !one.provider.wsconnected)
    one.map.set('meanwhile', { name: 'meanwhile', value: '' })
    await server.restart()
    const two = provide(id)
    await until('the edit', () => two.map.has('meanwhile'), 20_000)
  })

  it('[WS-58] a refused token is renewed once; the provider then goes on, or stops and emits `closed`', async () => {
    const id = await newDocument()
    const expired = () => server.token({ ...ANN, expiresInSec: -60 })
    const renewed = provide(id, { token: ({ fresh }) => (fresh ? server.token(ANN) : expired()) })
    await until('the sync', () => renewed.provider.synced)
    expect(renewed.asked).toEqual([false, true])
    const refused = provide(id, { token: expired })
    await until('the stop', () => refused.closed.length > 0)
    expect([refused.closed[0]?.code, refused.asked, refused.provider.shouldConnect]).toEqual([4401, [false, true], false])
  })

  it('[WS-69] two documents whose token has expired both go on with a fresh one, also when they share a class', async () => {
    let refused = 0
    const polyfill = relayWebSocket({
      async token({ fresh }) {
        // Neither provider goes on before the tokens of both were refused.
        if (fresh) await until('both refusals', () => refused === 2)
        return server.token(fresh ? ANN : { ...ANN, expiresInSec: -60 })
      },
      onError: () => refused++,
    })
    const ids = [await newDocument(), await newDocument()] as const
    const [one, two] = [provide(ids[0], { polyfill }), provide(ids[1], { polyfill })]
    await until('the ends of the waiting', () => [one, two].every(({ provider, closed }) => provider.synced || closed.length > 0))
    expect([one.closed, two.closed]).toEqual([[], []])
  })

  it('[WS-69] a provider alone in a document hears its own presence, so it does not reconnect after 30 s', async () => {
    const { provider } = provide(await newDocument())
    await until('the sync', () => provider.synced)
    const lost: object[] = []
    provider.on('connection-close', () => lost.push({ heardAt: provider.wsLastMessageReceived }))
    // Simulates 30 s without a message. The provider checks every 3 s, and its awareness renews the presence every 15 s.
    provider.wsLastMessageReceived = 0
    provider.awareness.setLocalState(provider.awareness.getLocalState())
    await until('a message or the loss', () => provider.wsLastMessageReceived > 0 || lost.length > 0)
    expect(lost).toEqual([])
  })

  it('[WS-21] a provider stops at a document that does not exist, may not be read, or is deleted', async () => {
    const unknown = provide('nowhere')
    const forbidden = provide(await newDocument(), { who: { sub: 'eve', role: 'member' } })
    const id = await newDocument()
    const deleted = provide(id)
    await until('the sync', () => deleted.provider.synced)
    await server.rest(ANN).deleteDocument(id)
    const all = [unknown, forbidden, deleted]
    await until('the stops', () => all.every(({ closed }) => closed.length > 0))
    expect(all.map(({ closed }) => closed[0])).toEqual([
      { code: 4404, reason: 'ERR_UNKNOWN_DOC' },
      { code: 4404, reason: 'ERR_VIEW_FORBIDDEN' },
      { code: 4404, reason: 'ERR_DELETED' },
    ])
  })

  it('[WS-27] a refused edit is passed to onError', async () => {
    const vic = provide(await newDocument({ sharedWith: [{ userId: 'vic', permission: 'view' }] }), {
      who: { sub: 'vic', role: 'member' },
    })
    await until('the sync', () => vic.provider.synced)
    vic.map.set('x', 1)
    await until('the error', () => vic.errors.some(({ code }) => code === 'ERR_EDIT_FORBIDDEN'))
  })
})
