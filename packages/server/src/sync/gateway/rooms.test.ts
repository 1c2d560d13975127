import { awarenessFrame, syncFrame } from '@docrelay/protocol/codec'
import { retryAfterMs } from '@docrelay/protocol/codes'
import { TAG } from '@docrelay/protocol/frames'
import { describe, expect, it, vi } from 'vitest'
import { NO_LIMITS } from '../../access/testing/no-limits.ts'
import type { EditOutcome, PutRequest } from '../../documents/residents.port.ts'
import { systemClock } from '../../kernel/clock.ts'
import { manualTime } from '../../kernel/testing/manual-time.ts'
import { silentLogger } from '../../kernel/log.ts'
import { openRooms } from './rooms.ts'
import { MemoryOwnership } from '../testing/memory-ownership.ts'
import { headOf, startBench, TestStore } from '../testing/gateway-bench.ts'
import { editRequest } from '../testing/room-editing.ts'
import { ScriptedWorkers } from '../testing/scripted-workers.ts'
import { patience, stopwatch } from '../../kernel/testing/patience.ts'
import { PRIVATE_DOCS } from '../../access/testing/policies.ts'

const EDIT = syncFrame(2, Uint8Array.of(0, 0))

function openAlone(): {
  time: ReturnType<typeof manualTime>
  workers: ScriptedWorkers
  store: TestStore
  rooms: ReturnType<typeof openRooms>
} {
  const time = manualTime()
  const workers = new ScriptedWorkers()
  const store = new TestStore()
  return { time, workers, store, rooms: openRooms({ workers, store, ...time, log: silentLogger }) }
}

