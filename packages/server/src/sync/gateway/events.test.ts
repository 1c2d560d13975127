import { syncFrame } from '@docrelay/protocol/codec'
import { TAG } from '@docrelay/protocol/frames'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bench, headOf, startBench } from '../testing/gateway-bench.ts'

const EDIT = syncFrame(2, Uint8Array.of(0, 0))
const SETTINGS = { settings: { maxConnectionsPerWorkspace: null } }

describe('DOC_EVENT frames', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench({ settings: { ...SETTINGS.settings, tenancy: { mode: 'shared' } } })
  })
  afterAll(() => bench[Symbol.asyncDispose]())

  it('[WS-51] [PERM-8] a DOC_EVENT goes exactly once to every connection whose caller may read, including the actor, and to no other', async () => {
    const head = headOf('d1', { sharedWith: [{ userId: 'sam', permission: 'view' }] })
    const owner = await bench.authed({ sub: 'ann', role: 'member' })
    const shared = await bench.authed({ sub: 'sam', role: 'member' })
    const admin = await bench.authed({ sub: 'adm', role: 'owner' })
    const stranger = await bench.authed({ sub: 'eve', role: 'member' })
    const viewer = await bench.authed({ sub: 'vic', role: 'viewer' })
    const foreign = await bench.authed({ sub: 'ann', role: 'owner', workspace: 'elsewhere' })
    bench.events.publish({ kind: 'updated', head, actor: 'ann' })
    const all = [owner, shared, admin, stranger, viewer, foreign]
    await Promise.all(all.map((client) => client.settled()))
    expect(all.map((client) => client.of(TAG.docEvent).length)).toEqual([1, 1, 1, 0, 0, 0])
  })

  it('[WS-9] [PERM-7] a DOC_EVENT carries the metadata its reader may see: at level view only the share of that reader', async () => {
    const shares = [
      { userId: 'sam', permission: 'view' },
      { userId: 'tom', permission: 'edit' },
    ]
    const head = headOf('d2', { ownerId: 'ann', sharedWith: shares })
    const sam = await bench.authed({ sub: 'sam', role: 'member' })
    const tom = await bench.authed({ sub: 'tom', role: 'member' })
    bench.events.publish({ kind: 'created', head, actor: 'ann' })
    expect(await sam.nextJson(TAG.docEvent)).toMatchObject({
      eventType: 'created',
      docId: 'd2',
      userId: 'ann',
      metadata: { access: 'view', sharedWith: [shares[0]] },
    })
    expect(await tom.nextJson(TAG.docEvent)).toMatchObject({ metadata: { access: 'edit', sharedWith: shares } })
  })

  it('[WS-9] a DOC_EVENT without an actor names system, and a deleted event carries no metadata', async () => {
    const head = headOf('d3')
    const client = await bench.authed()
    const tombstone = { workspaceId: 'default', id: 'd3', deletedAtMs: 1, lastServerVersion: 1, ownerId: 'ann' }
    bench.events.publish({ kind: 'deleted', ref: head, before: head, tombstone, actor: '' })
    expect(await client.nextJson(TAG.docEvent)).toEqual({ eventType: 'deleted', docId: 'd3', userId: 'system' })
  })

  it('[WS-53] a joined client receives the sync frames of a change before its DOC_EVENT', async () => {
    const head = bench.store.put(headOf('d4'))
    const client = await bench.joined('d4')
    const { room } = bench.workers.of('join').at(-1) ?? { room: 0 }
    bench.workers.emit({ kind: 'updates', room, updates: [Uint8Array.of(1, 2, 3)], senders: [0] })
    bench.events.publish({ kind: 'updated', head, actor: 'ann' })
    await client.next(TAG.docEvent)
    expect(client.tags().slice(-2)).toEqual([TAG.sync, TAG.docEvent])
  })
})

