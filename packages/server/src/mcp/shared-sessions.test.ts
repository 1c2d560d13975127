import { afterEach, describe, expect, it } from 'vitest'
import { derivedKeys } from '../kernel/derived-keys.ts'
import { systemRandom } from '../kernel/ids.ts'
import { manualTime } from '../kernel/testing/manual-time.ts'
import type { RequestContext } from './methods.ts'
import { openSession, sealSession } from './session-seal.ts'
import { createSharedSessions } from './shared-sessions.ts'
import { type McpRelay, startMcpRelay } from './testing/mcp-relay.ts'
import { MemorySessionFacts } from './testing/memory-session-facts.ts'
import { EVENTS, legacy } from './testing/requests.ts'

const [OLD, NEW] = ['old-secret', 'new-secret'].map(
  (secret) => derivedKeys([secret.repeat(4)], 'mcp session')[0] as Uint8Array,
) as [Uint8Array, Uint8Array]
const FACTS = { version: '2025-06-18', clientName: 'Tester "é" 😀' }
const ICONS = 'relay://icons'

describe('session ids that any node can read', () => {
  it('[MCP-31] an id has 128 random bits, is visible ASCII, and shows version and client name to a holder of the key', () => {
    const ids = [1, 2].map(() => sealSession(FACTS, 'ann', OLD, systemRandom))
    expect(ids[0]).toMatch(/^[!-~]+$/)
    expect(Buffer.from(ids[0]?.split('.')[0] ?? '', 'base64url')).toHaveLength(16)
    expect(ids[0]).not.toBe(ids[1])
    expect(ids.map((id) => openSession(id, 'ann', [OLD]))).toEqual([FACTS, FACTS])
    expect(Buffer.from(ids[0] ?? '', 'base64url').toString('latin1')).not.toContain('Tester')
  })

  it('[MCP-31] an id can be read while its secret is being replaced, and not afterwards', () => {
    const id = sealSession(FACTS, 'ann', OLD, systemRandom)
    expect([[NEW, OLD], [OLD, NEW], [NEW]].map((keys) => openSession(id, 'ann', keys))).toEqual([FACTS, FACTS, null])
  })

  it('[MCP-32] an id of another principal, a changed id and a made-up id cannot be read', () => {
    const id = sealSession(FACTS, 'ann', OLD, systemRandom)
    const other = sealSession(FACTS, 'ann', OLD, systemRandom)
    const [name, sealed] = id.split('.') as [string, string]
    const changed = [
      `${other.split('.')[0]}.${sealed}`,
      `${name}.${sealed.slice(0, -4)}AAAA`,
      `${name}.${sealed}AAAA`,
      name,
      `${name}.`,
      `.${sealed}`,
      `${name}.${'A'.repeat(22)}`,
      `${name}.${'A'.repeat(2_000)}`,
      '',
      'x',
    ]
    expect(openSession(id, 'ben', [OLD])).toBeNull()
    expect(changed.map((each) => openSession(each, 'ann', [OLD]))).toEqual(changed.map(() => null))
  })
})

