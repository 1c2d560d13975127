import { chunkFrames, syncFrame } from '@docrelay/protocol/codec'
import { SYNC, TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { type RelayUnderTest, startRelayUnderTest, until } from '../relay-under-test.ts'
import { metric, openWire, pause, storedKeys, type WireClient } from '../wire-client.ts'
import { stopwatch } from '../../kernel/testing/patience.ts'

const PER_SEC = 20
const BURST = 40
const MAX_DOC_BYTES = 100_000

let relay: RelayUnderTest
beforeAll(async () => {
  const env = {
    RELAY_TENANCY_MODE: 'shared',
    RELAY_MAX_WS_CONNECTIONS_PER_WORKSPACE: '100',
    RELAY_WRITES_PER_SEC: String(PER_SEC),
    RELAY_WRITES_BURST: String(BURST),
    RELAY_MAX_DOC_BYTES: String(MAX_DOC_BYTES),
    RELAY_WS_BUFFER_BYTES: '2097152',
  }
  relay = await startRelayUnderTest({ env })
})
afterAll(() => relay?.[Symbol.asyncDispose]())

let workspaces = 0
/** Makes a workspace with a write bucket of its own and one document `d`. */
async function newWorkspace(body: Record<string, unknown> = {}): Promise<string> {
  const id = `w${++workspaces}`
  await relay.rest({ workspace: id }).putDocument('d', body)
  return id
}

/**
 * Returns the most tokens that a bucket may have gained since `sentAt`: those for the time itself, and as many again for messages that the relay
 * handled late. [LIM-2]
 */
const givenSince = (sentAt: number): number => 2 * Math.ceil(((performance.now() - sentAt) / 1_000) * PER_SEC)

const ACK = ['ack']
const enter = async (workspace: string, features?: readonly string[], sub = 'ann', role = 'owner'): Promise<WireClient> =>
  (await openWire(relay)).enter(relay.token({ sub, role, workspace }), 'd', features)
const RATE_LIMIT = { error: 'ERR_RATE_LIMIT', code: 'ERR_RATE_LIMIT', requestId: null }
const same = (...clients: WireClient[]) => {
  const [first, ...others] = clients.map(({ doc }) => Buffer.from(Y.encodeStateAsUpdate(doc)).toString('hex'))
  return others.every((state) => state === first)
}
const close = (...clients: WireClient[]) => clients.forEach((client) => void client.socket.close())

describe('the write rate', () => {
  it('[WS-28] every SYNC message but the first step1 of a JOIN_DOC takes a write token from the bucket of the workspace', async () => {
    const workspace = await newWorkspace()
    const before = await metric(relay, 'relay_rate_limit_rejections_total', { surface: 'ws' })
    // A relay that was late before the first message also gives tokens for that time.
    const sentAt = performance.now()
    // The step2 of each client takes a token.
    const [ann, ben] = [await enter(workspace), await enter(workspace)]
    const more = 60
    for (let i = 0; i < BURST + more; i++) (i % 2 ? ann : ben).step2()
    ann.step1()
    // Refusals leave in the order of the refused messages, before the echo.
    await Promise.all([ann.settled(), ben.settled()])
    const given = givenSince(sentAt)
    const refused = ann.errors().length + ben.errors().length
    // The last step1 is answered only when a token has come in the meantime.
    expect(ann.syncs().filter((kind) => kind === SYNC.step2).length).toBeLessThanOrEqual(1 + (more + 3 - refused))
    expect(refused).toBeGreaterThanOrEqual(more + 1 - given)
    expect(refused).toBeLessThanOrEqual(more + 3)
    expect(ann.errors()).toEqual(Array(ann.errors().length).fill(RATE_LIMIT))
    expect(await metric(relay, 'relay_rate_limit_rejections_total', { surface: 'ws' })).toBe(before + refused)
    const other = await enter(await newWorkspace(), ACK)
    other.update(other.put('a'))
    await until('another workspace to be free', () => other.acks().at(-1) === 2)
    close(ann, ben, other)
  })

  it('[WS-28] a chunked message takes one token for all its pieces, awareness and heartbeats take none', async () => {
    const workspace = await newWorkspace()
    const client = await enter(workspace, ACK)
    const pieces = chunkFrames(syncFrame(SYNC.update, client.put('a', 'x'.repeat(300))), Buffer.alloc(16, 1), 8)
    expect(pieces.length).toBeGreaterThan(40)
    for (const piece of pieces) client.send(piece)
    for (let clock = 1; clock <= 40; clock++) client.presence({ client: 1, clock, state: {} })
    await until('the ack', () => client.acks().at(-1) === 2)
    expect(client.errors()).toEqual([])
    for (let i = 0; i < BURST - 4; i++) client.step2()
    await until('the ack', () => client.acks().at(-1) === BURST - 2)
    expect(client.errors()).toEqual([])
    close(client)
  })

  it('[WS-28] a connection at level view has its own bucket and cannot slow the editors', async () => {
    const workspace = await newWorkspace({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const [vic, ann] = [await enter(workspace, ACK, 'vic', 'viewer'), await enter(workspace, ACK)]
    const sentAt = performance.now()
    for (let i = 0; i < 3 * BURST; i++) vic.step2()
    for (let i = 0; i < BURST / 2; i++) ann.update(ann.put(`k${i}`))
    await until('the acks', () => ann.acks().at(-1) === 1 + BURST / 2 && vic.acks().at(-1) === 1 + 3 * BURST)
    expect(ann.errors()).toEqual([])
    expect(vic.errors().length).toBeGreaterThanOrEqual(2 * BURST - givenSince(sentAt))
    expect(vic.errors()[0]).toEqual({ ...RATE_LIMIT, frame: expect.any(Number) })
    // A client without the right to write is not asked for content.
    await pause(300)
    expect(vic.syncs().filter((kind) => kind === SYNC.step1)).toHaveLength(1)
    close(vic, ann)
  })

  it('[WS-29] [WS-39] after a dropped update a step1 is sent once a token is free, and its step2 takes that token', async () => {
    const workspace = await newWorkspace()
    const [ann, ben] = [await enter(workspace, ACK), await enter(workspace)]
    for (let i = 0; i < 2 * BURST; i++) ann.update(ann.put(`k${i}`))
    await until('ben to have everything', () => ben.keys().length === 2 * BURST, 2_500)
    expect(ann.errors()[0]).toEqual({ ...RATE_LIMIT, frame: expect.any(Number) })
    expect(ann.errors().every(({ code }) => code === 'ERR_RATE_LIMIT')).toBe(true)
    await until('the ack of the step2', () => (ann.acks().at(-1) ?? 0) >= 2 + 2 * BURST)
    expect(same(ann, ben)).toBe(true)
    close(ann, ben)
  })

  it.concurrent.each([
    ['without the feature', undefined],
    ['with `ack`', ACK],
  ])(
    '[WS-29] [WS-32] after typing at twice the rate limit and then silence, %s: all clients are equal within 3 s',
    async (_, features) => {
      const workspace = await newWorkspace()
      const [ann, ben, cat] = [await enter(workspace, features), await enter(workspace, features), await enter(workspace)]
      const startedAt = performance.now()
      for (let typed = 0; performance.now() < startedAt + 3_000; await pause(1_000 / PER_SEC)) {
        // Types as many edits as are due by now, because a pause is longer than requested on a busy machine.
        for (const due = ((performance.now() - startedAt) / 1_000) * PER_SEC; typed <= due; typed++) {
          ann.update(ann.put(`a${typed}`))
          ben.update(ben.put(`b${typed}`))
        }
      }
      const took = stopwatch()
      await until('all to be equal', () => same(ann, ben, cat), 10_000)
      expect(took()).toBeLessThan(3_000)
      expect(ann.errors().length + ben.errors().length).toBeGreaterThan(0)
      expect(await storedKeys(relay, 'd', workspace)).toEqual(cat.keys())
      close(ann, ben, cat)
    },
  )

  it.concurrent('[WS-36] [WS-39] 10 s without progress of a chunked message close a connection with `ack`, and give another a step1', async () => {
    const workspace = await newWorkspace()
    const [ann, old] = [await enter(workspace, ACK), await enter(workspace)]
    const frame = syncFrame(SYNC.update, old.put('a'))
    for (const client of [ann, old]) client.sendChunk(1, 0, 2, frame.subarray(0, 6))
    expect(await ann.closed).toEqual({ code: 1009, reason: 'chunk-expired' })
    await until('the content by step2', async () => (await storedKeys(relay, 'd', workspace)).includes('a'))
    expect(old.syncs().filter((kind) => kind === SYNC.step1)).toHaveLength(2)
    expect(old.errors()).toEqual([])
    close(old)
  })
})

describe('volume', () => {
  it('[WS-12] [WS-49] frames sent while the server does not read are all handled later, in order', async () => {
    const workspace = await newWorkspace()
    const client = await openWire(relay)
    client.auth(relay.token({ workspace }), ACK)
    for (let i = 0; i < 400; i++) client.join(`unknown-${i}`)
    client.send(TAG.heartbeat)
    await client.next(TAG.heartbeat, 10_000)
    await until('every JOIN to be answered', () => client.errors().length === 400)
    const codes = client.errors().map(({ code }) => code)
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('ERR_UNKNOWN_DOC'))
    expect(codes.slice(20).filter((code) => code === 'ERR_RATE_LIMIT').length).toBeGreaterThan(300)
    close(client)
  })

  it('[WS-55] [WS-57] a socket that does not read is closed with 1013 before content is lost, and catches up after a reconnect', async () => {
    const workspace = await newWorkspace()
    const before = await metric(relay, 'relay_slow_consumer_closes_total')
    const [ann, slow, ben] = [await enter(workspace, ACK), await enter(workspace), await enter(workspace)]
    slow.socket.pause()
    let sent = 0
    while ((await metric(relay, 'relay_slow_consumer_closes_total')) === before && sent < 100) {
      ann.update(ann.edit((doc) => void doc.getMap('fields').set(`k${++sent}`, 'y'.repeat(200_000))))
      await pause(1_000 / PER_SEC)
    }
    slow.socket.resume()
    const { code, reason } = await slow.closed
    expect(code).toBe(1013)
    expect(reason).toMatch(/^slow-consumer;retry-after=[0-9]+$/)
    const again = await enter(workspace)
    await until('all to be equal', () => same(ann, ben, again))
    expect(again.doc.getMap('fields').size).toBe(sent)
    close(ann, ben, again)
  })

  it('[OPS-4] [LIFE-16] the metrics show connected editors and viewers, log appends and bodies above the size limit', async () => {
    const workspace = await newWorkspace({ sharedWith: [{ userId: 'vic', permission: 'view' }] })
    const appends = await metric(relay, 'relay_log_append_seconds_count')
    const [ann, vic] = [await enter(workspace, ACK), await enter(workspace, ACK, 'vic', 'viewer')]
    await until('the sockets of earlier tests to be gone', async () => (await metric(relay, 'relay_active_docs_total')) === 1)
    await until('one owner', async () => (await metric(relay, 'relay_ws_connections', { role: 'owner' })) === 1)
    expect(await metric(relay, 'relay_active_editors_total')).toBe(1)
    expect(await metric(relay, 'relay_active_viewers_total')).toBe(1)
    const over = await metric(relay, 'relay_doc_over_cap_snapshots_total')
    ann.update(ann.put('big', 'x'.repeat(MAX_DOC_BYTES)))
    await until('the ack', () => ann.acks().at(-1) === 2)
    await until('the append to be counted', async () => (await metric(relay, 'relay_log_append_seconds_count')) > appends)
    expect(await metric(relay, 'relay_log_append_seconds_sum')).toBeGreaterThan(0)
    expect(await storedKeys(relay, 'd', workspace)).toEqual(['big'])
    await until('the snapshot to be counted', async () => (await metric(relay, 'relay_doc_over_cap_snapshots_total')) > over)
    close(ann, vic)
    await until('nobody to be there', async () => (await metric(relay, 'relay_active_docs_total')) === 0)
    await until('nothing to be waiting', async () => (await metric(relay, 'relay_ws_buffered_bytes')) === 0)
    expect(await metric(relay, 'relay_handler_panics_total')).toBe(0)
  })
})