describe('keeping documents in memory', () => {
  it('[LIFE-17] a document without connections is evicted after 30 s, not before', async () => {
    const { rooms, time, workers } = openAlone()
    const head = headOf('doc')
    expect((await rooms.enter(head)).kind).toBe('open')
    await time.advance(29_000)
    expect(rooms.isResident(head)).toBe(true)
    await time.advance(3_000)
    expect(workers.of('job').map((job) => job.task.kind)).toEqual(['evict'])
    expect(rooms.isResident(head)).toBe(false)
  })

  it('[LIFE-17] a JOIN_DOC during eviction waits for the eviction and then loads the document again', async () => {
    const { rooms, time, workers } = openAlone()
    const head = headOf('doc')
    await rooms.enter(head)
    workers.jobs.set('evict', 'hang')
    await time.advance(32_000)
    const entering = rooms.enter(head)
    await time.advance(10)
    expect(workers.of('open')).toHaveLength(1)
    workers.emit({ kind: 'done', job: workers.of('job')[0]?.job ?? 0, outcome: { kind: 'evicted' } })
    expect((await entering).kind).toBe('open')
    expect(workers.of('open')).toHaveLength(2)
  })

  it('[LIFE-27] a JOIN_DOC waits while a node gives up its documents, and the document is then loaded again', async () => {
    const { rooms, workers } = openAlone()
    const head = headOf('doc')
    await rooms.enter(head)
    workers.jobs.set('evict', 'hang')
    const released = rooms.departures.release()
    await vi.waitFor(() => expect(workers.of('job')).toHaveLength(1), patience(2_000))
    const entering = rooms.enter(head)
    await new Promise((resolve) => setImmediate(resolve))
    expect(workers.of('open')).toHaveLength(1)
    workers.emit({ kind: 'done', job: workers.of('job')[0]?.job ?? 0, outcome: { kind: 'evicted' } })
    await released
    expect((await entering).kind).toBe('open')
    expect(workers.of('open')).toHaveLength(2)
  })

  it('[LIFE-17] a failed eviction leaves the document in memory', async () => {
    const { rooms, time, workers } = openAlone()
    const head = headOf('doc')
    await rooms.enter(head)
    workers.jobs.set('evict', { kind: 'failed', code: 'UNAVAILABLE', message: 'no storage' })
    await time.advance(32_000)
    expect(rooms.isResident(head)).toBe(true)
    expect((await rooms.enter(head)).kind).toBe('open')
    expect(workers.of('open')).toHaveLength(1)
  })

  it('[LIFE-17] a joined document is never evicted; its 30 s begin when the last connection leaves', async () => {
    await using bench = await startBench({ rooms: { idleMs: 400 } })
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    expect(bench.workers.of('job')).toEqual([])
    client.socket.close()
    await client.closed
    await vi.waitFor(() => expect(bench.workers.of('job')).toHaveLength(1), patience(5_000))
    expect(bench.workers.of('leave')).toHaveLength(1)
    expect(bench.workers.of('job').map((job) => job.task.kind)).toEqual(['evict'])
  })

  it('[LIFE-11] settle opens a cold document only when its log is ahead of its body', async () => {
    const { rooms, workers, store } = openAlone()
    await rooms.settle({ workspaceId: 'default', id: 'missing' })
    const covered = store.put(headOf('covered', { lastSeq: 4, coveredSeq: 4 }))
    await rooms.settle(covered)
    expect(workers.posted).toEqual([])
    const behind = store.put(headOf('behind', { lastSeq: 4, coveredSeq: 3 }))
    await rooms.settle(behind)
    expect(workers.posted.map((message) => message.kind)).toEqual(['open', 'job'])
  })

  it('[LIFE-11] settle of a document that cannot be loaded fails with UNAVAILABLE', async () => {
    const { rooms, workers, store } = openAlone()
    workers.openOutcome = 'unavailable'
    await expect(rooms.settle(store.put(headOf('behind', { lastSeq: 4, coveredSeq: 3 })))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    })
  })

  it('[LIFE-13] a PUT goes to the room of a loaded document and is left to the caller for a cold document', async () => {
    const { rooms, workers } = openAlone()
    const head = headOf('doc')
    expect(await rooms.put(putOf(head))).toBe('not-resident')
    await rooms.enter(head)
    workers.jobs.set('put', { kind: 'put', outcome: { kind: 'written', head, created: false } })
    expect(await rooms.put(putOf(head))).toEqual({ kind: 'written', head, created: false })
    workers.jobs.set('put', { kind: 'gone' })
    expect(await rooms.put(putOf(head))).toBe('not-resident')
    expect(rooms.isResident(head)).toBe(false)
  })

  it('[CONC-4] an edit runs in the room of an open document; without a room, or when the room is gone, the answer is not-resident', async () => {
    const { rooms, workers } = openAlone()
    const head = headOf('doc')
    const request = editRequest(head, 'delete_prose_page', { pageId: 'p' })
    expect(await rooms.edit(request)).toBe('not-resident')
    await rooms.enter(head)
    const outcome: EditOutcome = { kind: 'refused', code: 'ERR_LAST_PAGE', message: 'It is the last page.', facts: {} }
    workers.jobs.set('edit', { kind: 'edit', outcome })
    expect(await rooms.edit(request)).toEqual(outcome)
    workers.jobs.set('edit', { kind: 'failed', code: 'NOT_PERSISTED', message: 'the room was reset' })
    await expect(rooms.edit(request)).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    workers.jobs.set('edit', { kind: 'gone' })
    expect(await rooms.edit(request)).toBe('not-resident')
    expect(rooms.isResident(head)).toBe(false)
  })

  it('[MCP-15] an edit that its caller gives up rejects with the reason of the caller, unless it was committed', async () => {
    const { rooms, workers } = openAlone()
    const head = headOf('doc')
    const request = editRequest(head, 'delete_prose_page', { pageId: 'p' })
    await rooms.enter(head)
    const caller = new AbortController()
    caller.abort(new Error('left'))
    workers.jobs.set('edit', { kind: 'given-up' })
    await expect(rooms.edit(request, caller.signal)).rejects.toThrow('left')
    const outcome: EditOutcome = { kind: 'refused', code: 'ERR_LAST_PAGE', message: 'It is the last page.', facts: {} }
    workers.jobs.set('edit', { kind: 'edit', outcome })
    expect(await rooms.edit(request, caller.signal)).toEqual(outcome)
  })

  it('[C7] a PUT whose worker ended or did not answer in time fails with NOT_PERSISTED', async () => {
    const { rooms, workers, time } = openAlone()
    const head = headOf('doc')
    await rooms.enter(head)
    workers.jobs.set('put', 'hang')
    const first = expect(rooms.put(putOf(head))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    await time.advance(0)
    workers.end(null)
    await first
    await time.advance(0)
    const second = expect(rooms.put(putOf(head))).rejects.toMatchObject({ code: 'NOT_PERSISTED' })
    await time.advance(31_000)
    await second
  })

  it('[YDOC-8] a document deleted and created again under the same id gets a new room, and the old room is dropped', async () => {
    const { rooms, workers } = openAlone()
    const old = await rooms.enter(headOf('doc'))
    const young = await rooms.enter(headOf('doc'))
    expect(young.kind === 'open' && old.kind === 'open' && young.room !== old.room).toBe(true)
    expect(workers.of('job').map((job) => job.task.kind)).toEqual(['drop'])
  })
})

