import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RelayError } from '../../kernel/errors.ts'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'

const EDIT = syncFrame(2, Uint8Array.of(0, 0))
const ALL = { settings: { writes: { ratePerSec: null, burst: 0 }, maxConnectionsPerWorkspace: null } }

describe('JOIN_DOC', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench(ALL)
    bench.store.put(headOf('doc'))
    bench.store.put(headOf('other'))
    bench.store.put(headOf('private', { ownerId: 'someone' }))
    bench.store.put(headOf('shared', { ownerId: 'someone', sharedWith: [{ userId: 'bob', permission: 'view' }] }))
    bench.store.bury({ workspaceId: 'default', id: 'dead' })
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it.each([
    ['dead', 'ERR_DELETED', 'ERR_DELETED'],
    ['missing', 'ERR_UNKNOWN_DOC', 'ERR_UNKNOWN_DOC'],
    ['../up', 'ERR_UNKNOWN_DOC', 'ERR_UNKNOWN_DOC'],
    ['', 'ERR_UNKNOWN_DOC', 'ERR_UNKNOWN_DOC'],
    ['private', 'ERR_VIEW_FORBIDDEN', expect.stringMatching(/^ERR_VIEW_FORBIDDEN: /)],
  ])('[WS-21] [PERM-1] a JOIN_DOC of document %j is answered with %s and the socket stays open', async (docId, code, error) => {
    const client = await bench.authed({ sub: 'bob', role: 'member' })
    client.join(docId)
    expect(await client.nextJson(TAG.error)).toEqual({ error, code, requestId: null })
    await client.settled()
    expect(client.socket.readyState).toBe(client.socket.OPEN)
  })

  it('[WS-21] a failed JOIN_DOC leaves the earlier document joined', async () => {
    const client = await bench.joined('doc')
    client.join('missing')
    await client.next(TAG.error)
    expect(bench.workers.of('leave').length).toBeGreaterThan(0)
    const syncs = bench.workers.of('sync').length
    client.send(EDIT)
    await client.settled()
    expect(bench.workers.of('sync').length).toBe(syncs)
    expect(client.of(TAG.error)).toHaveLength(1)
  })

  it('[WS-22] [C9] a JOIN_DOC while storage fails answers ERR_UNAVAILABLE and closes with 1012, never ERR_UNKNOWN_DOC', async () => {
    await using faulty = await startBench()
    faulty.store.answer = () => Promise.reject(new RelayError('UNAVAILABLE', 'storage is away'))
    const client = await faulty.authed()
    client.join('doc')
    expect(await client.nextJson(TAG.error)).toMatchObject({
      code: 'ERR_UNAVAILABLE',
      error: expect.stringMatching(/^ERR_UNAVAILABLE: /),
    })
    expect(await client.closed).toEqual({ code: 1012, reason: expect.stringMatching(/^unavailable;retry-after=\d+$/) })
  })

  it('[WS-23] a JOIN_DOC succeeds while the sharing of another document keeps changing', async () => {
    await using busy = await startBench()
    const head = headOf('mine')
    const other = headOf('theirs', { workspaceId: 'another' })
    busy.store.answer = async () => {
      busy.rooms.sharingChanged(other)
      return { kind: 'document', head }
    }
    const client = await busy.authed()
    client.join('mine')
    await client.next(TAG.sync)
    expect(client.of(TAG.error)).toEqual([])
  })

  it('[WS-21] a JOIN_DOC looks the document up again when the sharing of that document changes meanwhile', async () => {
    await using busy = await startBench()
    const head = headOf('mine', { ownerId: 'someone', sharedWith: [{ userId: 'bob', permission: 'view' }] })
    const unshared = { ...head, sharedWith: [] }
    const answers = [head, unshared]
    busy.store.answer = async () => {
      const answer = answers.shift() ?? unshared
      if (answer === head) busy.rooms.sharingChanged(unshared)
      return { kind: 'document', head: answer }
    }
    const client = await busy.authed({ sub: 'bob', role: 'member' })
    client.join('mine')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
  })

  it('[WS-22] a JOIN_DOC of a document that cannot be loaded answers ERR_UNAVAILABLE and closes with 1012', async () => {
    await using faulty = await startBench()
    faulty.store.put(headOf('doc'))
    faulty.workers.openOutcome = 'unavailable'
    const client = await faulty.authed()
    client.join('doc')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNAVAILABLE' })
    expect(await client.closed).toMatchObject({ code: 1012 })
  })

  it('[WS-21] a JOIN_DOC looks the document up again when it is deleted before it is loaded', async () => {
    await using racing = await startBench()
    const head = headOf('doc')
    racing.store.put(head)
    racing.workers.openOutcome = 'gone'
    const client = await racing.authed()
    const { state } = racing.store
    racing.store.state = async (ref) => {
      const found = await state.call(racing.store, ref)
      racing.store.bury(head)
      return found
    }
    client.join('doc')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_DELETED' })
  })

  it('[WS-23] a successful JOIN_DOC has no reply of its own: the first frame is the step1 of the server', async () => {
    const client = await bench.authed()
    client.join('doc')
    await client.next(TAG.sync)
    expect(client.tags()).toEqual([TAG.authResponse, TAG.sync])
    expect(bench.workers.of('join').at(-1)).toMatchObject({ sub: 'ann', canWrite: true })
  })

  it('[PERM-1] a caller with a view share joins without the right to write', async () => {
    await bench.joined('shared', { sub: 'bob', role: 'member' })
    expect(bench.workers.of('join').at(-1)).toMatchObject({ sub: 'bob', canWrite: false })
  })

  it('[WS-24] a second JOIN_DOC leaves the first room, restarts ordinals and drops unfinished chunks', async () => {
    const client = await bench.joined('doc', {}, ['ack'])
    client.send(EDIT)
    expect([...(await client.next(TAG.syncAck))]).toEqual([TAG.syncAck, 1])
    client.sendChunk(1, 0, 2, Buffer.alloc(10))
    await client.settled()
    client.join('other')
    await client.next(TAG.sync)
    client.send(EDIT)
    expect([...(await client.next(TAG.syncAck))]).toEqual([TAG.syncAck, 1])
    client.sendChunk(1, 1, 2, Buffer.alloc(10))
    await client.settled()
    expect(client.of(TAG.syncChunkAck)).toEqual([])
    const join = bench.workers.of('join').at(-1)
    expect(bench.workers.of('leave').at(-1)?.connection).toBe(join?.connection)
    expect(join?.join).toBe(2)
  })

  it('[WS-24] above 20 simultaneous JOIN_DOCs a connection gets ERR_RATE_LIMIT and keeps its document', async () => {
    const client = await bench.joined('doc')
    for (let at = 0; at < 22; at++) client.join('doc')
    const error = await client.nextJson(TAG.error)
    expect(error).toEqual({ error: 'ERR_RATE_LIMIT', code: 'ERR_RATE_LIMIT', requestId: null })
    await client.settled()
    const syncs = bench.workers.of('sync').length
    client.send(EDIT)
    await client.settled()
    expect(bench.workers.of('sync').length).toBe(syncs + 1)
  })
})