describe('sessions of several nodes', () => {
  let relay: McpRelay
  let bus: MemorySessionFacts
  afterEach(() => relay?.[Symbol.asyncDispose]())

  /** Two listeners that act as two nodes: they share only the secret and the bus. */
  const start = async (keys: readonly (readonly Uint8Array[])[] = [[NEW], [NEW]]): Promise<void> => {
    bus = new MemorySessionFacts()
    const left = [...keys]
    relay = await startMcpRelay({ sharedSessions: () => ({ keys: left.shift() ?? [], facts: bus.node() }) })
  }
  const A = { mount: 'local' } as const
  const B = { mount: 'public' } as const
  const initialize = async (at: typeof A | typeof B = A) => {
    const params = { protocolVersion: '2025-06-18', clientInfo: { name: 'tester' } }
    return { 'mcp-session-id': String((await relay.send(legacy('initialize', params, at))).headers['mcp-session-id']) }
  }
  const subscribe = (uri: string, headers: Record<string, string>, at: typeof A | typeof B) =>
    relay.send(legacy('resources/subscribe', { uri }, { ...at, headers }))
  const get = (headers: Record<string, string>, at: typeof A | typeof B) => relay.stream({ ...at, method: 'GET', headers })

  it('[MCP-31] [MCP-37] a stream on one node carries subscriptions made on any node, before and after it began', async () => {
    await start()
    const headers = await initialize(A)
    expect((await subscribe(ICONS, headers, A)).status).toBe(200)
    const stream = await get(headers, B)
    await subscribe('relay://doc/1', headers, A)
    await subscribe('relay://doc/2', headers, B)
    await relay.send(legacy('resources/unsubscribe', { uri: ICONS }, { ...A, headers }))
    await expect
      .poll(async () => {
        for (const uri of [ICONS, 'relay://doc/1', 'relay://doc/2']) relay.content.change(uri)
        await stream.until('doc/2')
        return new Set(stream.messages.slice(-2).map(({ params }) => (params as { uri: string }).uri))
      })
      .toEqual(new Set(['relay://doc/1', 'relay://doc/2']))
  })

  it('[MCP-37] a newer GET of a session on another node ends the older stream', async () => {
    await start()
    const headers = await initialize(A)
    await subscribe(ICONS, headers, A)
    const older = await get(headers, A)
    const newer = await get(headers, B)
    await older.ended
    relay.content.change(ICONS)
    await newer.until('updated')
    expect([older.messages, newer.messages.length, relay.content.watches]).toEqual([[], 1, 1])
    const newest = await get(headers, A)
    await newer.ended
    expect(relay.content.watches).toBe(1)
    newest.close()
  })

  it('[MCP-15] a cancellation that reaches another node cancels the call', async () => {
    await start()
    const headers = { ...(await initialize(B)), accept: EVENTS }
    const params = { name: 'service_slow', _meta: { progressToken: 1 } }
    const stream = await relay.stream(legacy('tools/call', params, { ...A, headers }))
    await stream.until('notifications/progress')
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
    expect((await relay.send({ ...B, body: cancel, headers })).status).toBe(202)
    await stream.ended
    expect([relay.tools.aborted, stream.messages.length]).toEqual([1, 1])
  })

  it('[MCP-33] [MCP-34] a session closed on one node is closed on every node, and its stream ends', async () => {
    await start()
    const headers = await initialize(A)
    const stream = await get(headers, A)
    expect((await relay.send({ ...B, method: 'DELETE', headers })).status).toBe(204)
    await stream.ended
    for (const at of [A, B]) {
      expect((await relay.send(legacy('ping', undefined, { ...at, headers }))).status).toBe(404)
      expect((await relay.send({ ...at, method: 'GET', headers })).status).toBe(404)
      expect((await relay.send({ ...at, method: 'DELETE', headers })).status).toBe(404)
    }
  })

  it('[MCP-38] at most 100 subscriptions of a session are accepted over all nodes together', async () => {
    await start()
    const headers = await initialize(A)
    for (let i = 0; i < 100; i++) await subscribe(`relay://doc/${i}`, headers, i % 2 === 0 ? A : B)
    for (const at of [A, B]) expect((await subscribe(ICONS, headers, at)).json).toMatchObject({ error: { data: { limit: 100 } } })
    expect((await subscribe('relay://doc/7', headers, A)).json).toMatchObject({ result: {} })
  })

  it('[MCP-36] a log level set on one node applies on another', async () => {
    await start()
    const headers = await initialize(A)
    const levelAt = async (at: typeof A | typeof B) => {
      await relay.send(legacy('tools/call', { name: 'service_look' }, { ...at, headers }))
      return (relay.tools.calls.at(-1)?.context as RequestContext | undefined)?.session?.logLevel
    }
    await relay.send(legacy('logging/setLevel', { level: 'error' }, { ...A, headers }))
    expect([await levelAt(B), await levelAt(A)]).toEqual(['error', 'error'])
    await relay.send(legacy('logging/setLevel', { level: 'debug' }, { ...B, headers }))
    expect([await levelAt(A), await levelAt(B)]).toEqual(['debug', 'debug'])
  })

  it('[MCP-32] [LIFE-27] a session is served while the bus is down; new subscriptions work once it is back', async () => {
    await start()
    const headers = await initialize(A)
    bus.isUp = false
    expect((await relay.send(legacy('ping', undefined, { ...B, headers }))).status).toBe(200)
    expect((await relay.send(legacy('tools/list', undefined, { ...B, headers }))).status).toBe(200)
    expect((await subscribe(ICONS, headers, B)).json).toMatchObject({ error: { code: -32_602 } })
    const stream = await get(headers, A)
    bus.isUp = true
    await subscribe(ICONS, headers, B)
    bus.comeBack()
    await expect
      .poll(() => {
        relay.content.change(ICONS)
        return stream.messages.length
      })
      .toBeGreaterThan(0)
  })

  it('[MCP-32] a request that names a session of nodes with another secret is served without a session', async () => {
    await start([[OLD], [NEW]])
    const headers = await initialize(A)
    expect((await subscribe(ICONS, headers, A)).json).toMatchObject({ result: {} })
    expect((await subscribe(ICONS, headers, B)).json).toMatchObject({ error: { code: -32_602 } })
    expect((await relay.send({ ...B, method: 'DELETE', headers })).status).toBe(204)
    expect((await relay.send(legacy('ping', undefined, { ...A, headers }))).status).toBe(200)
  })

  it('[MCP-34] a session that a node forgot to make room is restored by its next request', async () => {
    bus = new MemorySessionFacts()
    const { clock } = manualTime()
    const limits = { sessions: 3, perPrincipal: 2, closedIds: 10 }
    const sessions = createSharedSessions({ clock, random: systemRandom, keys: [NEW], facts: bus.node(), limits })
    const ann = { key: 'ann', principalKey: 'ann', workspaceId: 'w' }
    const first = sessions.open(ann, FACTS)
    await first.shared?.subscribe(ICONS, 100)
    for (let i = 0; i < 5; i++) sessions.open(ann, FACTS)
    expect(sessions.size).toBe(2)
    const found = await sessions.find(first.id, ann)
    expect(found).toMatchObject({ kind: 'live', session: { ...FACTS, subscriptions: new Set([ICONS]) } })
    expect(await sessions.find(first.id, { ...ann, key: 'ben' })).toEqual({ kind: 'none' })
  })

  it('[LIFE-27] after an outage of the bus a node reads its 1,000 sessions again, a bounded number at a time', async () => {
    bus = new MemorySessionFacts()
    const facts = bus.node()
    const asked = new Set<string>()
    let open = 0
    let most = 0
    const counted = {
      ...facts,
      async read(name: string) {
        most = Math.max(most, ++open)
        asked.add(name)
        await new Promise((resolve) => setImmediate(resolve))
        open--
        return facts.read(name)
      },
    }
    const { clock } = manualTime()
    const sessions = createSharedSessions({ clock, random: systemRandom, keys: [NEW], facts: counted })
    const streamOf = { watch: { add() {}, remove() {}, close() {} }, close() {} }
    for (let i = 0; i < 1_000; i++)
      sessions.open({ key: `k${i}`, principalKey: `k${i}`, workspaceId: 'w' }, FACTS).stream = streamOf
    bus.comeBack()
    await expect.poll(() => asked.size).toBe(1_000)
    expect(most).toBeLessThanOrEqual(50)
  })
})