describe('failing workers and stores', () => {
  it('[LIFE-6] after a failed append the writer gets ERR_NOT_PERSISTED, the sockets close with 1012 room-reset, and the next JOIN_DOC loads again', async () => {
    await using bench = await startBench()
    const head = bench.store.put(headOf('doc'))
    bench.workers.settles = false
    const writer = await bench.joined('doc', {}, ['ack'])
    const other = await bench.joined('doc')
    writer.send(EDIT)
    await writer.settled()
    const { room, connection } = bench.workers.of('sync').at(-1) ?? { room: 0, connection: 0 }
    bench.workers.emit({ kind: 'reset', room, writers: [{ connection, ordinal: 1 }] })
    expect(await writer.nextJson(TAG.error)).toMatchObject({ code: 'ERR_NOT_PERSISTED', frame: 1 })
    const { code, reason } = await writer.closed
    expect(code).toBe(1012)
    expect(reason).toMatch(/^room-reset;retry-after=\d+$/)
    expect(await other.closed).toMatchObject({ code: 1012 })
    expect(other.of(TAG.error)).toEqual([])
    expect(writer.of(TAG.syncAck)).toEqual([])
    expect(bench.rooms.isResident(head)).toBe(false)
    expect(bench.gateway.metrics().counters.appendFailures).toBe(1)
    bench.workers.settles = true
    await bench.joined('doc')
    expect(bench.workers.of('open')).toHaveLength(2)
  })

  it('[C6] after a worker ends, kept frames are sent again in order, except the running one, whose sender is refused and closed with 1003', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    bench.workers.settles = false
    bench.workers.broadcasts = false
    const good = await bench.joined('doc', { sub: 'ann' }, ['ack'])
    const bad = await bench.joined('doc', { sub: 'bob' }, ['ack'])
    const numbered = (n: number): Uint8Array => syncFrame(2, Uint8Array.of(n))
    good.send(numbered(1))
    await good.settled()
    bad.send(numbered(2))
    await bad.settled()
    bad.send(numbered(3))
    await bad.settled()
    good.send(numbered(4))
    await good.settled()
    const handed = bench.workers.of('sync')
    const joins = bench.workers.of('join')
    const running = handed[1]
    if (!running) throw new Error('nothing was handed over')
    bench.workers.posted.length = 0
    bench.workers.end({ room: running.room, connection: running.connection, join: running.join, ordinal: running.ordinal })
    expect(await bad.nextJson(TAG.error)).toMatchObject({ code: 'ERR_BAD_UPDATE', frame: 1 })
    expect(await bad.closed).toEqual({ code: 1003, reason: 'protocol' })
    await good.settled()
    expect(bench.workers.posted.slice(0, 6).map((message) => message.kind)).toEqual([
      'open',
      'join',
      'join',
      'sync',
      'sync',
      'sync',
    ])
    expect(
      bench.workers
        .of('join')
        .map((join) => join.connection)
        .sort(),
    ).toEqual(joins.map((join) => join.connection).sort())
    expect(bench.workers.of('sync').map((sync) => sync.payload.at(-1))).toEqual([1, 3, 4])
    expect(bench.workers.of('sync').map((sync) => sync.ordinal)).toEqual([1, 2, 2])
    // The client whose message was not at fault keeps its socket, and its acks stay correct.
    const [mine] = bench.workers.of('sync')
    if (mine) bench.workers.emit({ kind: 'settled', connection: mine.connection, join: mine.join, ordinal: 2 })
    expect((await good.next(TAG.syncAck))[1]).toBe(2)
  })

  it('[C6] [WS-45] after a worker ends, the new worker gets the newest own presence of every connection after its join, without echoes', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    const [own, repeated] = [9, 7]
    for (const [id, clock] of [
      [own, 1],
      [own, 2],
      [repeated, 5],
    ] as const)
      client.send(awarenessFrame(Uint8Array.of(1, id, clock, 2, 0x7b, 0x7d)))
    await client.settled()
    bench.workers.posted.length = 0
    bench.workers.end(null)
    expect(bench.workers.posted.map(({ kind }) => kind)).toEqual(['open', 'join', 'awareness'])
    expect(bench.workers.of('awareness')[0]?.payload).toEqual(Uint8Array.of(1, 9, 2, 2, 0x7b, 0x7d))
  })

  it('[C6] a step1 unanswered when its worker ended is answered by the new worker, once', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    const { post } = bench.workers
    bench.workers.post = (_worker, message) => void bench.workers.posted.push(message)
    client.send(syncFrame(0, Uint8Array.of(0)))
    await client.settled()
    bench.workers.post = post
    bench.workers.end(null)
    while ((await client.next(TAG.sync))[1] !== 1);
    expect(bench.workers.of('sync')).toHaveLength(2)
    bench.workers.end(null)
    await client.settled()
    expect(bench.workers.of('sync')).toHaveLength(2)
  })

  it('[C10] after a room breaks, the other connections keep their sockets, and their writes are sent to the reopened room', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    bench.workers.settles = false
    const good = await bench.joined('doc', { sub: 'ann' }, ['ack'])
    const bad = await bench.joined('doc', { sub: 'bob' }, ['ack'])
    good.send(EDIT)
    bad.send(EDIT)
    await Promise.all([good.settled(), bad.settled()])
    const [mine, theirs] = bench.workers.of('sync')
    if (!mine || !theirs) throw new Error('an edit did not reach the worker')
    bench.workers.posted.length = 0
    bench.workers.emit({ kind: 'expel', connection: theirs.connection, code: 1003, word: 'protocol' })
    bench.workers.emit({ kind: 'reload', room: mine.room, without: theirs.connection })
    expect(await bad.closed).toEqual({ code: 1003, reason: 'protocol' })
    const { posted } = bench.workers
    expect(posted.filter(({ kind }) => kind === 'open' || kind === 'join').map(({ kind }) => kind)).toEqual(['open', 'join'])
    expect(bench.workers.of('sync')).toEqual([mine])
    bench.workers.emit({ kind: 'settled', connection: mine.connection, join: mine.join, ordinal: mine.ordinal })
    expect((await good.next(TAG.syncAck))[1]).toBe(mine.ordinal)
  })

  it('[C6] a document that ended a worker three times is unavailable for a minute', async () => {
    const { rooms, workers, time } = openAlone()
    const head = headOf('doc')
    for (let at = 0; at < 3; at++) {
      const entered = await rooms.enter(head)
      if (entered.kind !== 'open') throw new Error('not open')
      workers.end({ room: entered.room.number, connection: 0, join: 0, ordinal: 0 })
      await time.advance(10)
    }
    expect((await rooms.enter(head)).kind).toBe('unavailable')
    await time.advance(61_000)
    expect((await rooms.enter(head)).kind).toBe('open')
  })

  it('[C6] [WS-22] a document that cannot be loaded again closes its sockets with 1012', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    const client = await bench.joined('doc')
    bench.workers.openOutcome = 'unavailable'
    bench.workers.end(null)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_UNAVAILABLE' })
    expect(await client.closed).toMatchObject({ code: 1012 })
  })
})