describe('rights of joined connections', () => {
  it('[WS-54] [WS-51] [LIFE-23] deleting a document unbinds every joined connection with DOC_EVENT deleted, and later writes get ERR_DELETED', async () => {
    await using bench = await startBench(SETTINGS)
    const head = bench.store.put(headOf('doc', { ownerId: 'ann', sharedWith: [{ userId: 'sam', permission: 'edit' }] }))
    const client = await bench.joined('doc', { sub: 'sam', role: 'member' }, ['ack'])
    const blind = await bench.joined('doc', { sub: 'ann', role: 'member' })
    bench.store.bury(head)
    const dropped = await bench.rooms.drop(head)
    expect(dropped).toHaveLength(2)
    expect(bench.workers.of('job').map((job) => job.task.kind)).toContain('drop')
    const tombstone = { workspaceId: 'default', id: 'doc', deletedAtMs: 1, lastServerVersion: 1, ownerId: 'ann' }
    // A connection that was joined gets the DOC_EVENT deleted, even if its caller may not read the document any more.
    bench.events.publish({
      kind: 'deleted',
      ref: head,
      before: { ...head, ownerId: 'zoe', sharedWith: [] },
      tombstone,
      actor: 'zoe',
    })
    expect(await client.nextJson(TAG.docEvent)).toMatchObject({ eventType: 'deleted' })
    expect(await blind.nextJson(TAG.docEvent)).toMatchObject({ eventType: 'deleted' })
    client.send(EDIT)
    expect(await client.nextJson(TAG.error)).toEqual({ error: 'ERR_DELETED', code: 'ERR_DELETED', requestId: null, frame: 1 })
    client.send(EDIT)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_DELETED', frame: 2 })
    client.join('doc')
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_DELETED' })
    expect(bench.rooms.isResident(head)).toBe(false)
  })

  it('[WS-54] [PERM-2] a caller whose level falls below view is unbound with ERR_VIEW_FORBIDDEN, other callers stay joined', async () => {
    await using bench = await startBench(SETTINGS)
    const head = bench.store.put(headOf('doc', { ownerId: 'ann', sharedWith: [{ userId: 'sam', permission: 'edit' }] }))
    const shared = await bench.joined('doc', { sub: 'sam', role: 'member' })
    const owner = await bench.joined('doc', { sub: 'ann', role: 'member' })
    bench.rooms.sharingChanged({ ...head, sharedWith: [] })
    expect(await shared.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    owner.send(syncFrame(2, Uint8Array.of(5, 5)))
    await owner.settled()
    shared.send(EDIT)
    expect(await shared.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    shared.send(syncFrame(0, Uint8Array.of(0)))
    await shared.settled()
    expect(shared.of(TAG.sync)).toHaveLength(1)
    expect(shared.of(TAG.error)).toHaveLength(2)
    expect(shared.socket.readyState).toBe(shared.socket.OPEN)
  })

  it('[WS-54] [PERM-2] a fall from edit to view applies from the next message on, only in its document', async () => {
    await using bench = await startBench(SETTINGS)
    const head = bench.store.put(headOf('doc', { ownerId: 'ann', sharedWith: [{ userId: 'sam', permission: 'edit' }] }))
    bench.store.put(headOf('own', { ownerId: 'sam' }))
    const client = await bench.joined('doc', { sub: 'sam', role: 'member' })
    client.send(EDIT)
    await client.settled()
    expect(client.of(TAG.error)).toEqual([])
    bench.rooms.sharingChanged({ ...head, sharedWith: [{ userId: 'sam', permission: 'view' }] })
    client.send(EDIT)
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_EDIT_FORBIDDEN' })
    expect(bench.workers.of('rights').at(-1)).toMatchObject({ canWrite: false })
    client.join('own')
    await client.next(TAG.sync)
    client.send(EDIT)
    await client.settled()
    expect(client.of(TAG.error)).toHaveLength(1)
  })

  it('[PERM-2] the gateway decides the rights of a joining connection again when the share list changes during the join', async () => {
    await using bench = await startBench(SETTINGS)
    const head = bench.store.put(headOf('doc', { ownerId: 'ann', sharedWith: [{ userId: 'sam', permission: 'edit' }] }))
    bench.workers.openOutcome = 'hang'
    const client = await bench.authed({ sub: 'sam', role: 'member' })
    client.join('doc')
    while (bench.workers.of('open').length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    const changed = bench.store.put({ ...head, version: 2, sharedWith: [] })
    bench.rooms.sharingChanged(changed)
    bench.workers.emit({ kind: 'opened', room: bench.workers.of('open')[0]?.room ?? 0, outcome: 'opened' })
    expect(await client.nextJson(TAG.error)).toMatchObject({ code: 'ERR_VIEW_FORBIDDEN' })
    expect(bench.workers.of('join')).toEqual([])
  })
})