describe('a node that may open no documents', () => {
  it.each([
    [true, 50, 800],
    [false, 250, 5_000],
  ])('[WS-57] a node that may open nothing ends joins with 1012 (others serve: %s, %i to %i ms)', async (serve, from, to) => {
    const may = { own: () => false, takeOver: () => false, othersServe: () => serve }
    const ownership = new MemoryOwnership({ clock: systemClock }).of(1)
    const homes = { onLost() {}, isFull: () => false, onDrained() {} }
    await using bench = await startBench({ rooms: { nodes: { may, ownership, links: { peers: () => [] }, homes } } })
    bench.store.put(headOf('doc'))
    const clients = await Promise.all(Array.from({ length: 12 }, () => bench.authed()))
    for (const client of clients) client.join('doc')
    for (const { code, reason } of await Promise.all(clients.map(({ closed }) => closed))) {
      expect([code, reason]).toEqual([1012, expect.stringMatching(/^unavailable;retry-after=\d+$/)])
      expect(retryAfterMs(reason)).toBeGreaterThanOrEqual(from)
      expect(retryAfterMs(reason)).toBeLessThanOrEqual(to)
    }
  })
})

describe('stopping', () => {
  it('[LIFE-28] [WS-6] [WS-57] [WS-58] drain closes every socket with 1012 restarting, refuses upgrades with 503, then stores every document', async () => {
    await using bench = await startBench()
    bench.store.put(headOf('doc'))
    const clients = await Promise.all([bench.joined('doc'), bench.authed(), bench.open()])
    const drained = bench.gateway.drain()
    expect(await bench.refused()).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    for (const client of clients) {
      expect(await client.closed).toEqual({ code: 1012, reason: expect.stringMatching(/^restarting;retry-after=\d+$/) })
    }
    await drained
    // Draining again changes nothing.
    await bench.gateway.drain()
    await bench.rooms.departures.drain()
    expect(bench.workers.of('job').map((job) => job.task.kind)).toEqual(['evict'])
    expect(bench.gateway.metrics().connections).toEqual({ owner: 0, member: 0, viewer: 0, unauthenticated: 0 })
  })

  it('[LIFE-28] a client that does not answer the close frame does not delay the stop', async () => {
    await using bench = await startBench()
    const client = await bench.authed()
    client.socket.pause()
    const took = stopwatch()
    await bench.gateway.drain()
    expect(took()).toBeLessThan(3_500)
  })
})

function putOf(ref: { workspaceId: string; id: string }): PutRequest {
  const access = { sub: 'ann', workspaceId: 'default', role: 'owner', limits: NO_LIMITS } as const
  const body = {
    bytes: new Uint8Array(0),
    facts: headOf('x').facts,
    blobReferences: [],
    name: null,
    title: null,
    collectionId: undefined,
    sharedWith: undefined,
  }
  const rest = { accessPolicy: PRIVATE_DOCS, expectedVersion: null, precondition: 'none', overrideTombstone: false } as const
  return { ref: { workspaceId: ref.workspaceId, id: ref.id }, access, body, ...rest }
}
